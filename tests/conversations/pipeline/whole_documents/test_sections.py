"""Sections of documents, and outlines."""

from collections.abc import Sequence

import pytest

from conversations.pipeline.whole_documents.sections import (
    ENTRIES,
    Passage,
    Section,
    leading_sentence,
    outline,
    parts,
    sections_of,
)


def passages(*given: tuple[str, str, int], document: int = 1) -> list[Passage]:
    """Return passages from triples of a path (written with slashes), a text and its number of tokens."""
    return [
        Passage(100 * document + at, document, at, text, tuple(filter(None, path.split("/"))), at + 1, tokens)
        for at, (path, text, tokens) in enumerate(given)
    ]


def shape(sections: Sequence[Section]) -> list[tuple[str, int]]:
    return [("/".join(section.path), len(section.passages)) for section in sections]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([("A", "x", 90), ("A", "x", 90), ("B", "x", 90)], [("A", 2), ("B", 1)]),
        ([("A", "x", 600), ("A", "x", 600)], [("A", 1), ("A", 1)]),
        ([("A", "x", 3000)], [("A", 1)]),
        ([("A", "x", 90), ("A/B", "x", 9), ("A/C", "x", 90)], [("A", 2), ("A/C", 1)]),
        ([("A", "x", 9), ("A/B", "x", 90)], [("A", 1), ("A/B", 1)]),
        ([("A/B", "x", 90), ("A/C", "x", 9)], [("A", 2)]),
        ([("A", "x", 90), ("B", "x", 9)], [("A", 1), ("B", 1)]),
        ([("", "x", 90), ("", "x", 9)], [("", 2)]),
    ],
)
def test_sections_follow_headings_and_lengths(
    given: list[tuple[str, str, int]], expected: list[tuple[str, int]]
) -> None:
    assert shape(sections_of(passages(*given))) == expected


def test_documents_are_never_joined_and_nothing_is_lost() -> None:
    both = [*passages(("A", "one", 9)), *passages(("A", "two", 9), document=2)]
    sections = sections_of(both)
    assert [passage for section in sections for passage in section.passages] == both
    assert [section.document_id for section in sections] == [1, 2]


def test_a_section_is_a_hit_with_all_its_passages() -> None:
    section = sections_of(passages(("A", "one", 9), ("A/B", "two", 9)))[0]
    hit = section.hit(7, "a.pdf", "Title")
    assert (hit.chunk_id, hit.merged, hit.heading, hit.page, hit.knowledge_base_id) == (100, (100, 101), "A", 1, 7)
    assert hit.content == "one\n\n#### B\n\ntwo"


def test_an_outline_goes_as_deep_as_its_size_allows() -> None:
    few = [(f"T/{a}/{b}", f"Text {a}{b} is here. More.", 90) for a in "abc" for b in "xyz"]
    assert [entry.heading for entry in outline(sections_of(passages(*few)))] == ["x", "y", "z"] * 3
    assert [entry.heading for entry in outline(sections_of(passages(*few)), 5)] == ["a", "b", "c"]
    assert outline(sections_of(passages(*few)), 5)[1].sentence == "Text bx is here."


@pytest.mark.parametrize("path", ["Heading {0}", "Book/Heading {0}", ""])
def test_an_outline_of_many_or_no_headings_still_covers_everything(path: str) -> None:
    many = [(path.format(at), f"Sentence {at} says it.", 900) for at in range(300)]
    entries = outline(sections_of(passages(*many)))
    assert 30 <= len(entries) <= ENTRIES
    assert entries[0].sentence == "Sentence 0 says it." and entries[-1].section.page > 290  # type: ignore[operator]
    if path:
        assert entries[0].heading == "Heading 0 … Heading 7"


def test_a_leading_sentence_is_part_of_the_text() -> None:
    section = sections_of(passages(("A", "#### Inner\nA\n\n- \n\nThe text begins. It goes on.", 90)))
    assert leading_sentence(section) == "The text begins."
    code = "To do it, write:\n\n```sql\nDROP TABLE a;\n```\n\nThen it is gone. And more."
    assert leading_sentence(sections_of(passages(("A", code, 90)))) == "Then it is gone."
    assert leading_sentence(sections_of(passages(("A", "To do it, write:", 90)))) == "To do it, write:"
    assert len(leading_sentence(sections_of(passages(("A", "word " * 400, 90))))) < 300


def test_parts_keep_groups_together_and_fit() -> None:
    sections = sections_of(passages(*[(f"H{at}", "x", 90) for at in range(6)]))
    units = [(section, "x" * 4) for section in sections]
    made = parts([units[:2], units[2:4], units[4:]], 10, len)
    assert [len(part) for part in made] == [2, 2, 2]
    made = parts([units], 10, len)
    assert [len(part) for part in made] == [2, 2, 2]
    assert [unit for part in made for unit in part] == units
    assert parts([[(sections[0], "x" * 99)]], 10, len) == [[(sections[0], "x" * 99)]]
