"""A streamed page equals the same page after a reload."""

import re
import uuid
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.utils.translation import override
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.events import (
    Answer,
    BlockEnd,
    BlockStart,
    BlockUpdate,
    Delta,
    DoneEvent,
    ErrorEvent,
    Event,
    SourcesEvent,
    StepEvent,
    ThinkEvent,
    fold,
)
from conversations.rendering.answer import AnswerPage
from conversations.rendering.fragments import Stream, answer_html, messages
from conversations.rendering.progress import duration
from conversations.rendering.quotations import marked
from tests.conversations.oob import Page, squeeze
from tests.nightly import examples

REQUEST = uuid.uuid4()

CITATIONS = [
    {
        "index": number,
        "document_id": None if number == 3 else 7,
        "chunk_id": 40 + number,
        "filename": f"Handbook <{number}>.pdf",
        "heading": "Leave › Paid",
        "page": number,
        "snippet": "Paid leave is 30 days, see https://example.org/leave.",
        "score": 0.03,
        "sources": [{"type": "vector", "rank": 1, "score": 0.7, "rrf_score": 0.016}],
    }
    for number in (1, 2, 3)
]

CHECKS: list[dict[str, Any]] = [
    {"text": "It is so.", "sources": [1], "status": "supported", "coverage": 1.0, "problems": []},
    {
        "text": "It costs <5>.", "sources": [2, 1], "status": "partly", "coverage": 0.5,
        "problems": [{"kind": "number", "what": "<5>"}],
    },
    {
        "text": "It flies.", "sources": [3], "status": "not_found", "coverage": 0.0,
        "problems": [{"kind": "words", "what": ""}],
    },
]  # fmt: skip


def page_of(answer: Answer, **fields: Any) -> AnswerPage:
    place: dict[str, Any] = {
        "session_id": 1,
        "turn_id": 2,
        "request_id": str(REQUEST),
        "question_id": 3,
        "message_id": 4,
    }
    return AnswerPage(**place, question="How long is paid leave?", answer=answer, siblings=(2,), **fields)


def stored(answer: Answer) -> Answer:
    """Return the answer as stored in the database."""
    error = {"code": answer.error["code"], "message": answer.error["message"]} if answer.error else None
    return Answer(
        last_seq=answer.last_seq,
        blocks=answer.blocks,
        thinking=answer.thinking,
        citations=answer.citations,
        error=error,
        status=answer.status,
        answer_state=answer.answer_state,
        usage=answer.usage,
        ms=answer.ms,
        checks=answer.checks,
    )


def numbered(events: list[Event]) -> list[Event]:
    return [event.numbered(seq) for seq, event in enumerate(events, 1)]


def streamed(events: list[Event], start: int = 0) -> str:
    """Return the page after the events, the first `start` of which happened before it was loaded."""
    page = page_of(fold(events[:start]))
    shown = Page(answer_html(page))
    stream = Stream(page)
    for event in events:
        for frame in stream.feed(event):
            shown.apply(frame)
    return shown.html("#answer-4")


TEXT = st.text(alphabet="ab \n#*`-|[]123<&>中。!(){}", max_size=12) | st.sampled_from(
    [
        "A [1]. ",
        "\n\n",
        "- item [2]\n",
        "```\ncode\n",
        "| a | b |\n|--|--|\n",
        "> q\n",
        "【3】",
        "[9]",
        "**bold**\n\n# H\n",
    ]
)
STATES = st.sampled_from([None, "answered", "nearest", "nothing"])
CELL = st.text(alphabet="ab <&[]1中", max_size=6)


