"""BM25 as an inner product of sparse vectors. Pure.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf of Lucene, which
is never negative. A passage's vector has the saturated term frequencies, a query's the inverse document frequencies.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice

from ragsite.language.analysis import border_pairs, importance, term_id, terms

K1 = 1.2
B = 0.75
# Terms in a passage of the chunker's usual size. A constant, so that a new passage doesn't change others' weights.
AVERAGE_LENGTH = 120
# Upper bound of a term's weight, however often it occurs.
HIGHEST_WEIGHT = K1 + 1
# Weight of a pair of Chinese characters at a word border, in each passage that contains it.
PAIR_WEIGHT = 1.0
# Most elements of a sparse vector in pgvector.
MOST_TERMS = 16_000


def count_terms(text: str) -> Counter[int]:
    """Return how often each term, by its id, occurs in a text."""
    return Counter(term_id(term) for term in terms(text))


def passage_weights(counts: Mapping[int, int]) -> dict[int, float]:
    """Return tf·(k1+1) / (tf + k1·(1−b+b·length/average)) by term id, of the `MOST_TERMS` most frequent terms."""
    damping = K1 * (1 - B + B * sum(counts.values()) / AVERAGE_LENGTH)
    kept: Iterable[tuple[int, int]] = counts.items()
    if len(counts) > MOST_TERMS:
        kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_TERMS]
    return {term: count * (K1 + 1) / (count + damping) for term, count in kept}


def weights_of(text: str) -> dict[int, float]:
    """Return a passage's weights: those of its terms, and `PAIR_WEIGHT` for each pair at a border of Chinese words.

    Weighting pairs by their frequency and the passage's length gained nothing: docs/decisions/terms.md.
    """
    weights = passage_weights(count_terms(text))
    pairs = islice(map(term_id, border_pairs(text)), MOST_TERMS - len(weights))
    return dict.fromkeys(pairs, PAIR_WEIGHT) | weights


def query_term_counts(found: Iterable[str]) -> dict[int, float]:
    """Return a query's counts by term id, each term weighted by its importance."""
    counts: dict[int, float] = defaultdict(float)
    for term in found:
        counts[term_id(term)] += importance(term)
    return counts


def inverse_document_frequency(size: int, document_frequency: int) -> float:
    """Return ln(1 + (N − df + 0.5) / (df + 0.5)) for `size` passages of which `document_frequency` contain the term."""
    return math.log(1 + (size - document_frequency + 0.5) / (document_frequency + 0.5))


def query_weights(counts: Mapping[int, float], size: int, frequencies: Mapping[int, int]) -> dict[int, float]:
    """Return count·idf by term id of a query, without the terms that no passage contains."""
    return {
        term: count * inverse_document_frequency(size, frequencies[term])
        for term, count in counts.items()
        if frequencies.get(term)
    }


def sparse_literal(weights: Mapping[int, float], dimensions: int) -> str:
    """Return a sparse vector in pgvector's text format: indices from 1, in any order."""
    return "{" + ",".join(f"{index + 1}:{value:.7g}" for index, value in weights.items()) + f"}}/{dimensions}"
