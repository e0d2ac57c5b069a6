"""The entry point to search: run both retrievers, fuse their rankings, load the passages and order them.

The pipeline runs the same steps one by one, each in its own node, and caches only the results of the first: the others
are quick, and custom nodes may come in between.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.conf import settings

from knowledge.models import Chunk
from ragsite.language.answer_types import is_broad
from ragsite.language.questions import asks
from ragsite.site_settings.config import config
from retrieval.answerability.reading import is_available, read_hits
from retrieval.engine.result_cache import Work, answered_once, index_state
from retrieval.ranking import fusion
from retrieval.ranking.fusion import FusedChunk, Query, Ranking
from retrieval.ranking.neighbours import at_most_per_document, merge_neighbours
from retrieval.ranking.reorder import reorder
from retrieval.ranking.rerank import rerank
from retrieval.ranking.rerank_options import RerankOptions
from retrieval.ranking.retrievers import in_database_within_timeout, ms_since, retrieve
from retrieval.types import Hit, SearchFailed, SearchOverloaded, SearchRequest, SearchResult, Stage

__all__ = [
    "Hit",
    "Query",
    "Ranking",
    "SearchFailed",
    "SearchOverloaded",
    "SearchRequest",
    "SearchResult",
    "Stage",
    "describe",
    "fuse",
    "is_read",
    "pool_size",
    "rankings_of",
    "read_with_question",
    "reorder_hits",
    "rerank_hits",
    "rerank_options",
    "retrieve",
    "search",
    "select_hits",
]


# The columns of a chunk, its document and its picture that `describe` loads.
_SHOWN = (
    "content", "kind", "heading_path", "page_from", "table_columns", "table_rows", "ordinal",
    "picture__alt", "picture__width", "picture__height",
    "document__knowledge_base_id", "document__original_filename", "document__title", "document__folder",
)  # fmt: skip


async def search(request: SearchRequest) -> SearchResult:
    """Search, fuse, describe and order; or return the cached result of an identical search.

    Raises `SearchFailed` if no retriever could answer, and `SearchOverloaded` if too many searches are running.
    """
    return await _cached(_search, request)


async def rankings_of(request: SearchRequest) -> SearchResult:
    """Run only the retrievers, or return their cached result for an identical request.

    The result has no hits: this is for callers that run the following steps themselves. Raises as `search`.
    """
    return await _cached(_rankings, request)


async def _cached(work: Work, request: SearchRequest) -> SearchResult:
    started = time.perf_counter()
    if request.fresh or not settings.SEARCH_CACHE_HITS:
        return await work(request)
    state = await in_database_within_timeout(index_state, request.knowledge_base_ids)
    result = await answered_once(request, state, work)
    return replace(result, took_ms=ms_since(started))


async def _rankings(request: SearchRequest) -> SearchResult:
    started = time.perf_counter()
    return SearchResult([], await retrieve(request), ms_since(started), [])


async def _search(request: SearchRequest) -> SearchResult:
    started = time.perf_counter()
    rankings = await retrieve(request)
    began = time.perf_counter()
    fused = fuse(rankings, pool_size(request), request.rrf_constant)
    stages = [Stage("fuse", ms_since(began), [(chunk.chunk_id, chunk.score) for chunk in fused])]
    began = time.perf_counter()
    hits = await describe(fused)
    stages.append(Stage("describe", ms_since(began), [(hit.chunk_id, hit.score) for hit in hits]))
    hits, ordered = await reorder_hits(request, hits, rankings)
    hits, were_read = await read_with_question(request, hits)
    hits, judged = await rerank_hits(request, hits)
    hits, chosen = select_hits(request, hits)
    stages += [*ordered, *were_read, *judged, *chosen]
    notes = [ranking.note for ranking in rankings] + [stage.note for stage in stages]
    return SearchResult(hits, rankings, ms_since(started), list(dict.fromkeys(filter(None, notes))), stages)


def pool_size(request: SearchRequest) -> int:
    """Return the number of fused chunks to work on: more than k if later steps may move or drop some."""
    deep = request.k * 2 if request.merge_neighbours else request.k
    if request.per_document:
        deep = max(deep, request.retriever_top_k)
    options = rerank_options(request)
    judged = options.input_top_n if options.weights else 0
    ordered = request.reorder_top_n if request.reorder else 0
    return max(deep, judged, ordered, request.read_top_n if is_read(request) else 0)


def rerank_options(request: SearchRequest) -> RerankOptions:
    """Return the request's options for reranking; by default the site's, with the request's k."""
    return request.rerank or RerankOptions.from_settings(top_k=request.k)


