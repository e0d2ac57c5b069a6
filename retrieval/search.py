"""The one entrance to search: both sides side by side, fused, described."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.utils.translation import gettext as _

from knowledge.models import Chunk
from ragsite.db import in_database
from ragsite.language import language_of
from ragsite.llm.errors import LLMError
from retrieval import fusion, spaces
from retrieval.engine import Hits, engine
from retrieval.fusion import FusedChunk, Query, Ranking, Side, Source

__all__ = [
    "FusedChunk",
    "Hit",
    "Mode",
    "Query",
    "Ranking",
    "SearchFailed",
    "SearchRequest",
    "SearchResult",
    "Source",
    "describe",
    "fuse",
    "retrieve",
    "search",
]

Mode = Literal["hybrid", "vector", "fulltext"]
_SIDES: dict[Mode, tuple[Side, ...]] = {"hybrid": ("vector", "bm25"), "vector": ("vector",), "fulltext": ("bm25",)}

logger = logging.getLogger(__name__)


class SearchFailed(Exception):
    """No side could answer; the message is for a person."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for and where: only in these knowledge bases, which the caller has checked.

    Thresholds are absolute: cosine similarity, BM25 score; None takes the settings'.
    """

    queries: tuple[Query, ...]
    knowledge_base_ids: tuple[int, ...]
    k: int = field(default_factory=lambda: int(settings.FUSED_K))
    mode: Mode = "hybrid"
    vector_threshold: float | None = None
    bm25_threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found, with all that is needed to show, quote and explain it."""

    chunk_id: int
    document_id: int
    knowledge_base_id: int
    content: str
    kind: str
    filename: str
    heading: str
    page: int | None
    score: float
    sources: list[Source]
    columns: list[str] | None = None
    rows: list[list[str]] | None = None
    picture_id: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "chunk_id": self.chunk_id,
            "document_id": self.document_id,
            "knowledge_base_id": self.knowledge_base_id,
            "filename": self.filename,
            "heading": self.heading,
            "page": self.page,
            "kind": self.kind,
            "content": self.content,
            "score": self.score,
            "sources": [source.to_dict() for source in self.sources],
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, the rankings they come from, how long it took, and notes on what went wrong."""

    hits: list[Hit]
    rankings: list[Ranking]
    took_ms: float
    notes: list[str]


async def search(request: SearchRequest) -> SearchResult:
    """Search, fuse and describe. Raises `SearchFailed` when no side could answer."""
    started = time.perf_counter()
    rankings = await retrieve(request)
    hits = await describe(fuse(rankings, request.k))
    notes = list(dict.fromkeys(ranking.note for ranking in rankings if ranking.note))
    return SearchResult(hits, rankings, _ms_since(started), notes)


async def retrieve(request: SearchRequest) -> list[Ranking]:
    """Ask both sides for every query, all side by side.

    A side that fails or takes longer than `SEARCH_TIMEOUT` leaves an empty ranking with a note; when all do, raises
    `SearchFailed`.
    """
    queries = [query for query in request.queries if query.text.strip()]
    if not queries or not request.knowledge_base_ids:
        return []
    depth = max(settings.FUSION_DEPTH, request.k)
    tasks = [_ask(side, query, request, depth) for query in queries for side in _SIDES[request.mode]]
    rankings = await asyncio.gather(*tasks)
    if all(ranking.failed for ranking in rankings):
        raise SearchFailed(rankings[0].note)
    return await _weigh(rankings)


def fuse(rankings: Iterable[Ranking], k: int) -> list[FusedChunk]:
    """Return the k best chunks of the rankings, by the constant of the settings."""
    return fusion.fuse(rankings, k, settings.RRF_CONSTANT)


async def describe(fused: Sequence[FusedChunk]) -> list[Hit]:
    """Return the chunks with their contents and documents, in order; those deleted meanwhile are dropped."""
    if not fused:
        return []
    chunks = await in_database(_load, [chunk.chunk_id for chunk in fused])
    return [_hit(chunks[found.chunk_id], found) for found in fused if found.chunk_id in chunks]


async def _ask(side: Side, query: Query, request: SearchRequest, depth: int) -> Ranking:
    started = time.perf_counter()
    bases = request.knowledge_base_ids
    asked: Awaitable[Hits]
    if side == "bm25":
        asked = engine.search_words(query.text, bases, depth)
        threshold = settings.BM25_THRESHOLD if request.bm25_threshold is None else request.bm25_threshold
    else:
        asked = engine.search_meaning(query.text, bases, depth)
        threshold = settings.VECTOR_THRESHOLD if request.vector_threshold is None else request.vector_threshold
    weight = query.weight * (settings.VECTOR_WEIGHT if side == "vector" else 1.0)
    try:
        hits = await asyncio.wait_for(asked, settings.SEARCH_TIMEOUT)
    except (DatabaseFailure, LLMError, TimeoutError) as error:
        logger.warning("The %s side of a search failed: %s", side, error.__class__.__name__, exc_info=True)
        return Ranking(side, query, 0.0, [], _ms_since(started), _failure(side), failed=True)
    if threshold is not None:
        hits = [hit for hit in hits if hit[1] >= threshold]
    return Ranking(side, query, weight, hits, _ms_since(started))


def _failure(side: Side) -> str:
    if side == "bm25":
        return _("The search by words failed; the hits are those of the search by meaning.")
    return _("The search by meaning failed; the hits are those of the search by words.")


async def _weigh(rankings: list[Ranking]) -> list[Ranking]:
    """Take the vote from vectors whose model doesn't know the query's language, where the words found something."""
    found_by_words = {ranking.query for ranking in rankings if ranking.type == "bm25" and ranking.hits}
    contested = [r for r in rankings if r.type == "vector" and r.hits and r.query in found_by_words]
    if not contested:
        return rankings
    space = await in_database(spaces.active_space)
    muted = {r.query for r in contested if (language := language_of(r.query.text)) and not space.knows(language)}
    note = _("The embedding model doesn't know this language, so only the words count.")
    return [
        replace(ranking, weight=0.0, note=note) if ranking.type == "vector" and ranking.query in muted else ranking
        for ranking in rankings
    ]


def _load(chunk_ids: list[int]) -> dict[int, Chunk]:
    return Chunk.objects.select_related("document").in_bulk(chunk_ids)


def _hit(chunk: Chunk, found: FusedChunk) -> Hit:
    return Hit(
        chunk_id=chunk.pk,
        document_id=chunk.document_id,
        knowledge_base_id=chunk.document.knowledge_base_id,
        content=chunk.content,
        kind=chunk.kind,
        filename=chunk.document.original_filename,
        heading=chunk.heading,
        page=chunk.page,
        score=found.score,
        sources=found.sources,
        columns=chunk.table_columns,
        rows=chunk.table_rows,
        picture_id=chunk.picture_id,
    )


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
