"""Running the retrievers, by words and by meaning, in parallel; if one fails, the other is used alone."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.utils.translation import gettext as _

from ragsite.db import in_database
from ragsite.language.detection import LANGUAGES, language_of
from ragsite.llm.errors import LLMError
from retrieval.engine import engine, spaces
from retrieval.engine.engine import Hits
from retrieval.engine.limits import search_limit
from retrieval.ranking.fusion import Query, Ranking, Retriever
from retrieval.types import SearchFailed, SearchRequest

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)


async def retrieve(request: SearchRequest) -> list[Ranking]:
    """Run the request's retrievers for every query, all in parallel.

    For a query in a language that the embedding model doesn't know, vectors are searched only if nothing is found for
    any query of the request: otherwise they would add noise to the hits of other queries. While vectors are missing
    because a new model has replaced the old one, they aren't searched at all, and a note says so. A retriever that
    fails or takes longer than `SEARCH_TIMEOUT` returns an empty ranking with a note. Raises `SearchFailed` if all fail,
    and `SearchOverloaded` if too many searches are running.
    """
    queries = [query for query in request.queries if query.text.strip()]
    if not queries or not request.knowledge_base_ids:
        return []
    async with search_limit().place():
        unknown, unfilled = frozenset[str](), ""
        if "vector" in request.retrievers:
            # Errors of the model are reported by the search by meaning.
            with suppress(LLMError):
                space = spaces.cached_active_space()
                if space is None or not space.filled:  # vectors count as soon as it is filled
                    space = await in_database_within_timeout(spaces.active_space)
                if not space.filled:
                    unfilled = _(
                        "A new embedding model is processing the documents ({percent}%). Until it has finished, "
                        "search uses words only."
                    ).format(percent=space.percent)
                elif "bm25" in request.retrievers:
                    unknown = frozenset(language for language in LANGUAGES if not space.knows(language))
        groups = await asyncio.gather(*(_ask_retrievers(query, request, unknown, unfilled) for query in queries))
        left_out = any(language_of(query.text) in unknown for query in queries)
        if left_out and not any(ranking.hits for group in groups for ranking in group):
            groups = await asyncio.gather(*(_ask_retrievers(query, request, unknown, anyway=True) for query in queries))
    rankings = [ranking for group in groups for ranking in group]
    if all(ranking.failed for ranking in rankings):
        raise SearchFailed(rankings[0].note)
    return rankings


async def in_database_within_timeout(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that reads the database. Raises `SearchFailed` if that fails or takes too long."""
    try:
        async with asyncio.timeout(settings.SEARCH_TIMEOUT):
            return await in_database(function, *args, **kwargs)
    except (DatabaseFailure, TimeoutError) as error:
        logger.warning("A search failed because of the database: %s", error.__class__.__name__, exc_info=True)
        raise SearchFailed(_("The database isn't responding. Try again in a moment.")) from error


async def _ask_retrievers(
    query: Query, request: SearchRequest, unknown: frozenset[str], unasked: str = "", *, anyway: bool = False
) -> list[Ranking]:
    """Run the request's retrievers in parallel.

    Vectors are left out, with a note, if `unasked` gives a reason, or if the query's language is unknown to the model
    and not `anyway`.
    """
    if not unasked and not anyway and language_of(query.text) in unknown:
        unasked = _("The embedding model doesn't know this language, so search uses words only.")
    asked = [retriever for retriever in request.retrievers if retriever == "bm25" or not unasked]
    if request.retrievers == ("bm25",):  # words find only passages in their own language
        unknown = LANGUAGES
    rankings = list(await asyncio.gather(*(_ask(retriever, query, request, unknown) for retriever in asked)))
    if unasked:
        rankings.append(Ranking("vector", query, 0.0, [], 0.0, unasked, unknown=LANGUAGES))
    return rankings


async def _ask(retriever: Retriever, query: Query, request: SearchRequest, unknown: frozenset[str]) -> Ranking:
    depth = max(request.retriever_top_k, request.k)
    started = time.perf_counter()
    where = request.knowledge_base_ids, depth, request.document_ids, request.labels
    answer: Awaitable[Hits]
    if retriever == "bm25":
        answer = engine.search_fulltext(query.text, *where)
        threshold = request.bm25_threshold
    else:
        answer = engine.search_vectors(query.text, *where)
        threshold = request.vector_threshold
    try:
        async with asyncio.timeout(settings.SEARCH_TIMEOUT):
            hits = await answer
    except (DatabaseFailure, LLMError, TimeoutError) as error:
        logger.warning("The %s retriever of a search failed: %s", retriever, error.__class__.__name__, exc_info=True)
        if retriever == "bm25":
            failure = _("Search by words failed. All results come from search by meaning.")
        else:
            failure = _("Search by meaning failed. All results come from search by words.")
        return Ranking(retriever, query, 0.0, [], ms_since(started), failure, failed=True)
    if threshold is not None:
        hits = [hit for hit in hits if hit[1] >= threshold]
    weight = query.weight
    if retriever == "vector" and len(request.retrievers) > 1:
        weight *= request.vector_weight
    return Ranking(retriever, query, weight, hits, ms_since(started), unknown=unknown)


def ms_since(started: float) -> float:
    """Return the milliseconds since a moment of `time.perf_counter`."""
    return round((time.perf_counter() - started) * 1000, 2)
