"""Chunking: nothing is lost, nothing that belongs together is split, and no chunk crosses a heading."""

import re
from collections.abc import Iterable
from itertools import pairwise, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking.chunking import ChunkDraft, chunk
from knowledge.parsing.elements import Code, Element, Heading, PageBreak, Paragraph, Picture, Table
from ragsite.llm.passage_tokens import count_tokens
from tests.nightly import examples


def words(text: str) -> int:
    """A tokenizer for tests: one token per Latin word or other character."""
    return len(re.findall(r"[!-~]+|[^\s!-~]", text))


def chunks(*elements: Element, size: int = 20, overlap: int = 6) -> list[ChunkDraft]:
    return list(chunk(elements, size=size, overlap=overlap, count_tokens=words))


def squeezed(texts: Iterable[str]) -> str:
    return "".join("".join(text.split()) for text in texts)


def sentences_of(number: int, length: int = 5) -> str:
    return " ".join(f"Sentence {n} " + " ".join("word" for _ in range(length - 3)) + " ends." for n in range(number))


# Sections


def guide(first: str) -> list[Element]:
    return [
        Heading(text="Guide", level=1),
        Paragraph(text=first),
        Heading(text="Install", level=2),
        Paragraph(text="Run it."),
        Heading(text="Use", level=2),
        Paragraph(text="Ask it."),
    ]


def test_a_chunk_of_a_large_section_ends_at_every_heading_and_knows_its_path() -> None:
    found = chunks(*guide(sentences_of(4)), size=20)

    assert [(item.content, item.heading_path) for item in found] == [
        (sentences_of(4), ["Guide"]),
        ("Run it.", ["Guide", "Install"]),
        ("Ask it.", ["Guide", "Use"]),
    ]


def test_a_small_section_includes_its_subsections() -> None:
    found = chunks(*guide("Before all."), Heading(text="Next", level=1), Paragraph(text="Other."), size=20)

    assert [(item.content, item.heading_path) for item in found] == [
        ("Before all.\n\n#### Install\n\nRun it.\n\n#### Use\n\nAsk it.", ["Guide"]),
        ("Other.", ["Next"]),
    ]


def test_a_section_with_a_table_is_not_folded() -> None:
    table = Table(columns=("a",), rows=(("1",),))
    found = chunks(
        Heading(text="A", level=1), Paragraph(text="x."), Heading(text="B", level=2), table, Paragraph(text="y.")
    )

    assert [(item.kind, item.heading_path) for item in found] == [
        ("text", ["A"]),
        ("table", ["A", "B"]),
        ("text", ["A", "B"]),
    ]


def test_the_small_sections_of_a_large_one_are_folded() -> None:
    found = chunks(
        Heading(text="All", level=1),
        Paragraph(text=sentences_of(4)),
        Heading(text="ABS", level=2),
        Paragraph(text="The absolute value."),
        Heading(text="Syntax", level=3),
        Paragraph(text="ABS(number)"),
        size=20,
    )

    assert [(item.content, item.heading_path) for item in found[1:]] == [
        ("The absolute value.\n\n#### Syntax\n\nABS(number)", ["All", "ABS"])
    ]


def test_a_heading_followed_by_a_deeper_one_is_kept_in_its_path_only() -> None:
    found = chunks(Heading(text="A", level=1), Heading(text="B", level=2), Paragraph(text="Text."))

    assert [(item.content, item.heading_path) for item in found] == [("Text.", ["A", "B"])]


def test_an_empty_heading_is_added_to_the_next_text_or_at_the_end_to_the_last() -> None:
    found = chunks(Heading(text="A"), Heading(text="B", page=3), Paragraph(text="Text."), Heading(text="C"))

    assert [(item.content, item.heading_path) for item in found] == [("#### A\n\nText.\n\n#### C", ["B"])]
    table = Table(columns=("a",), rows=(("1",),))
    (held,) = chunks(Heading(text="A"), Heading(text="B"), table)
    assert (held.kind, held.lead, held.heading_path) == ("table", "#### A", ["B"])
    (alone,) = chunks(Heading(text="A"), Heading(text="B"))
    assert alone.content == "#### A\n\n#### B"