@st.composite
def blocks(draw: st.DrawFn, name: str) -> list[Event]:
    kind = draw(st.sampled_from(["text", "text", "text", "table", "image", "code"]))
    match kind:
        case "table":
            events: list[Event] = [BlockStart(id=name, kind="table", columns=draw(st.lists(CELL, max_size=3)))]
            events += [Delta(id=name, row=draw(st.lists(CELL, max_size=3))) for _ in range(draw(st.integers(0, 3)))]
        case "image":
            url = draw(st.sampled_from(["/knowledge/pictures/1", "https://evil.example/x.png", "//evil.example/x"]))
            events = [
                BlockStart(id=name, kind="image", alt=draw(CELL)),
                BlockUpdate(id=name, url=url, width=9, height=9),
            ]
        case _:
            events = [BlockStart(id=name, kind=kind, language="py" if kind == "code" else None)]  # type: ignore[arg-type]
            events += [Delta(id=name, text=piece) for piece in draw(st.lists(TEXT, max_size=6))]
    return [*events, BlockEnd(id=name)] if draw(st.booleans()) else events


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    events: list[Event] = [
        StepEvent(step=2, key="understand", step_name="Understand", status="processing"),
        *(ThinkEvent(text=text) for text in draw(st.lists(TEXT.filter(bool), max_size=3))),
    ]
    body = [event for number in range(draw(st.integers(0, 3))) for event in draw(blocks(f"b{number}"))]
    if draw(st.booleans()):
        cited = draw(st.sampled_from([CITATIONS, []]))
        sources = SourcesEvent(citations=cited, answer_state=draw(STATES))
        body.insert(draw(st.integers(0, len(body))), sources)
    events += body
    status = draw(st.sampled_from(["completed", "stopped", "failed", "interrupted"]))
    if status in ("failed", "interrupted"):
        events.append(ErrorEvent(code="x", message="It broke <b>."))
    checks = draw(st.lists(st.sampled_from(CHECKS), max_size=3))
    done = DoneEvent(status=status, answer_state=draw(STATES), ms=draw(st.integers(0, 90_000)), checks=checks)
    return numbered([*events, done])


@given(streams(), st.data())
@settings(max_examples=examples(60))
def test_a_streamed_answer_equals_a_reload(events: list[Event], data: st.DataObject) -> None:
    reloaded = squeeze(answer_html(page_of(stored(fold(events)))))
    assert streamed(events) == reloaded
    assert streamed(events, start=data.draw(st.integers(0, len(events)))) == reloaded


def test_known_events_change_nothing() -> None:
    events = numbered([BlockStart(id="b1", kind="text"), Delta(id="b1", text="Hello")])
    stream = Stream(page_of(fold(events)))
    assert [frame for event in events for frame in stream.feed(event)] == []


def test_a_delta_sends_only_what_it_changes() -> None:
    stream = Stream(page_of(Answer()))
    stream.feed(BlockStart(seq=1, id="b1", kind="text"))
    stream.feed(Delta(seq=2, id="b1", text="A long first paragraph.\n\nSecond\nline"))
    assert stream.feed(Delta(seq=3, id="b1", text=" ends")) == ["~4-b1~ ends"]
    assert stream.feed(Delta(seq=4, id="b1", text=" **so")) == ["~4-b1~ **so"]
    assert stream.feed(Delta(seq=6, id="b1", text="**.")) == ["~4-b1,9,,2~<strong>so</strong>.</p>\n"]


def test_a_page_receives_little_more_than_the_text() -> None:
    """Single tokens, with a citation per 200 characters, in paragraphs and in a long list."""
    items = [f"- **item {number}** holds words and more words of its own, as items do\n" for number in range(60)]
    sentence = "A sentence of an answer has about this many words, and a good many letters in each of them. "
    text = "".join([*([sentence * 2 + "It is so [1].\n\n"] * 40), *items, "\nThe *end*."])
    stream = Stream(page_of(fold([SourcesEvent(citations=CITATIONS), BlockStart(id="b1", kind="text")])))
    pieces = re.findall(r"\s*\S{1,7}", text)
    frames = [
        frame for seq, piece in enumerate(pieces, 1) for frame in stream.feed(Delta(seq=seq, id="b1", text=piece))
    ]
    assert len(frames) == len(pieces)
    assert sum(map(len, frames)) < 4 * len(text)


def test_verdicts_on_a_long_answer_take_at_most_four_times_its_text() -> None:
    sentence = (
        "The reset button is to be held for {} seconds, and the light blinks twice before the switch starts [1]. "
    )
    texts = [sentence.format(number) for number in range(180)]
    found = {"sources": [1], "coverage": 1.0, "problems": [], "status": "supported"}
    missing = found | {
        "status": "partly",
        "problems": [{"kind": "number", "what": f"{number}"} for number in range(20)],
    }
    checks = [{"text": text[:-5], **(missing if number % 10 == 0 else found)} for number, text in enumerate(texts)]
    events: list[Event] = [SourcesEvent(citations=CITATIONS), BlockStart(id="b1", kind="text")]
    for number, text in enumerate(texts):
        events += [Delta(id="b1", text=text[place : place + 20]) for place in range(0, len(text), 20)]
        events += [Delta(id="b1", text="\n\n")] if number % 6 == 5 else []
    events += [BlockEnd(id="b1"), DoneEvent(status="completed", ms=1, checks=checks)]
    stream = Stream(page_of(Answer()))
    sent = sum(len(frame.encode()) for event in numbered(events) for frame in stream.feed(event))
    assert sent <= 4 * len("".join(texts))


