"""Reordering the first hits: what covers the question goes up, and nothing is lost."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import Source
from retrieval.reorder import reorder
from retrieval.types import Hit


def hit(chunk_id: int, content: str, heading: str = "", cosine: float = 0.0, score: float = 0.1) -> Hit:
    fields: dict[str, Any] = {"document_id": 1, "knowledge_base_id": 1, "kind": "text", "filename": "a.txt", "page": 1}
    return Hit(
        chunk_id=chunk_id,
        content=content,
        heading=heading,
        score=score,
        sources=[Source("vector", 1, cosine, 0.01)] if cosine else [],
        **fields,
    )


FILLER = hit(1, "The canteen serves lunch at noon. Ports are a kind of wine.")
ANSWER = hit(2, "The switch has nine ports.")


def order(query: str, *hits: Hit) -> list[int]:
    return [found.chunk_id for found, _worth in reorder(query, hits)]


def test_the_passage_that_covers_the_question_goes_first() -> None:
    assert order("How many ports has the switch?", FILLER, ANSWER) == [2, 1]


def test_a_heading_that_names_what_is_asked_counts() -> None:
    named = hit(3, "There are nine of them.", heading="Ports of the switch")
    assert order("ports of the switch", hit(4, "Something else entirely."), named) == [3, 4]


def test_nearness_in_meaning_counts() -> None:
    assert order("ports", hit(5, "One port.", cosine=0.2), hit(6, "One port.", cosine=0.9)) == [6, 5]


def test_hits_of_equal_worth_keep_their_order() -> None:
    assert order("ports", hit(7, "One port."), hit(8, "One port.")) == [7, 8]


@given(st.text(max_size=20), st.lists(st.text(max_size=30), max_size=6))
def test_nothing_is_lost_or_doubled(query: str, contents: list[str]) -> None:
    hits = [hit(number, content) for number, content in enumerate(contents)]
    assert sorted(order(query, *hits)) == list(range(len(contents)))
