"""Reordering the first hits by their features."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.fusion import Query, Ranking, Retriever, Source
from retrieval.ranking.reorder import reorder
from retrieval.types import Hit


def hit(chunk_id: int, content: str, heading: str = "", similarity: float = 0.0, score: float = 0.1) -> Hit:
    fields: dict[str, Any] = {"document_id": 1, "knowledge_base_id": 1, "kind": "text", "filename": "a.txt", "page": 1}
    return Hit(
        chunk_id=chunk_id,
        content=content,
        heading=heading,
        score=score,
        sources=[Source("vector", 1, similarity, 0.01)] if similarity else [],
        **fields,
    )


FILLER = hit(1, "The canteen serves lunch at noon. Ports are a kind of wine.")
ANSWER = hit(2, "The switch has nine ports.")


def order(query: str, *hits: Hit) -> list[int]:
    near = [(found.chunk_id, source.score) for found in hits for source in found.sources]
    ranking = Ranking("vector", Query(query), 1.0, near, 0.0)
    return [found.chunk_id for found, _worth in reorder([Query(query)], hits, [ranking])]


def test_the_passage_that_covers_the_question_goes_first() -> None:
    assert order("How many ports has the switch?", FILLER, ANSWER) == [2, 1]


def test_a_matching_heading_counts() -> None:
    named = hit(3, "There are nine of them.", heading="Ports of the switch")
    assert order("ports of the switch", hit(4, "Something else entirely."), named) == [3, 4]


def test_a_rare_word_in_a_heading_counts_for_more_than_a_common_one() -> None:
    others = [hit(number, "It takes a value.", heading="Function") for number in (4, 5)]
    assert order("function value: ROMAN", *others, hit(3, "It takes a value.", heading="ROMAN"))[0] == 3


def test_similarity_counts() -> None:
    assert order("ports", hit(5, "One port.", similarity=0.2), hit(6, "One port.", similarity=0.9)) == [6, 5]


def test_high_similarity_outweighs_a_word() -> None:
    wordy = hit(6, "One port.", similarity=0.1)
    assert order("ports", hit(5, "Something else.", similarity=1.4), wordy) == [5, 6]
    assert order("ports", hit(5, "Something else.", similarity=0.3), wordy) == [6, 5]


def test_a_hit_without_similarity_gets_the_lowest() -> None:
    missed, far, near = hit(5, "One port."), hit(6, "One port.", similarity=0.5), hit(7, "One port.", similarity=0.6)
    assert order("ports", missed, far, near) == [7, 5, 6]


def test_adjacent_terms_count() -> None:
    apart, together = hit(5, "Switch off the nine ports."), hit(6, "Nine switch ports.")
    assert order("switch ports", apart, together) == [6, 5]


def test_hits_of_equal_worth_keep_their_order() -> None:
    assert order("ports", hit(7, "One port."), hit(8, "One port.")) == [7, 8]


@given(st.text(max_size=20), st.lists(st.text(max_size=30), max_size=6))
def test_nothing_is_lost_or_doubled(query: str, contents: list[str]) -> None:
    hits = [hit(number, content) for number, content in enumerate(contents)]
    assert sorted(order(query, *hits)) == list(range(len(contents)))


def test_differently_segmented_chinese_counts() -> None:
    tool = hit(1, "用拖把打扫地板，再把桶放好。")
    paint = hit(2, "油漆倒进桶里。")
    assert order("怎样用油漆桶", tool, paint) == [2, 1]


def test_queries_count_by_their_weights() -> None:
    question, conversation = hit(5, "The warranty of the kit."), hit(6, "The switch has ports and a lamp.")

    def first(weight: float) -> int:
        queries = [Query("warranty of the kit"), Query("switch ports lamp", weight)]
        return reorder(queries, [question, conversation], [])[0][0].chunk_id

    assert [first(weight) for weight in (0.0, 0.2, 5.0)] == [5, 5, 6]


def test_queries_without_terms_are_ignored() -> None:
    found = reorder([Query("???"), Query("switch ports")], [FILLER, ANSWER], [])
    assert found == reorder([Query("switch ports")], [FILLER, ANSWER], []) and found[0][0] == ANSWER
    assert reorder([Query("???"), Query("ports", 0.0)], [FILLER, ANSWER], []) == [(FILLER, 0.0), (ANSWER, 0.0)]


@pytest.mark.parametrize("retriever", ["vector", "bm25"])
def test_several_rankings_count_by_their_weights(retriever: Retriever) -> None:
    def first(bare: float, joined: float) -> int:
        rankings = [
            Ranking(retriever, Query("ports"), bare, [(5, 0.6), (6, 0.5)], 0.0),
            Ranking(retriever, Query("ports of wine"), joined, [(6, 0.9), (5, 0.7)], 0.0),
        ]
        return reorder([Query("ports")], [hit(5, "One port."), hit(6, "One port.")], rankings)[0][0].chunk_id

    assert (first(1.0, 0.2), first(1.0, 1.0)) == (5, 6)


def test_the_longer_query_has_no_advantage_by_its_higher_scores() -> None:
    rankings = [
        Ranking("bm25", Query("ports"), 1.0, [(5, 4.0), (6, 2.0)], 0.0),
        Ranking("bm25", Query("ports and much else"), 0.5, [(6, 40.0), (5, 30.0)], 0.0),
    ]
    assert reorder([Query("ports")], [hit(6, "One port."), hit(5, "One port.")], rankings)[0][0].chunk_id == 5


def test_rankings_without_weight_still_give_similarity() -> None:
    silent = Ranking("vector", Query("ports"), 0.0, [(6, 0.9), (5, 0.1)], 0.0)
    assert reorder([Query("ports")], [hit(5, "One port."), hit(6, "One port.")], [silent])[0][0].chunk_id == 6