def test_rows_and_text_that_come_together_are_one_message() -> None:
    stream = Stream(page_of(Answer()))
    stream.feed(BlockStart(seq=1, id="b1", kind="table", columns=["a"]))
    rows = [Delta(seq=seq, id="b1", row=[str(seq)]) for seq in range(2, 102)]
    told = [*(frame for row in rows for frame in stream.feed(row)), *stream.feed(BlockEnd(seq=102, id="b1"))]
    table, mark = messages(told)
    assert table.count("<tr>") == 100 and 'data-seq="102"' in mark


def test_each_marker_shows_the_verdict_on_its_sentence() -> None:
    text = "It is so [1]. It costs <5> [2][1]. It flies [3]."
    events = [SourcesEvent(citations=CITATIONS), BlockStart(id="b1", kind="text"), Delta(id="b1", text=text)]
    html = answer_html(page_of(fold([*events, DoneEvent(status="completed", checks=CHECKS)])))
    assert re.findall(r'<sup class="([^"]*)"><a [^>]*data-citation="(\d)"', html) == [
        ("citation supported", "1"),
        ("citation partly", "2"),
        ("citation partly", "1"),
        ("citation not_found", "3"),
    ]
    assert "Source 3: Handbook &lt;3&gt;.pdf · Not found in the source" in html
    assert "Citations checked: 1 supported · 1 partly supported · 1 not found" in html
    assert "“&lt;5&gt;” is not in the source in this context." in html


def test_supported_citations_are_reported_unless_the_answer_only_quotes() -> None:
    events = [SourcesEvent(citations=CITATIONS), DoneEvent(status="completed", checks=CHECKS[:1])]
    assert "1 cited sentence was found in its source" in answer_html(page_of(fold(events), model="m"))
    assert "cited sentence" not in answer_html(page_of(fold(events), model="extractive"))


def test_cited_and_other_sources_are_distinguished() -> None:
    answer = fold(
        [SourcesEvent(citations=CITATIONS), BlockStart(id="b1", kind="text"), Delta(id="b1", text="30 days [2].")]
    )
    page = page_of(answer)
    assert [card.number for card in page.cited] == [2]
    assert [card.number for card in page.also_read] == [1, 3]
    assert page.cards[2].deleted


def test_passages_of_a_document_are_one_chip() -> None:
    documents = ((1, 7), (2, 8), (3, 7), (4, 9), (5, 8), (6, 9), (7, 7))
    citations = [CITATIONS[0] | {"index": index, "document_id": of, "filename": f"{of}"} for index, of in documents]
    said = Delta(id="b1", text="30 days [5][1][2], paid [3].")
    page = page_of(
        fold([SourcesEvent(citations=citations), BlockStart(id="b1", kind="text"), said, DoneEvent(status="completed")])
    )
    assert [card.number for card in page.cited] == [1, 3, 2, 5]
    assert [card.number for card in page.also_read] == [4, 6, 7]
    html = answer_html(page)
    assert re.findall(r'<a class="chip[^>]* data-citation="([\d ]+)"', html) == ["1 3", "2 5", "4 6", "7"]
    assert [card.number for card in page.cards] == [1, 2, 3, 4, 5, 6, 7]
    assert "Also read: 3 passages" in html and len(re.findall("data-card=", html)) == 7


def test_a_chip_names_the_pages_of_its_passages() -> None:
    pages = {1: 12, 2: 3, 3: 3, 4: None}
    citations = [CITATIONS[0] | {"index": index, "page": page} for index, page in pages.items()]
    said = Delta(id="b1", text="30 days [1][2], paid [3][4].")
    events = [SourcesEvent(citations=citations), BlockStart(id="b1", kind="text"), said, DoneEvent(status="completed")]
    page = page_of(fold(events))
    (chip,) = page.cited_chips
    assert (chip.numbers, chip.first.number, chip.where) == ([1, 2, 3, 4], 1, "pp. 3, 12")
    listed = BeautifulSoup(answer_html(page), "html.parser").select_one(".chips a")
    assert listed is not None and listed.get_text() == "1, 2, 3, 4Handbook <1>.pdf· pp. 3, 12"
    with override("zh-hans"):
        assert chip.where == "第 3、12 页"


