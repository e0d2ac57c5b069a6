"""Parts of `bench recall` without a database: assigning vectors to bases, and the selectivity of filters."""

import numpy as np

from retrieval.models import EmbeddingSpace
from tests.benchmarks.retrieval import recall


def rows() -> np.ndarray:
    made = np.random.default_rng(7).normal(size=(2000, 16)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_bases_have_the_sizes_of_the_selectivities() -> None:
    bases = recall._deal(rows())
    for number, part in enumerate(recall.SELECTIVITIES, start=1):
        assert (bases == number).sum() == (bases == -number).sum() == round(part * 2000)


def test_one_base_of_a_pair_has_similar_vectors() -> None:
    made = rows()
    bases = recall._deal(made)
    for number in (1, 2):
        alike, anything = (np.linalg.norm(made[bases == sign * number].mean(axis=0)) for sign in (1, -1))
        assert alike > 2 * anything


def test_filters_match_their_titles() -> None:
    made = rows()
    numbers = recall._deal(made)
    filled = recall.Filled(EmbeddingSpace(), made.astype(np.float16), numbers + 100, np.ones(2000, dtype=bool))
    filters = dict(recall._filters(filled))
    assert len(filters["everything"]) == 1 + 2 * len(recall.SELECTIVITIES)
    assert filters["30.0%, similar"] == [101]
    assert filters["30.0%, random"] == [99]
    assert filters["0.1%, similar"] == [100 + len(recall.SELECTIVITIES)]
