"""Events as frames in both forms, decoded like a client would."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.api.frames import PrefixFrames, frame, step_frame
from conversations.events import (
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
)
from tests.conversations.sse_client import decode

SESSION = SessionEvent(
    seq=1, session_id=7, turn_id=8, request_id="r", user_message_id=9, assistant_message_id=10, parent_turn_id=None
)
ANSWER: list[Event] = [
    SESSION,
    StepEvent(seq=2, step=2, key="understand", step_name="Understand", status="completed", message="retrieve"),
    SourcesEvent(
        seq=3, citations=[{"index": 1, "filename": "a.txt"}, {"index": 2, "filename": "b.txt"}], answer_state="nearest"
    ),
    ThinkEvent(seq=4, text="Hm.\nWell."),
    BlockStart(seq=5, id="b1", kind="text"),
    Delta(seq=6, id="b1", text=" Two lines,\n"),
    Delta(seq=7, id="b1", text="see CONTENT:"),
    BlockEnd(seq=8, id="b1"),
    BlockStart(seq=9, id="b2", kind="table", columns=["a", "b|c"]),
    Delta(seq=10, id="b2", row=["1", "2\n3"]),
    BlockEnd(seq=11, id="b2"),
    BlockStart(seq=12, id="b3", kind="image", alt="A port"),
    BlockUpdate(seq=13, id="b3", url="/knowledge/pictures/4", width=3, height=2),
    BlockEnd(seq=14, id="b3"),
    BlockStart(seq=15, id="b4", kind="code", language="sh"),
    Delta(seq=16, id="b4", text="reset --all"),
    BlockEnd(seq=17, id="b4"),
    ErrorEvent(seq=18, code="stream_cut", message="It broke off."),
    DoneEvent(seq=19, status="failed", answer_state="nearest", ms=3),
]


def test_each_event_is_one_frame_with_its_seq() -> None:
    frames = decode("".join(map(step_frame, ANSWER)))
    assert [item.id for item in frames] == [str(event.seq) for event in ANSWER]


def test_steps_are_unchanged() -> None:
    [item] = decode(step_frame(ANSWER[1]))
    assert json.loads(item.data) == {
        "step": 2, "step_name": "Understand", "status": "completed", "message": "retrieve",
    }  # fmt: skip


def test_errors_become_error_steps() -> None:
    [item] = decode(step_frame(ErrorEvent(seq=1, code="timed_out", message="Too slow.")))
    assert json.loads(item.data) == {"step": "error", "status": "error", "message": "Too slow."}


def test_block_events_are_step_8_with_their_json_as_message() -> None:
    [item] = decode(step_frame(Delta(seq=6, id="b1", text="文本 <b>\n")))
    body = json.loads(item.data)
    assert (body["step"], body["status"]) == (8, "processing")
    assert json.loads(body["message"]) == {"t": "delta", "type": "delta", "seq": 6, "id": "b1", "text": "文本 <b>\n"}
    assert "文本" in item.data


def test_the_frames_contain_the_whole_answer() -> None:
    """Events that a client rebuilds from step frames result in the same blocks."""
    bodies = [json.loads(item.data) for item in decode("".join(map(step_frame, ANSWER)))]
    events = [json.loads(body["message"]) for body in bodies if body["step"] in (0, 8, "done")]
    told, folded = fold(events), fold(ANSWER)
    assert told.blocks == folded.blocks and told.thinking == folded.thinking
    assert told.answer_state == folded.answer_state == ""  # it failed
    assert told.citations == folded.citations and told.session == folded.session and told.status == folded.status


def texts(frames: PrefixFrames, prefix: str) -> list[str]:
    decoded = decode("".join(text for event in ANSWER for text in frames.feed(event)))
    return [item.data.removeprefix(prefix) for item in decoded if item.data.startswith(prefix)]


def test_prefixed_content_joins_to_markdown() -> None:
    assert "".join(texts(PrefixFrames(), "CONTENT:")) == (
        " Two lines,\nsee CONTENT:"
        "\n\n| a | b\\|c |\n| --- | --- |\n| 1 | 2 3 |\n"
        "\n\n![A port](/knowledge/pictures/4)"
        "\n\n```sh\nreset --all\n```"
    )


def test_prefixed_frames_in_order() -> None:
    decoded = decode("".join(text for event in ANSWER for text in PrefixFrames().feed(event)))
    assert decoded[0].data == "SESSION:7" and decoded[-1].data == "DONE:"
    kinds = list(dict.fromkeys(item.data.split(":")[0] for item in decoded))
    assert [kind for kind in kinds if kind != "STEP"] == [
        "SESSION",
        "MESSAGE",
        "SOURCE",
        "THINK",
        "CONTENT",
        "ERROR",
        "DONE",
    ]


def test_each_step_before_the_text_has_a_frame() -> None:
    begun, ended = (
        StepEvent(seq=2, step=3, key="search", step_name="Search", status=status)
        for status in ("processing", "completed")
    )
    frames = PrefixFrames()
    (told,) = decode("".join(frames.feed(begun)))
    assert json.loads(told.data.removeprefix("STEP:")) == {"key": "search", "step": 3, "step_name": "Search"}
    assert frames.feed(ended) == []
    frames.feed(BlockStart(seq=3, id="b1", kind="text"))
    assert frames.feed(begun) == []


def test_one_source_frame_per_citation_as_json() -> None:
    sources = [json.loads(text) for text in texts(PrefixFrames(), "SOURCE:")]
    assert [(source["filename"], source["answer_state"]) for source in sources] == [
        ("a.txt", "nearest"),
        ("b.txt", "nearest"),
    ]
    (untold,) = PrefixFrames().feed(SourcesEvent(citations=[{"index": 1}]))
    assert json.loads(untold.removeprefix("data: SOURCE:"))["answer_state"] is None


def test_thinking_can_be_left_out() -> None:
    assert texts(PrefixFrames(thinking=True), "THINK:") == ["Hm.\nWell."]
    assert texts(PrefixFrames(thinking=False), "THINK:") == []


@pytest.mark.parametrize("data", ["", "one", "two\nlines", "\n", " leading", "ends\n", "data: x\n\nid: 9"])
def test_data_survives_framing(data: str) -> None:
    assert [item.data for item in decode(frame(data, 3))] == [data]


@given(st.text().filter(lambda text: "\r" not in text))
def test_any_text_survives_framing(data: str) -> None:
    assert [item.data for item in decode(frame(data) + frame("next"))] == [data, "next"]