def test_a_chip_shows_six_numbers_at_most() -> None:
    citations = [CITATIONS[0] | {"index": index} for index in range(1, 10)]
    said = Delta(id="b1", text="".join(f"It is {index} [{index}]. " for index in range(1, 10)))
    events = [SourcesEvent(citations=citations), BlockStart(id="b1", kind="text"), said, DoneEvent(status="completed")]
    listed = BeautifulSoup(answer_html(page_of(fold(events))), "html.parser").select_one(".chips a")
    assert listed is not None and listed["data-citation"] == "1 2 3 4 5 6 7 8 9"
    assert [number.get_text() for number in listed.select(".chip-number")] == [*"123456", "+3"]


@pytest.mark.parametrize(
    ("filename", "headings", "where"),
    [
        ("a.pptx", ["One", "Two"], "slides 1, 2"),
        ("a.epub", ["One", "Two"], "chapters 1, 2"),
        ("a.xlsx", ["Prices › A", "Stock › B"], "sheets Prices, Stock"),
        ("a.xlsx", ["Prices › A", "Prices › B"], "sheets Prices"),
    ],
)
def test_a_chip_names_the_sections_of_a_file_without_pages(filename: str, headings: list[str], where: str) -> None:
    citations = [
        CITATIONS[0] | {"index": at, "page": at, "filename": filename, "heading": heading}
        for at, heading in enumerate(headings, 1)
    ]
    events = [SourcesEvent(citations=citations), BlockStart(id="b1", kind="text"), Delta(id="b1", text="A [1][2].")]
    (chip,) = page_of(fold([*events, DoneEvent(status="completed")])).cited_chips
    assert chip.where == where


def test_sections_replace_pages_if_there_are_none() -> None:
    sections = ["Leave › Paid", "Leave › Unpaid", "Leave › Paid"]
    citations = [CITATIONS[0] | {"index": n, "page": None, "heading": name} for n, name in enumerate(sections, 1)]
    events = [SourcesEvent(citations=citations), BlockStart(id="b1", kind="text"), Delta(id="b1", text="A [1][2][3].")]
    (chip,) = page_of(fold([*events, DoneEvent(status="completed")])).cited_chips
    assert chip.where == "Paid, Unpaid"


def test_a_card_highlights_claims_once_the_answer_is_complete() -> None:
    citations = [
        CITATIONS[0] | {"snippet": "Paid leave is 30 days. Sick leave is paid by the fund. It <ends> in March."},
        CITATIONS[1] | {"snippet": "带薪年假为15天，病假另计。"},
    ]
    events = numbered([
        SourcesEvent(citations=citations),
        BlockStart(id="b1", kind="text"),
        Delta(id="b1", text="You have 30 days of paid leave [1]. 员工有15天年假[2]。"),
        BlockEnd(id="b1"),
        DoneEvent(status="stopped"),
    ])  # fmt: skip
    live = page_of(Answer())
    shown = Page(answer_html(live))
    stream = Stream(live)
    for event in events[:-1]:
        for frame in messages(stream.feed(event)):
            shown.apply(frame)
    assert shown.soup.select(".cards") and not shown.soup.select(".cards mark")
    for frame in messages(stream.feed(events[-1])):
        shown.apply(frame)
    assert [mark.get_text() for mark in shown.soup.select(".cards mark")] == ["Paid leave is 30 days", "年假", "15天"]
    assert "It &lt;ends&gt; in March." in str(shown.soup)


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([], "It takes 4.5 minutes. The LS-2400P takes 30%."),
        (["It takes 4.5 minutes."], "It <mark>takes 4.5 minutes</mark>. The LS-2400P takes 30%."),
        (
            ["Es braucht 4.5 Minuten, die LS-2400P weniger."],
            "It takes <mark>4.5</mark> minutes. The <mark>LS-2400P</mark> takes 30%.",
        ),
        (["Nothing of the kind."], "It takes 4.5 minutes. The LS-2400P takes 30%."),
    ],
)
def test_words_of_claims_are_highlighted_in_supporting_sentences(claims: list[str], expected: str) -> None:
    assert marked("It takes 4.5 minutes. The LS-2400P takes 30%.", claims) == expected