def fuse(rankings: Iterable[Ranking], k: int, constant: int | None = None) -> list[FusedChunk]:
    """Return the k best chunks of the rankings; `constant` defaults to the setting."""
    return fusion.fuse(rankings, k, config.RRF_CONSTANT if constant is None else constant)


async def describe(fused: Sequence[FusedChunk]) -> list[Hit]:
    """Return the chunks with their contents and documents, in order; those deleted meanwhile are dropped.

    Raises `SearchFailed` if the database doesn't respond.
    """
    if not fused:
        return []
    shown = Chunk.objects.select_related("document", "picture").only(*_SHOWN)
    chunks = await in_database_within_timeout(shown.in_bulk, [chunk.chunk_id for chunk in fused])
    return [
        Hit(
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
            picture=chunk.picture,
            ordinal=chunk.ordinal,
            title=chunk.document.name,
        )
        for found in fused
        if (chunk := chunks.get(found.chunk_id)) is not None
    ]


async def reorder_hits(
    request: SearchRequest, hits: list[Hit], rankings: Sequence[Ranking]
) -> tuple[list[Hit], list[Stage]]:
    """Return the hits with the first `reorder_top_n` reordered by their features, if the request wants it."""
    if not request.reorder or len(hits) < 2:
        return hits, []
    began = time.perf_counter()
    first, rest = hits[: request.reorder_top_n], hits[request.reorder_top_n :]
    # In a thread, since it takes milliseconds and would block the event loop.
    ranked = await asyncio.to_thread(reorder, request.ordered_by, first, rankings)
    stage = Stage("reorder", ms_since(began), [(hit.chunk_id, worth) for hit, worth in ranked])
    return [*(replace(hit, worth=worth) for hit, worth in ranked), *rest], [stage]


def is_read(request: SearchRequest) -> bool:
    """Return whether a request's hits are read: the reader is available and wanted, and the query is a question.

    For statements the reader makes the order worse.
    """
    return request.read and (bool(request.reader) or is_available()) and asks(request.judged_by)


async def read_with_question(
    request: SearchRequest, hits: list[Hit], *, brief: bool = False
) -> tuple[list[Hit], list[Stage]]:
    """Return the hits with the first `read_top_n` read together with the question and reordered.

    With `brief`, no more are read than an answer needs.
    """
    if not hits or not is_read(request):
        return hits, []
    brief = brief and not is_broad(request.judged_by)
    outcome = await read_hits(
        request.judged_by, hits, request.read_top_n, brief=brief, patient=request.patient, model=request.reader
    )
    ordered = [(hit.chunk_id, outcome.scores.get(hit.chunk_id, hit.score)) for hit in outcome.hits]
    if outcome.scores:
        ordered = ordered[: len(outcome.scores)]
    return outcome.hits, [Stage("reader", outcome.ms, ordered, outcome.note)]


async def rerank_hits(request: SearchRequest, hits: list[Hit]) -> tuple[list[Hit], list[Stage]]:
    """Return the hits that a reranker scores best, if the request wants it."""
    options = rerank_options(request)
    outcome = await rerank(request.judged_by, hits, options)
    if not (outcome.scores or outcome.note):
        return outcome.hits, []
    ordered = [(hit.chunk_id, hit.score if hit.rerank_score is None else hit.rerank_score) for hit in outcome.hits]
    return outcome.hits, [Stage("rerank", outcome.ms, ordered, outcome.note)]


def select_hits(request: SearchRequest, hits: list[Hit]) -> tuple[list[Hit], list[Stage]]:
    """Return the k best hits, with neighbours merged and documents capped if the request wants it.

    Only as many hits are taken as needed for k to be left, so that a neighbour doesn't pull up a passage from far down
    the list past better ones.
    """
    began = time.perf_counter()
    taken = min(request.k, len(hits))
    while True:
        merged = merge_neighbours(hits[:taken]) if request.merge_neighbours else hits[:taken]
        kept = at_most_per_document(merged, request.per_document)
        if len(kept) >= request.k or taken == len(hits):
            break
        taken = min(taken + request.k - len(kept), len(hits))
    stages = []
    if request.merge_neighbours:
        stages.append(Stage("neighbours", ms_since(began), [(hit.chunk_id, hit.score) for hit in merged]))
    if request.per_document is not None:
        stages.append(Stage("documents", ms_since(began), [(hit.chunk_id, hit.score) for hit in kept]))
    return kept, stages
