"""Reordering the first hits by features that need no model. Pure.

The features and their weights were chosen on ten collections together, English, Chinese and mixed, with and without the
reader. Figures and rejected alternatives: docs/decisions/reorder.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from ragsite.language.analysis import pieces, terms
from ragsite.language.questions import question_words
from retrieval.engine.bm25 import inverse_document_frequency
from retrieval.ranking.fusion import Query, Ranking, Retriever
from retrieval.types import Hit


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a hit, each from 0 to 1.

    `bm25` is its score relative to the best hit's, `similarity` its similarity in meaning (for a hit that the vectors
    didn't find, the lowest of those they did). With several queries, these two are means weighted by the queries: with
    the maximum, passages that fit the history of a conversation outranked those that fit the question (measured on
    later turns and on unrelated ones, see `bench_followups`). `coverage` is the share of the query's terms in the
    passage with its headings; `rare_heading` the share in the headings alone, weighted by the terms' rarity among the
    hits, so that e.g. among all functions the requested one comes first. `pairs` is the share of the query's pairs of
    adjacent terms that are adjacent in the passage.
    """

    bm25: float
    similarity: float
    coverage: float
    rare_heading: float
    pairs: float

    @property
    def worth(self) -> float:
        """The weighted sum that orders the hits."""
        return (
            WEIGHTS.bm25 * self.bm25
            + WEIGHTS.similarity * self.similarity
            + WEIGHTS.coverage * self.coverage
            + WEIGHTS.rare_heading * self.rare_heading
            + WEIGHTS.pairs * self.pairs
        )


# Chosen on ten collections together, among them tests/conversations/data/answers/dev-*.jsonl, with `manage.py
# evaluate`; commit 1e62d1e6. Whole numbers: finer ones were no better on the held-out sets.
WEIGHTS = Features(bm25=1, similarity=2, coverage=1, rare_heading=1, pairs=2)


@dataclass(frozen=True, slots=True)
class _Passage:
    """The terms of a hit."""

    heading: tuple[str, ...]
    content: tuple[str, ...]
    known: frozenset[str]


@lru_cache(1_024)  # finding the terms is most of the work, and many hits recur
def _passage(heading: str, content: str) -> _Passage:
    first, others = tuple(terms(heading)), tuple(terms(content))
    return _Passage(first, others, frozenset({*first, *others}))


def passage_terms(hit: Hit) -> frozenset[str]:
    """Return the terms of a hit with its headings, its title and the name of its file."""
    return _passage(f"{hit.filename} {hit.title} {hit.heading}", hit.content).known


@dataclass(frozen=True, slots=True)
class _Wording:
    """A query as passages are compared with it: its terms, pairs of adjacent terms, and the terms' rarity."""

    weight: float
    terms: Set[str]
    pairs: frozenset[tuple[str, str]]
    rarity: Mapping[str, float]


def reorder(queries: Sequence[Query], hits: Sequence[Hit], rankings: Sequence[Ranking]) -> list[tuple[Hit, float]]:
    """Return the hits with their worth, highest first; ties keep their order.

    `rankings` are those that the hits were fused from; several rankings of a retriever count by their weights, and so
    do several queries: with the longest query alone, a self-contained question lost to the words of the conversation
    that were searched with it, however low their weight (see `bench_followups`).
    """
    passages = [_passage(hit.heading, hit.content) for hit in hits]
    wordings = [wording for query in queries if (wording := _worded(query, passages)).terms and wording.weight > 0]
    if not wordings or not hits:
        return [(hit, 0.0) for hit in hits]
    words, nearness = _mean(hits, rankings, "bm25"), _mean(hits, rankings, "vector")

    def features(hit: Hit, passage: _Passage, asked: _Wording) -> Features:
        pairs = asked.pairs.intersection(chain(pairwise(passage.heading), pairwise(passage.content)))
        return Features(
            bm25=words[hit.chunk_id],
            similarity=max(0.0, nearness[hit.chunk_id]),
            coverage=len(asked.terms & passage.known) / len(asked.terms),
            rare_heading=share(passage.heading, asked.rarity),
            pairs=len(pairs) / len(asked.pairs) if asked.pairs else 0.0,
        )

    def worth(hit: Hit, passage: _Passage) -> float:
        total = sum(asked.weight for asked in wordings)
        return sum(asked.weight / total * features(hit, passage, asked).worth for asked in wordings)

    ranked = [(hit, worth(hit, passage)) for hit, passage in zip(hits, passages, strict=True)]
    return sorted(ranked, key=lambda item: -item[1])


def _worded(query: Query, passages: Sequence[_Passage]) -> _Wording:
    in_order = terms(query.text)
    # The query's content terms, or all of its terms if it has only question words.
    wanted = frozenset(in_order) - question_words() or frozenset(in_order)
    known = frozenset[str]().union(*(passage.known for passage in passages))
    # If no passage contains a Chinese term, also the other terms in the same characters that passages contain.
    wanted = wanted | (pieces(query.text, wanted - known) & known - question_words())
    return _Wording(
        weight=query.weight,
        terms=wanted,
        pairs=frozenset(pairwise(term for term in in_order if term in wanted)),
        rarity=rarity(wanted, [passage.known for passage in passages]),
    )


def rarity(wanted: Set[str], sentences: Sequence[Set[str]]) -> dict[str, float]:
    """Return each wanted term's inverse document frequency among sentences, given as sets of terms."""
    counts = Counter(term for sentence in sentences for term in wanted & sentence)
    return {term: inverse_document_frequency(len(sentences), counts[term]) for term in wanted}


def share(found: Iterable[str], weights: Mapping[str, float]) -> float:
    """Return the share of the weights covered by the terms, from 0 to 1."""
    return sum(weights[term] for term in weights.keys() & set(found)) / (sum(weights.values()) or 1.0)


def _mean(hits: Sequence[Hit], rankings: Sequence[Ranking], retriever: Retriever) -> dict[int, float]:
    """Return each hit's mean score over the rankings of a retriever, by their weights; see `Features`.

    BM25 scores grow with the length of the query, so they are taken relative to the best among the hits.
    """
    found = [ranking for ranking in rankings if ranking.type == retriever and ranking.hits]
    weights = [ranking.weight for ranking in found]
    if not any(weights):  # none has a weight: all count the same
        weights = [1.0] * len(found)
    total = sum(weights)
    means = dict.fromkeys((hit.chunk_id for hit in hits), 0.0)
    for ranking, weight in zip(found, weights, strict=True):
        scores = {chunk_id: score for chunk_id, score in ranking.hits if chunk_id in means}
        best, missed = 1.0, min(scores.values(), default=0.0)
        if retriever == "bm25":
            best, missed = max(scores.values(), default=0.0) or 1.0, 0.0
        for chunk_id in means:
            means[chunk_id] += weight / total * (scores.get(chunk_id, missed) / best)
    return means