@pytest.mark.parametrize(
    ("status", "text", "line"),
    [
        ("completed", "30 days [1][2].", "Answered from 2 passages · 1.8 s"),
        ("completed", "Hello!", "Answered · 1.8 s"),
        ("stopped", "30 days [1]", "Stopped · 1.8 s"),
        ("failed", "", "No answer · 1.8 s"),
        ("failed", "30 da", "Broken off · 1.8 s"),
        ("interrupted", "30", "Interrupted · 1.8 s"),
    ],
)
def test_the_status_line_shows_how_the_answer_ended(status: Any, text: str, line: str) -> None:
    events = [SourcesEvent(citations=CITATIONS), BlockStart(id="b1", kind="text"), Delta(id="b1", text=text)]
    assert page_of(fold([*events, DoneEvent(status=status, ms=1820)])).line == line


@pytest.mark.parametrize(
    ("fields", "text", "line", "icon"),
    [
        ({"action": "retrieve_vector", "model": "m"}, "From general knowledge.", "Answered without a source", "info"),
        ({"action": "retrieve_vector", "model": "m"}, "An unknown source [9].", "Answered without a source", "info"),
        ({"action": "retrieve_vector", "model": "m"}, "30 days [1].", "Answered from 1 passage", "check"),
        ({"action": "answer_chat", "model": "extractive"}, "Hello!", "Answered", "check"),
        ({"action": "clarify"}, "Which switch do you mean?", "A question back", "message-circle-question-mark"),
    ],
)
def test_an_answer_without_sources_has_no_tick(fields: dict[str, str], text: str, line: str, icon: str) -> None:
    events = [SourcesEvent(citations=CITATIONS), BlockStart(id="b1", kind="text"), Delta(id="b1", text=text)]
    page = page_of(fold([*events, DoneEvent(status="completed")]), **fields)
    assert (page.line, page.mark) == (line, icon)


