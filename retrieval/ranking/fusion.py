"""Reciprocal rank fusion of ranked lists. Pure.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods"
(SIGIR 2009), with a weight per list. Figures and alternatives: docs/decisions/fusion.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Retriever = Literal["vector", "bm25"]


@dataclass(frozen=True, slots=True)
class Query:
    """A query and the weight of its rankings."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits of one retriever for one query, (chunk id, score) best first, and the milliseconds it took.

    `weight` is its weight in the fusion: that of the query times that of the retriever, or 0 to leave it out. Scores
    are BM25 scores or similarities (see `Calibration`). `unknown` are the languages that the embedding model doesn't
    know. `note` explains to users why a retriever failed or was left out.
    """

    type: Retriever
    query: Query
    weight: float
    hits: list[tuple[int, float]]
    ms: float
    note: str = ""
    failed: bool = False
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Source:
    """A hit's place in a ranking: retriever, rank from 1, score, and contribution to the fused score."""

    type: Retriever
    rank: int
    score: float
    rrf_score: float

    def to_dict(self) -> dict[str, Any]:
        """Return the source as the API shows it."""
        return {"type": self.type, "rank": self.rank, "score": self.score, "rrf_score": self.rrf_score}


@dataclass(slots=True)
class FusedChunk:
    """A chunk with its fused score and all its sources, in the order of the rankings."""

    chunk_id: int
    score: float = 0.0
    sources: list[Source] = field(default_factory=list)


def fuse(rankings: Iterable[Ranking], k: int, constant: float) -> list[FusedChunk]:
    """Return the k best chunks by Σ weight / (constant + rank), best first.

    Ties go to the chunk that any retriever ranked higher, then to the older one. Rankings without weight add no chunk,
    but appear among the sources.
    """
    fused: dict[int, FusedChunk] = {}
    for ranking in rankings:
        for rank, (chunk_id, score) in enumerate(ranking.hits, start=1):
            chunk = fused.setdefault(chunk_id, FusedChunk(chunk_id))
            gain = ranking.weight / (constant + rank)
            chunk.score += gain
            chunk.sources.append(Source(ranking.type, rank, score, gain))
    found = [chunk for chunk in fused.values() if chunk.score > 0]
    found.sort(key=lambda chunk: (-chunk.score, min(source.rank for source in chunk.sources), chunk.chunk_id))
    return found[:k]
