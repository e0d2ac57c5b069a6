"""Tests of events: round trips, and the fold used for saving, replay and rendering."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.events import (
    KINDS,
    NUMBERS,
    BlockEnd,
    BlockStart,
    BlockUpdate,
    Delta,
    DoneEvent,
    ErrorEvent,
    Event,
    SessionEvent,
    SourcesEvent,
    StepEvent,
    ThinkEvent,
    fold,
    in_brackets,
    plain_text,
)

TEXT = st.text(max_size=30)
STATES = st.sampled_from([None, "answered", "nearest", "nothing"])
EVENTS = st.one_of(
    st.builds(SessionEvent, session_id=st.integers(1), turn_id=st.integers(1), request_id=TEXT,
              user_message_id=st.integers(1), assistant_message_id=st.integers(1),
              parent_turn_id=st.none() | st.integers(1)),
    st.builds(StepEvent, step=st.integers(0, 9), key=TEXT, step_name=TEXT,
              status=st.sampled_from(["processing", "completed", "skipped", "error"])),
    st.builds(ThinkEvent, text=TEXT),
    st.builds(BlockStart, id=st.sampled_from(["b1", "b2"]), kind=st.sampled_from(["text", "table", "image", "code"]),
              columns=st.none() | st.lists(TEXT, max_size=3)),
    st.builds(Delta, id=st.sampled_from(["b1", "b2", "b9"]), text=st.none() | TEXT,
              row=st.none() | st.lists(TEXT, max_size=3)),
    st.builds(BlockUpdate, id=st.sampled_from(["b1", "b2"]), url=TEXT, width=st.integers(1, 9)),
    st.builds(BlockEnd, id=st.sampled_from(["b1", "b2"])),
    st.builds(SourcesEvent, citations=st.just([{"index": 1}]), answer_state=STATES),
    st.builds(ErrorEvent, code=TEXT, message=TEXT),
    st.builds(DoneEvent, status=st.sampled_from(["completed", "stopped"]), usage=st.just({"prompt_tokens": 3}),
              answer_state=STATES),
)  # fmt: skip


def test_there_are_ten_kinds_of_event() -> None:
    assert len(KINDS) == 10


@given(EVENTS)
def test_event_json_round_trip(event: Event) -> None:
    assert Event.from_dict(json.loads(json.dumps(event.to_dict()))) == event


def test_unknown_kinds_are_refused_and_unknown_fields_ignored() -> None:
    with pytest.raises(ValueError, match="unknown"):
        Event.from_dict({"type": "unknown"})
    assert Event.from_dict({"type": "think", "text": "a", "later": 1}) == ThinkEvent(text="a")


@given(st.lists(EVENTS, max_size=30), st.integers(0, 30))
def test_fold_can_resume_anywhere_and_ignores_repeated_events(events: list[Event], cut: int) -> None:
    """A snapshot with the later events, some of them sent twice, gives the complete answer."""
    numbered = [event.numbered(seq) for seq, event in enumerate(events, 1)]
    resumed = fold(numbered[:cut])
    for event in numbered[max(0, cut - 3) :]:
        resumed.apply(event)
    assert resumed == fold(numbered)


def test_answer_state_is_the_last_one_sent() -> None:
    sources = SourcesEvent(seq=1, citations=[], answer_state="nothing")
    assert fold([sources]).answer_state == "nothing"
    assert fold([sources, DoneEvent(seq=2, status="completed")]).answer_state == "nothing"
    assert fold([sources, DoneEvent(seq=2, status="completed", answer_state="nearest")]).answer_state == "nearest"
    assert fold([DoneEvent(seq=1, status="completed")]).answer_state == ""


def test_done_event_includes_a_missing_answer_state() -> None:
    assert DoneEvent(status="completed").to_dict()["answer_state"] is None
    assert "answer_state" not in SourcesEvent(citations=[]).to_dict()


def test_blocks_fold_to_the_stored_blocks() -> None:
    answer = fold(
        [
            BlockStart(seq=1, id="b1", kind="text"),
            Delta(seq=2, id="b1", text="Hello "),
            Delta(seq=3, id="b1", text="world"),
            BlockEnd(seq=4, id="b1"),
            BlockStart(seq=5, id="b2", kind="table", columns=["a", "b"]),
            Delta(seq=6, id="b2", row=["1", "2"]),
            BlockEnd(seq=7, id="b2"),
            BlockStart(seq=8, id="b3", kind="image", alt="A switch"),
            BlockUpdate(seq=9, id="b3", url="/p/1", width=3, height=4),
            BlockEnd(seq=10, id="b3"),
            DoneEvent(seq=11, status="completed", usage={"completion_tokens": 5}, ms=7),
        ]
    )
    assert answer.blocks == [
        {"id": "b1", "kind": "text", "text": "Hello world"},
        {"id": "b2", "kind": "table", "columns": ["a", "b"], "rows": [["1", "2"]]},
        {"id": "b3", "kind": "image", "alt": "A switch", "url": "/p/1", "width": 3, "height": 4},
    ]
    assert (answer.status, answer.last_seq, answer.ms, answer.open) == ("completed", 11, 7, set())
    assert plain_text(answer.blocks) == "Hello world\n\na | b\n--- | ---\n1 | 2\n\n![A switch](/p/1)"


def test_plain_text_includes_tables_and_pictures() -> None:
    headless = [BlockStart(seq=1, id="b1", kind="table"), Delta(seq=2, id="b1", row=["1", "2"])]
    nameless = [BlockStart(seq=3, id="b2", kind="image"), BlockUpdate(seq=4, id="b2", url="/p/1", width=3, height=4)]
    unshown = [BlockStart(seq=5, id="b3", kind="image", alt="A switch"), BlockStart(seq=6, id="b4", kind="image")]
    assert plain_text(fold([*headless, *nameless, *unshown]).blocks) == "1 | 2\n\n![](/p/1)\n\n[A switch]"


def test_markers_share_one_grammar() -> None:
    square, lenticular, full_width = (re.compile(pattern) for pattern in in_brackets(NUMBERS))
    assert square.fullmatch("[1, 2；30]") and lenticular.fullmatch("【1、2】") and full_width.fullmatch("［123］")
    assert not square.fullmatch("[1234]") and not square.fullmatch("[1,]") and not lenticular.fullmatch("【1]")


@pytest.mark.parametrize("url", ["https://e.example/p.png", "//e.example/p.png", "/\\e.example/p", "data:x", ""])
def test_a_foreign_picture_is_stored_without_its_address(url: str) -> None:
    begun = BlockStart(seq=1, id="b1", kind="image", alt="Panel")
    folded = fold([begun, BlockUpdate(seq=2, id="b1", url=url, width=1, height=1)])
    assert folded.blocks == [{"id": "b1", "kind": "image", "alt": "Panel", "url": "", "width": None, "height": None}]
    assert plain_text(folded.blocks) == "[Panel]"
    assert fold([begun, BlockUpdate(seq=2, id="b1", url="/p/1/")]).blocks[0]["url"] == "/p/1/"


@pytest.mark.parametrize(("status", "state"), [("completed", "answered"), ("stopped", "answered"), ("failed", "")])
def test_a_failed_answer_answers_nothing(status: str, state: str) -> None:
    sources = SourcesEvent(seq=1, citations=[], answer_state="answered")
    done = DoneEvent(seq=2, status=status, answer_state="answered")  # type: ignore[arg-type]
    assert fold([sources, done]).answer_state == state
