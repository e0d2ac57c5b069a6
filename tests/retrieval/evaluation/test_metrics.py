"""The metrics, compared with independent implementations and values calculated by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.metrics import FIGURES, Figures, ndcg, recall, reciprocal_rank

ids = st.sampled_from([f"d{number}" for number in range(12)])
rankings = st.lists(ids, unique=True, max_size=12)
judgements = st.dictionaries(ids, st.integers(-1, 4), max_size=12)
depths = st.integers(1, 12)


def plain_dcg(grades: list[int]) -> float:
    total = 0.0
    for position in range(len(grades)):
        total += grades[position] / log2(position + 2)
    return total


@given(rankings, judgements, depths)
def test_ndcg_is_the_gain_over_that_of_the_best_order(ranked: list[str], relevant: dict[str, int], k: int) -> None:
    grades = {item: grade for item, grade in relevant.items() if grade > 0}
    best = plain_dcg(sorted(grades.values())[::-1][:k])
    expected = plain_dcg([grades.get(item, 0) for item in ranked][:k]) / best if grades else 0.0
    assert ndcg(ranked, relevant, k) == pytest.approx(expected)
    assert 0 <= ndcg(ranked, relevant, k) <= 1 + 1e-9


@given(rankings, judgements, depths)
def test_recall_is_the_share_found(ranked: list[str], relevant: dict[str, int], k: int) -> None:
    right = [item for item in relevant if relevant[item] >= 1]
    found = [item for item in right if item in ranked and ranked.index(item) < k]
    assert recall(ranked, relevant, k) == pytest.approx(len(found) / len(right) if right else 0.0)


@given(rankings, judgements, depths)
def test_reciprocal_rank_is_that_of_the_first_right_one(ranked: list[str], relevant: dict[str, int], k: int) -> None:
    places = [place + 1 for place, item in enumerate(ranked) if place < k and relevant.get(item, 0) > 0]
    assert reciprocal_rank(ranked, relevant, k) == (1 / min(places) if places else 0.0)


@given(judgements, depths)
def test_the_ideal_order_is_perfect(relevant: dict[str, int], k: int) -> None:
    best = sorted(relevant, key=lambda item: -relevant[item])
    if any(grade > 0 for grade in relevant.values()):
        assert ndcg(best, relevant, k) == pytest.approx(1.0)
        assert reciprocal_rank(best, relevant, k) == 1.0


@given(rankings, judgements, st.integers(1, 11))
def test_moving_a_better_one_up_never_hurts(ranked: list[str], relevant: dict[str, int], place: int) -> None:
    if place < len(ranked) and relevant.get(ranked[place], 0) > relevant.get(ranked[place - 1], 0):
        swapped = [*ranked[: place - 1], ranked[place], ranked[place - 1], *ranked[place + 1 :]]
        assert ndcg(swapped, relevant, 10) >= ndcg(ranked, relevant, 10)
        assert reciprocal_rank(swapped, relevant, 10) >= reciprocal_rank(ranked, relevant, 10)


def test_gains_are_linear_as_in_trec_eval() -> None:
    # (3 + 0/log2(3) + 2/log2(4)) / (3 + 2/log2(3) + 1/log2(4)); with gains of 2^grade - 1 it would be .905.
    relevant = {"a": 3, "b": 2, "c": 1}
    assert ndcg(["a", "x", "b"], relevant, 10) == pytest.approx(4 / (3 + 2 / log2(3) + 0.5))
    assert ndcg(["a", "x", "b"], relevant, 10) == pytest.approx(0.8400, abs=1e-4)


def test_the_ideal_is_cut_at_k_too() -> None:
    relevant = {f"d{number}": 1 for number in range(20)}
    assert ndcg([f"d{number}" for number in range(10)], relevant, 10) == pytest.approx(1.0)
    assert recall([f"d{number}" for number in range(10)], relevant, 10) == pytest.approx(0.5)


def test_nothing_relevant_or_found_is_zero() -> None:
    for ranked, relevant in (([], {"a": 1}), (["a"], {}), (["a"], {"a": 0}), (["b"], {"a": 1})):
        assert Figures.of(ranked, relevant) == Figures()


def test_means_weight_questions_equally() -> None:
    one, other = Figures.of(["a"], {"a": 1}), Figures.of(["b"], {"a": 1})
    assert Figures.mean([one, other]).to_dict() == dict.fromkeys(FIGURES, 0.5)
    assert Figures.mean([]) == Figures()
    assert list(one.to_dict()) == ["nDCG@10", "recall@5", "recall@10", "MRR@10"]


def test_recall_at_five_and_ten() -> None:
    figures = Figures.of([*"vwxyz", "a"], {"a": 1, "v": 1})
    assert (figures.recall_5, figures.recall_10, figures.mrr_10) == (0.5, 1.0, 1.0)
