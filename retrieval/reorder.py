"""Putting the first hits in a better order by features that need no model. Pure.

Measured on the first ten hits of three sets (150 questions each): the first hit is right for .756 instead of .667
of the answerable questions of SciFact, .430 instead of .405 of MTRAG's government set, .692 instead of .658 of an
Chinese news set; nDCG@10 gains .031, .018 and .021. Weights between half and double of these gain nearly the same.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from knowledge.sentences import split_sentences
from retrieval.analysis import terms
from retrieval.search import Hit
from retrieval.words import QUESTION_WORDS


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for a hit, each from 0 to 1: its fused score and its BM25 score against the best hit's, its cosine
    similarity, and the share of the query's weight that is covered by it all, by its heading, and by one sentence."""

    fused: float
    bm25: float
    cosine: float
    coverage: float
    heading: float
    sentence: float

    @property
    def worth(self) -> float:
        """The sum by which hits are ordered."""
        return (
            0.5 * self.fused + 0.5 * self.bm25 + self.cosine + self.coverage + 0.5 * self.heading + 0.5 * self.sentence
        )


def reorder(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits (best first) with the most promising ones first; hits of equal worth keep their order."""
    wanted = asked_terms(query)
    if len(hits) < 2 or not wanted:
        return list(hits)
    sentences = [[set(terms(text)) for text in split_sentences(hit.content)] for hit in hits]
    weights = rarity(wanted, [sentence for group in sentences for sentence in group])
    best_fused = max(hit.score for hit in hits) or 1.0
    best_bm25 = max(_score(hit, "bm25") for hit in hits) or 1.0

    def features(hit: Hit, group: Sequence[Set[str]]) -> Features:
        heading = set(terms(hit.heading))
        return Features(
            fused=hit.score / best_fused,
            bm25=_score(hit, "bm25") / best_bm25,
            cosine=max(0.0, _score(hit, "vector")),
            coverage=share(heading.union(*group), weights),
            heading=share(heading, weights),
            sentence=max((share(sentence, weights) for sentence in group), default=0.0),
        )

    worth = {hit.chunk_id: features(hit, group).worth for hit, group in zip(hits, sentences, strict=True)}
    return sorted(hits, key=lambda hit: -worth[hit.chunk_id])


def asked_terms(query: str) -> set[str]:
    """Return the terms that a query is about; where it only asks, all of its terms."""
    found = set(terms(query))
    return found - QUESTION_WORDS or found


def rarity(wanted: Set[str], sentences: Sequence[Set[str]]) -> dict[str, float]:
    """Return each wanted term's inverse frequency among sentences, each given by its terms."""
    counts = Counter(term for sentence in sentences for term in wanted & sentence)
    total = len(sentences)
    return {term: math.log(1 + (total - counts[term] + 0.5) / (counts[term] + 0.5)) for term in wanted}


def share(found: Iterable[str], weights: dict[str, float]) -> float:
    """Return the share of the weight that some terms cover, from 0 to 1."""
    return sum(weights[term] for term in weights.keys() & set(found)) / (sum(weights.values()) or 1.0)


def _score(hit: Hit, side: str) -> float:
    """Return the hit's best score on a side, or 0 where that side did not find it."""
    return max((source.score for source in hit.sources if source.type == side), default=0.0)
