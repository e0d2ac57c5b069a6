"""Reciprocal rank fusion."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.fusion import Query, Ranking, Retriever, fuse


def ranking(retriever: Retriever, *chunk_ids: int, weight: float = 1.0) -> Ranking:
    hits = [(chunk_id, 1.0 / position) for position, chunk_id in enumerate(chunk_ids, start=1)]
    return Ranking(retriever, Query("q"), weight, hits, ms=1.0)


def test_scores_are_the_sums_of_reciprocal_ranks() -> None:
    first, second, third = fuse([ranking("vector", 1, 2), ranking("bm25", 2, 3)], 10, 60)
    assert (first.chunk_id, first.score) == (2, pytest.approx(1 / 62 + 1 / 61))
    assert (second.chunk_id, second.score) == (1, pytest.approx(1 / 61))
    assert (third.chunk_id, third.score) == (3, pytest.approx(1 / 62))


def test_sources_have_retriever_rank_and_scores() -> None:
    (chunk,) = fuse([ranking("vector", 7), ranking("bm25", 7, weight=0.5)], 10, 10)
    assert [source.to_dict() for source in chunk.sources] == [
        {"type": "vector", "rank": 1, "score": 1.0, "rrf_score": pytest.approx(1 / 11)},
        {"type": "bm25", "rank": 1, "score": 1.0, "rrf_score": pytest.approx(0.5 / 11)},
    ]


def test_a_ranking_without_weight_is_only_a_source() -> None:
    found = fuse([ranking("vector", 9, 1, weight=0.0), ranking("bm25", 1)], 10, 10)
    assert [chunk.chunk_id for chunk in found] == [1]
    assert [source.rrf_score for source in found[0].sources] == [0.0, pytest.approx(1 / 11)]


def test_ties_go_to_the_higher_rank_then_the_older_chunk_and_k_cuts() -> None:
    assert [chunk.chunk_id for chunk in fuse([ranking("vector", 5), ranking("bm25", 3)], 10, 10)] == [3, 5]
    assert [chunk.chunk_id for chunk in fuse([ranking("vector", 5, 6), ranking("bm25", 3, 4)], 3, 10)] == [3, 5, 4]
    assert fuse([], 10, 10) == []


LISTS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.lists(st.integers(1, 12), unique=True, max_size=8)), max_size=4
)


@given(LISTS, st.integers(1, 12), st.integers(1, 60))
def test_fusion_matches_the_definition(lists: list[tuple[float, list[int]]], k: int, constant: int) -> None:
    scores: dict[int, float] = defaultdict(float)
    for weight, chunk_ids in lists:
        for rank, chunk_id in enumerate(chunk_ids, start=1):
            scores[chunk_id] += weight / (constant + rank)
    found = fuse([ranking("bm25", *chunk_ids, weight=weight) for weight, chunk_ids in lists], k, constant)
    best = sorted((score for score in scores.values() if score), reverse=True)[:k]
    assert [chunk.score for chunk in found] == pytest.approx(best)
    for chunk in found:
        assert chunk.score == pytest.approx(scores[chunk.chunk_id])
        assert chunk.score == pytest.approx(sum(source.rrf_score for source in chunk.sources))