def test_a_heading_with_only_a_number_under_it_is_added_to_the_next_text() -> None:
    press = Paragraph(text=sentences_of(3, 10))
    found = chunks(
        Heading(text="About"), Paragraph(text="3"), Heading(text="Use"), Paragraph(text="4"), press,
        Heading(text="Sum"), Paragraph(text="42"),
    )  # fmt: skip
    assert found[0].heading_path == ["Use"]
    assert found[0].content.startswith("#### About\n\n3\n\n4\n\n")
    assert found[-1].content.endswith("#### Sum\n\n42")  # nothing is lost


def test_no_chunk_ends_with_the_heading_of_the_next_text() -> None:
    sections = [part for name in "abcdefgh" for part in (Heading(text=name, level=2), Paragraph(text="One two three."))]
    found = chunks(Heading(text="All", level=1), Paragraph(text="Start."), *sections, size=10)

    assert len(found) > 3
    assert not any(item.content.splitlines()[-1].startswith("#### ") for item in found)


def test_a_heading_of_a_paragraphs_length_is_text() -> None:
    found = chunks(Heading(text="Very long. " * 40), Paragraph(text="Text."))

    assert found[0].heading_path == []
    assert found[0].content.startswith("Very long.")


# Sizes


def test_no_tiny_chunk_is_left() -> None:
    found = chunks(Paragraph(text=sentences_of(9)), size=20)

    assert sum(item.token_count for item in found) == 45
    assert min(item.token_count for item in found) >= 10


def test_a_slightly_longer_section_stays_whole() -> None:
    assert len(chunks(Paragraph(text=sentences_of(4) + " One more."), size=20)) == 1


def test_text_is_cut_between_paragraphs_if_one_is_near() -> None:
    found = chunks(Paragraph(text=sentences_of(3)), Paragraph(text=sentences_of(3)), size=20)

    assert [item.content for item in found] == [sentences_of(3)] * 2


def test_an_introduction_stays_with_its_list() -> None:
    found = chunks(
        Paragraph(text=sentences_of(2)),
        Paragraph(text="The steps are these now:"),
        Paragraph(text="- first do this and that"),
        Paragraph(text="- then do the other thing"),
        size=18,
    )

    assert found[1].content == "The steps are these now:\n\n- first do this and that\n- then do the other thing"


def test_list_items_keep_their_indent_and_are_on_separate_lines() -> None:
    found = chunks(Paragraph(text="- one"), Paragraph(text="  - inner"), Paragraph(text="- two"))

    assert found[0].content == "- one\n  - inner\n- two"


def test_a_giant_sentence_is_cut_at_its_clauses() -> None:
    found = chunks(Paragraph(text="one two three four, five six seven eight, nine ten eleven twelve"), size=8)

    assert [item.content for item in found] == ["one two three four, five six seven eight,", "nine ten eleven twelve"]


def test_an_endless_word_is_split_although_it_is_one_token() -> None:
    found = chunks(Paragraph(text="x" * 5000), size=20)

    assert len(found) > 10
    assert "".join(item.content for item in found) == "x" * 5000


@pytest.mark.parametrize("text", ["中文没有句号" * 4000, "x7" * 12_000, "&lol;" * 5000, "no full stop " * 2000])
@pytest.mark.parametrize("kind", [Paragraph, Code])
def test_each_character_is_counted_a_few_times_at_most(text: str, kind: type[Paragraph | Code]) -> None:
    given: list[str] = []

    def count(piece: str) -> int:
        given.append(piece)
        return count_tokens(piece)

    drafts = list(chunk([kind(text=text)], size=200, overlap=30, count_tokens=count))
    assert len(drafts) > 10
    assert sum(map(len, given)) < 3.5 * len(text)
    assert max(map(len, given)) <= 4000


