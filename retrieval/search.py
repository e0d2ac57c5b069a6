"""The one entrance to search: both sides side by side, fused, described."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
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
    unknown = await _unknown_languages(queries) if request.mode == "hybrid" else set()
    asked = await asyncio.gather(*(_ask_sides(query, request, query in unknown) for query in queries))
    rankings = [ranking for group in asked for ranking in group]
    if all(ranking.failed for ranking in rankings):
        raise SearchFailed(rankings[0].note)
    return rankings


def fuse(rankings: Iterable[Ranking], k: int) -> list[FusedChunk]:
    """Return the k best chunks of the rankings, by the constant of the settings."""
    return fusion.fuse(rankings, k, settings.RRF_CONSTANT)


async def describe(fused: Sequence[FusedChunk]) -> list[Hit]:
    """Return the chunks with their contents and documents, in order; those deleted meanwhile are dropped."""
    if not fused:
        return []
    chunks = await in_database(_load, [chunk.chunk_id for chunk in fused])
    return [_hit(chunks[found.chunk_id], found) for found in fused if found.chunk_id in chunks]


async def _unknown_languages(queries: Sequence[Query]) -> set[Query]:
    """Return the queries whose language the embedding model doesn't know."""
    space = await in_database(spaces.active_space)
    return {query for query in queries if (language := language_of(query.text)) and not space.knows(language)}


async def _ask_sides(query: Query, request: SearchRequest, unknown: bool) -> list[Ranking]:
    """Ask the sides of the request's mode, side by side.

    Vectors of a model that doesn't know the query's language have no vote, and so are only asked when the words
    found nothing.
    """
    if not unknown:
        return list(await asyncio.gather(*(_ask(side, query, request) for side in _SIDES[request.mode])))
    words = await _ask("bm25", query, request)
    if not words.hits:
        return [words, await _ask("vector", query, request)]
    note = _("The embedding model doesn't know this language, so only the words count.")
    return [words, Ranking("vector", query, 0.0, [], 0.0, note)]


async def _ask(side: Side, query: Query, request: SearchRequest) -> Ranking:
    depth = max(settings.FUSION_DEPTH, request.k)
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
