"""BM25 as an inner product of sparse vectors. Pure.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf of Lucene, which
is never negative. A passage carries the saturated term frequencies, a query the inverse document frequencies.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice

from retrieval.engine.analysis import border_pairs, importance, term_id, terms

K1 = 1.2
B = 0.75
# Terms of a passage of the chunker's usual size. It is a constant so that a new passage changes no other's weights.
AVERAGE_LENGTH = 120
# No weight reaches it, however often a term occurs.
HIGHEST_WEIGHT = K1 + 1
# Of a pair of Chinese characters where words meet, in each passage that holds it.
PAIR_WEIGHT = 1.0
# pgvector holds no more elements in a sparse vector.
MOST_TERMS = 16_000


def count_terms(text: str) -> Counter[int]:
    """Return how often each term, by its id, occurs in a text."""
    return Counter(term_id(term) for term in terms(text))


def passage_weights(counts: Mapping[int, int]) -> dict[int, float]:
    """Return tf·(k1+1) / (tf + k1·(1−b+b·length/average)) per term id; of giant passages the most frequent terms."""
    damping = K1 * (1 - B + B * sum(counts.values()) / AVERAGE_LENGTH)
    kept: Iterable[tuple[int, int]] = counts.items()
    if len(counts) > MOST_TERMS:
        kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_TERMS]
    return {term: count * (K1 + 1) / (count + damping) for term, count in kept}


def weights_of(text: str) -> dict[int, float]:
    """Return a passage's weights: of its terms as above, of the pairs where its Chinese words meet 1 each.

    How often a pair occurs, and in how long a passage, told nothing more: docs/decisions/terms.md.
    """
    weights = passage_weights(count_terms(text))
    pairs = islice(map(term_id, border_pairs(text)), MOST_TERMS - len(weights))
    return dict.fromkeys(pairs, PAIR_WEIGHT) | weights


def wanted(found: Iterable[str]) -> dict[int, float]:
    """Return how much each term of a query counts, by its id: its importance, as often as it is said."""
    counts: dict[int, float] = defaultdict(float)
    for term in found:
        counts[term_id(term)] += importance(term)
    return counts


def inverse_document_frequency(size: int, document_frequency: int) -> float:
    """Return ln(1 + (N − df + 0.5) / (df + 0.5)) for `size` passages of which `document_frequency` hold the term."""
    return math.log(1 + (size - document_frequency + 0.5) / (document_frequency + 0.5))


def query_weights(counts: Mapping[int, float], size: int, frequencies: Mapping[int, int]) -> dict[int, float]:
    """Return count·idf per term id of a query, without the terms that no passage holds."""
    return {
        term: count * inverse_document_frequency(size, frequencies[term])
        for term, count in counts.items()
        if frequencies.get(term)
    }


def sparse_literal(weights: Mapping[int, float], dimensions: int) -> str:
    """Write a sparse vector as pgvector reads it: indices from 1, in any order."""
    return "{" + ",".join(f"{index + 1}:{value:.7g}" for index, value in weights.items()) + f"}}/{dimensions}"