def test_a_lead_repeats_whole_sentences_of_the_same_section_only() -> None:
    found = chunks(
        Paragraph(text=sentences_of(8)), Heading(text="Next"), Paragraph(text="Other text."), size=20, overlap=6
    )

    assert [item.lead for item in found] == ["", "Sentence 3 word word ends.", ""]


# Code


def test_code_is_fenced_and_cut_between_lines() -> None:
    lines = [f"    call(a{n}, b{n}, c{n})" for n in range(12)]
    found = chunks(Code(text="\n".join(lines), language="python"), size=20)

    assert len(found) > 1
    inner = [line for item in found for line in item.content.splitlines() if not line.startswith("```")]
    assert inner == lines
    assert all(item.content.startswith("```python\n") and item.content.endswith("\n```") for item in found)


def test_a_line_of_code_is_cut_only_when_huge() -> None:
    long_line = " ".join(f"v{n}" for n in range(60))

    assert len(chunks(Code(text=long_line), size=20)) == 1
    assert len(chunks(Code(text=long_line * 3), size=20)) > 1


# Tables


def test_a_long_table_repeats_caption_and_header_and_never_cuts_a_row() -> None:
    rows = tuple((f"item {n}", f"price of {n} coins") for n in range(10))
    found = chunks(Table(columns=("Name", "Price"), rows=rows, caption="Table 1: Prices"), size=20)

    assert len(found) > 1
    assert all(item.content.startswith("Table 1: Prices\nName | Price\nitem") for item in found)
    assert [tuple(row) for item in found for row in item.rows or []] == list(rows)
    assert all(item.columns == ["Name", "Price"] and item.kind == "table" for item in found)


def test_a_row_longer_than_a_chunk_stays_whole() -> None:
    found = chunks(Table(columns=("A",), rows=(("x y " * 40,), ("z",))), size=20)

    assert [item.rows for item in found] == [[["x y " * 40]], [["z"]]]


def test_a_header_longer_than_half_a_chunk_appears_once() -> None:
    columns = tuple(f"column {n}" for n in range(8))
    found = chunks(Table(columns=columns, rows=(("1",) * 8, ("2",) * 8)), size=20)

    assert [("column 0" in item.content) for item in found] == [True, False]
    assert found[1].columns == list(columns)


def test_a_table_has_the_sentence_before_it_as_lead() -> None:
    found = chunks(Paragraph(text="Prices follow."), Table(columns=("A",), rows=(("1",),)), Paragraph(text="After."))

    assert [(item.kind, item.lead) for item in found] == [("text", ""), ("table", "Prices follow."), ("text", "")]


def test_cells_with_line_breaks_stay_on_the_rows_line() -> None:
    found = chunks(Table(columns=("A", "B"), rows=(("one\ntwo", "three"),)))

    assert found[0].content == "A | B\none two | three"
    assert found[0].rows == [["one\ntwo", "three"]]


# Pictures


def test_a_picture_takes_the_caption_under_it_and_does_not_break_the_text() -> None:
    found = chunks(
        Paragraph(text="Before."),
        Picture(path="a.png", alt="A bridge", page=2),
        Paragraph(text="Figure 3: The bridge at night"),
        Paragraph(text="After."),
    )

    assert [(item.kind, item.content) for item in found] == [
        ("text", "Before.\n\nAfter."),
        ("image", "A bridge\nFigure 3: The bridge at night"),
    ]
    assert found[1].picture is not None
    assert found[1].picture.path == "a.png"
    assert (found[1].lead, found[1].page_from) == ("Before.", 2)


def test_a_picture_is_found_by_its_labels() -> None:
    found = chunks(Picture(path="a.png", alt="Figure 4", labels="Pump  Basin"))

    assert [(item.kind, item.content) for item in found] == [("image", "Figure 4\nPump  Basin")]


