"""The formulas, against figures worked out by hand."""

import math

import pytest

from retrieval.engine import bm25


def test_idf_is_that_of_lucene() -> None:
    assert bm25.inverse_document_frequency(10, 1) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert bm25.inverse_document_frequency(1, 1) == pytest.approx(math.log(4 / 3))
    assert bm25.inverse_document_frequency(1_000_000, 1_000_000) > 0  # never negative, however common a term


def test_weights_saturate_with_frequency_and_fall_with_length() -> None:
    # A passage of the average length: tf·2.2 / (tf + 1.2).
    assert bm25.passage_weights({7: 3, 8: 117}) == pytest.approx({7: 6.6 / 4.2, 8: 117 * 2.2 / 118.2})
    # Half as long: the damping is 1.2 · (0.25 + 0.75 / 2) = 0.75.
    assert bm25.passage_weights({7: 1, 8: 59}) == pytest.approx({7: 2.2 / 1.75, 8: 59 * 2.2 / 59.75})
    assert max(bm25.passage_weights({1: 10**6}).values()) < bm25.HIGHEST_WEIGHT


def test_query_terms_are_counted_and_unknown_ones_dropped() -> None:
    idf = bm25.inverse_document_frequency(10, 2)
    assert bm25.query_weights({1: 2, 2: 1, 3: 1}, 10, {1: 2, 3: 0}) == {1: 2 * idf}


def test_a_long_passage_keeps_its_most_frequent_terms() -> None:
    counts = dict.fromkeys(range(bm25.MOST_TERMS + 5), 1) | {bm25.MOST_TERMS + 4: 2}
    weights = bm25.passage_weights(counts)
    assert len(weights) == bm25.MOST_TERMS
    assert bm25.MOST_TERMS + 4 in weights


def test_a_sparse_vector_counts_its_indices_from_one() -> None:
    assert bm25.sparse_literal({0: 1.5, 41: 0.25}, 100) == "{1:1.5,42:0.25}/100"
    assert bm25.sparse_literal({}, 100) == "{}/100"
