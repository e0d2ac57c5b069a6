"""Asking both sides: by words and by meaning, side by side, each on its own when the other fails."""

import asyncio
import logging
import time
from collections.abc import Awaitable

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.utils.translation import gettext as _

from ragsite.db import in_database
from ragsite.llm.errors import LLMError
from retrieval import languages, spaces
from retrieval.engine import Hits, engine
from retrieval.fusion import Query, Ranking, Side
from retrieval.types import SIDES, SearchFailed, SearchRequest

# Of queries less understood than this, the vectors found little but noise: Chinese news asked for by English names.
LEAST_UNDERSTOOD = 0.2

logger = logging.getLogger(__name__)


async def retrieve(request: SearchRequest) -> list[Ranking]:
    """Ask both sides for every query, all side by side.

    A side that fails or takes longer than `SEARCH_TIMEOUT` leaves an empty ranking with a note; when all do, raises
    `SearchFailed`.
    """
    queries = [query for query in request.queries if query.text.strip()]
    if not queries or not request.knowledge_base_ids:
        return []
    knows = (await in_database(spaces.active_space)).knows if request.mode == "hybrid" else _all
    asked = await asyncio.gather(
        *(_ask_sides(query, request, languages.understood(query.text, knows)) for query in queries)
    )
    rankings = [ranking for group in asked for ranking in group]
    if all(ranking.failed for ranking in rankings):
        raise SearchFailed(rankings[0].note)
    return rankings


def _all(language: str) -> bool:
    return True


async def _ask_sides(query: Query, request: SearchRequest, understood: float) -> list[Ranking]:
    """Ask the sides of the request's mode, side by side.

    The vectors' vote is the share of the query that their model understands. Where that is next to nothing they have
    none, and so are only asked when the words found nothing.
    """
    if understood >= LEAST_UNDERSTOOD:
        asked = (_ask(side, query, request, understood) for side in SIDES[request.mode])
        return list(await asyncio.gather(*asked))
    words = await _ask("bm25", query, request)
    if not words.hits:
        return [words, await _ask("vector", query, request)]
    note = _("The embedding model doesn't know this language, so only the words count.")
    return [words, Ranking("vector", query, 0.0, [], 0.0, note, understood=understood)]


async def _ask(side: Side, query: Query, request: SearchRequest, understood: float = 1.0) -> Ranking:
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
    try:
        hits = await asyncio.wait_for(asked, settings.SEARCH_TIMEOUT)
    except (DatabaseFailure, LLMError, TimeoutError) as error:
        logger.warning("The %s side of a search failed: %s", side, error.__class__.__name__, exc_info=True)
        return Ranking(side, query, 0.0, [], _ms_since(started), _failure(side), failed=True)
    if threshold is not None:
        hits = [hit for hit in hits if hit[1] >= threshold]
    weight = query.weight
    if side == "vector" and request.mode == "hybrid":
        weight *= understood * (settings.VECTOR_WEIGHT if request.vector_weight is None else request.vector_weight)
    else:
        understood = 1.0  # words are found in any language, and a side alone has nobody to yield to
    return Ranking(side, query, weight, hits, _ms_since(started), understood=understood)


def _failure(side: Side) -> str:
    if side == "bm25":
        return _("The search by words failed; the hits are those of the search by meaning.")
    return _("The search by meaning failed; the hits are those of the search by words.")


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