def ended(state: str | None, text: str = "30 days [1].", status: Any = "completed") -> list[Event]:
    """Return the events of an answer with a state."""
    citations = [] if state == "nothing" else CITATIONS
    return numbered([
        SourcesEvent(citations=citations, answer_state=state),
        BlockStart(id="b1", kind="text"),
        Delta(id="b1", text=text),
        DoneEvent(status=status, answer_state=state, ms=1820),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("state", "line", "icon"),
    [
        ("answered", "Answered from 1 passage · 1.8 s", "check"),
        ("nearest", "Nothing answers this directly · 3 passages read", "equal-approximately"),
        ("nothing", "Nothing found on this", "search-x"),
    ],
)
def test_only_a_real_answer_has_a_tick(state: str, line: str, icon: str) -> None:
    page = page_of(fold(ended(state)), action="retrieve_vector")
    assert (page.line, page.mark) == (line, icon)


def test_closest_passages_have_a_heading_and_name_their_document() -> None:
    html = answer_html(page_of(fold(ended("nearest")), model="extractive"))
    assert html.index("The closest passages") < html.index("30 days")
    assert ">1<span>Handbook &lt;1&gt;.pdf · p. 1</span></a>" in html
    assert 'aria-label="Sources"' not in html and "Also read: 2 passages" in html
    plain = answer_html(page_of(fold(ended("answered"))))
    assert "The closest passages" not in plain and "named" not in plain and 'aria-label="Sources"' in plain
    written = answer_html(page_of(fold(ended("nearest")), model="large"))  # prose about them
    assert "The closest passages" not in written and 'aria-label="Sources"' in written


def test_what_was_removed_from_an_answer_is_said() -> None:
    events = [*ended("answered")[:-1], DoneEvent(seq=9, status="completed", usage={"citations_removed": 2})]
    html = answer_html(page_of(fold(events)))
    assert "2 citations of sources that don&#x27;t exist were removed." in html and "picture" not in html


def test_an_empty_answer_offers_next_steps_once_it_has_ended() -> None:
    html = answer_html(page_of(fold(ended("nothing", "Your documents contain nothing about this."))))
    assert 'class="chip"' not in html
    steps = html.split("next-steps")[1].split("</ul>")[0]
    assert [step in steps for step in ("Rephrase", "Search other sources", "Add documents")] == [True] * 3
    assert 'href="/turns/2/edit/"' in steps and 'href="/knowledge/"' in steps
    for other in (ended("nearest"), ended("answered"), ended("nothing", status="stopped"), ended("nothing")[:-1]):
        assert "next-steps" not in answer_html(page_of(fold(other)))


@pytest.mark.parametrize(("state", "line"), [("nearest", "Thinking"), ("nothing", "Nothing found on this · Thinking")])
def test_the_answers_state_is_shown_before_its_text(state: str, line: str) -> None:
    stream = Stream(page_of(Answer()))
    told = "".join(stream.feed(SourcesEvent(seq=1, citations=CITATIONS, answer_state=state)))
    assert f"<span>{line}…</span>" in told


def test_a_state_known_only_at_the_end_is_shown_for_the_whole_answer() -> None:
    sources, *text, done = ended("nearest")
    events = [SourcesEvent(seq=1, citations=CITATIONS), *text, done]
    assert "<span>Handbook" in streamed(events)
    assert streamed(events) == streamed([sources, *text, done]) == squeeze(answer_html(page_of(fold(events))))


@pytest.mark.parametrize(("citations", "state"), [(CITATIONS, "nearest"), ([], "nothing")])
def test_an_old_quoting_answer_has_a_state(citations: list[Any], state: str) -> None:
    events = [SourcesEvent(citations=citations), BlockStart(id="b1", kind="text"), Delta(id="b1", text="None.")]
    old = page_of(fold([*events, DoneEvent(status="completed")]), action="retrieve_vector", model="extractive")
    assert old.answer_state == state
    quoted = page_of(fold(ended(None)), action="retrieve_vector", model="extractive")
    assert (quoted.answer_state, quoted.mark) == ("", "check")


def test_a_failure_is_explained_and_can_be_retried() -> None:
    html = answer_html(
        page_of(fold([ErrorEvent(code="x", message="The key was refused."), DoneEvent(status="failed")]))
    )
    assert "The key was refused." in html
    assert 'formaction="/messages/4/regenerate/"' in html


def test_an_interrupted_answer_can_be_continued() -> None:
    events = [BlockStart(id="b1", kind="text"), Delta(id="b1", text="Half"), DoneEvent(status="interrupted")]
    assert 'formaction="/messages/4/continue/"' in answer_html(page_of(fold(events)))


@pytest.mark.parametrize("url", ["https://evil.example/x.png", "//evil.example/x", "javascript:alert(1)", ""])
def test_only_images_of_this_site_are_shown(url: str) -> None:
    events = [BlockStart(id="b1", kind="image", alt="x"), BlockUpdate(id="b1", url=url)]
    assert "<img" not in answer_html(page_of(fold(events)))


def test_names_and_snippets_are_escaped() -> None:
    html = answer_html(page_of(fold([SourcesEvent(citations=[CITATIONS[0] | {"snippet": "<script>x</script>"}])])))
    assert "<script" not in html
    assert "Handbook &lt;1&gt;.pdf" in html


def test_nothing_in_an_answer_needs_inline_script_or_style() -> None:
    events = [SourcesEvent(citations=CITATIONS), BlockStart(id="b1", kind="text"), Delta(id="b1", text="x [1]")]
    html = answer_html(page_of(fold([*events, DoneEvent(status="completed")])))
    assert not re.search(r"<(script|style)\b|\son\w+=|\sstyle=", html)


@pytest.mark.parametrize(("ms", "text"), [(12, "12 ms"), (1820, "1.8 s"), (65_000, "1 min 5 s")])
def test_durations(ms: int, text: str) -> None:
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("title", "heading", "below", "section"),
    [
        ("13.3. Locking", "13.3. Locking › Row Locks › FOR UPDATE", "Row Locks › FOR UPDATE", "FOR UPDATE"),
        ("SELECT", "SELECT", "", ""),
        ("SELECT", "SELECTION › Rows", "SELECTION › Rows", "Rows"),
        ("Handbook.pdf", "Leave", "Leave", "Leave"),
        ("Handbook.pdf", "", "", ""),
    ],
)
def test_the_headings_of_a_card_do_not_repeat_the_title(title: str, heading: str, below: str, section: str) -> None:
    given = CITATIONS[0] | {"title": title, "heading": heading}
    (card,) = page_of(fold([SourcesEvent(seq=1, citations=[given]).to_dict()])).cards
    assert (card.title, card.below, card.section) == (title, below, section)