def test_a_picture_without_words_takes_its_sections_heading() -> None:
    found = chunks(Heading(text="Architecture"), Picture(path="a.png"))

    assert [(item.kind, item.content) for item in found] == [("image", "Architecture")]


def test_pages_span_from_first_to_last_sentence() -> None:
    found = chunks(PageBreak(page=4), Paragraph(text="One."), PageBreak(page=5), Paragraph(text="Two."))

    assert [(item.page_from, item.page_to) for item in found] == [(4, 5)]


# Properties

_text = st.text(alphabet=st.sampled_from("ab .,!?。，；“”中文1\n:-"), min_size=1, max_size=120)
_cell = st.text(alphabet="ab1 中\n", max_size=8)
_NO_HEADINGS = str.maketrans("", "", "HK")
_element = st.one_of(
    st.builds(Heading, text=st.text(alphabet="HK", min_size=1, max_size=4), level=st.integers(1, 4)),
    st.builds(Paragraph, text=_text),
    st.builds(Code, text=_text),
    st.builds(
        Table,
        columns=st.tuples(_cell, _cell),
        rows=st.lists(st.tuples(_cell, _cell), max_size=8).map(tuple),
    ),
)


@settings(max_examples=examples(200))
@given(st.lists(_element, max_size=12), st.integers(4, 30), st.integers(0, 8))
def test_nothing_is_lost_and_spans_are_disjoint(elements: list[Element], size: int, overlap: int) -> None:
    found = list(chunk(elements, size=size, overlap=min(overlap, size - 1), count_tokens=words))

    for before, after in pairwise(found):
        assert before.char_end + 2 == after.char_start
    assert all(item.char_end - item.char_start == len(item.content) for item in found)
    running = (item.content.replace("```", "").replace("####", "") for item in found if item.kind == "text")
    prose = (item.text for item in elements if isinstance(item, Paragraph | Code))
    assert squeezed(running).translate(_NO_HEADINGS) == squeezed(prose)
    rows = [row for item in elements if isinstance(item, Table) and any(item.columns) for row in item.rows]
    kept = [tuple(row) for item in found if item.kind == "table" and any(item.columns or ()) for row in item.rows or []]
    assert kept == rows


@settings(max_examples=examples(200))
@given(st.lists(_element, max_size=12), st.integers(4, 30))
def test_text_keeps_to_the_size(elements: list[Element], size: int) -> None:
    for item in chunk(elements, size=size, overlap=0, count_tokens=words):
        if item.kind == "text" and "```" not in item.content:
            headings = words(re.sub(r"(?s).*?((\n\n#### [^\n]*)*)$", r"\1", item.content))
            assert item.token_count <= size * 1.1 + headings  # including headings at the document's end


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 12)), min_size=1, max_size=8))
def test_no_chunk_crosses_a_heading_of_its_own_level_or_above(sections: list[tuple[int, int]]) -> None:
    elements: list[Element] = []
    for number, (level, length) in enumerate(sections):
        elements.append(Heading(text=f"H{number}", level=level))
        elements += [Paragraph(text=f"S{number}.") for _ in range(length)]

    for item in chunk(elements, size=5, overlap=2, count_tokens=words):
        start = int(item.heading_path[-1].removeprefix("H"))
        level = sections[start][0]
        inside = {start, *takewhile(lambda n, level=level: sections[n][0] > level, range(start + 1, len(sections)))}
        assert {int(number) for number in re.findall(r"S(\d+)", item.content + item.lead)} <= inside
        empty = {number for number, (_level, length) in enumerate(sections) if not length}
        assert {int(number) for number in re.findall(r"H(\d+)", item.content + item.lead)} <= inside | empty
        at_the_end = len(list(takewhile(lambda section: not section[1], reversed(sections))))
        if "####" in item.content:
            assert item.token_count <= 5 + at_the_end
