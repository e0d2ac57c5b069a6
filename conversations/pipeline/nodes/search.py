"""Steps 3 and 4: both retrievers, side by side, in the knowledge bases that the user may read."""

import asyncio
import time
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.events import StepEvent, StepStatus
from conversations.pipeline.conditions import searches
from conversations.pipeline.graph import PREVIOUS, Context, Node, When, elapsed
from conversations.pipeline.state import State
from conversations.pipeline.understanding.scope import searchable
from ragsite.db import in_database
from retrieval.engine.analysis import terms
from retrieval.engine.fulltext import frequencies
from retrieval.ranking.query_words import is_broad
from retrieval.ranking.rerank_options import RerankOptions
from retrieval.ranking.retrievers import asked
from retrieval.search import SearchRequest, rankings_of

SIDES = ((3, "vector_search", "vector", gettext_lazy("Search by meaning")),
         (4, "fulltext_search", "bm25", gettext_lazy("Search by words")))  # fmt: skip


class Search(Node):
    """Runs every query through the vector side and the full-text side."""

    key = "search"
    title = gettext_lazy("Search")
    after = (When(PREVIOUS, searches, gettext_lazy("search")),)
    reads = ("user_id", "session_id", "question", "action", "queries")
    may_read = ("ranking_query", "top_n")
    writes = ("search_request", "rankings", "frequencies", "knowledge_base_ids", "general_knowledge_allowed")

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `rankings`, `knowledge_base_ids` and `general_knowledge_allowed`."""
        began = time.perf_counter()
        for side in SIDES:
            await ctx.emit(_step(side, "processing"))
        ids, general = await in_database(searchable, state.user_id, state.session_id)
        state.knowledge_base_ids, state.general_knowledge_allowed = ids, general
        cached = False
        if ids:
            state.search_request = _request(state, ids)
            # How rare the words are, which the hits are judged by, is looked up while the search is waited for.
            texts = {state.question, state.ranking_query, *(query.text for query in state.queries)}
            named = {term for text in texts for term in terms(text)}
            found, state.frequencies = await asyncio.gather(
                rankings_of(state.search_request), asked(frequencies, named, ids)
            )
            state.rankings, cached = list(found.rankings), found.cached
        for side in SIDES:
            await ctx.emit(_finished(side, state, elapsed(began), cached))
        ctx.note(
            knowledge_bases=list(ids),
            cached=cached,
            rankings=[_ranking_detail(item) for item in state.rankings],
        )


def _request(state: State, knowledge_base_ids: tuple[int, ...]) -> SearchRequest:
    ranking_query = state.ranking_query or state.question
    return SearchRequest(
        queries=tuple(state.queries),
        knowledge_base_ids=tuple(sorted(knowledge_base_ids)),
        k=state.top_n or settings.FUSED_K,
        rerank=RerankOptions.from_settings(top_k=state.top_n) if state.top_n else None,
        merge_neighbours=settings.MERGE_NEIGHBOURS,
        per_document=(settings.BROAD_PER_DOCUMENT or None) if is_broad(ranking_query) else None,
        ranking_query=ranking_query,
    )


def _finished(side: tuple[int, str, str, Any], state: State, total_ms: float, cached: bool) -> StepEvent:
    rankings = [ranking for ranking in state.rankings if ranking.type == side[2]]
    found = len({chunk_id for ranking in rankings for chunk_id, _score in ranking.hits})
    notes = [ranking.note for ranking in rankings if ranking.note]
    message = ngettext("%(count)d passage found", "%(count)d passages found", found) % {"count": found}
    if not rankings:
        message = _("There is nothing to search yet.")
    if cached:
        notes.append(_("as found a moment ago"))
    ms = total_ms if cached else max((ranking.ms for ranking in rankings), default=total_ms)
    return _step(side, "completed" if rankings else "skipped", " · ".join([message, *notes]), ms)


def _step(side: tuple[int, str, str, Any], status: StepStatus, message: str = "", ms: float | None = None) -> StepEvent:
    number, key, _type, name = side
    return StepEvent(step=number, key=key, step_name=str(name), status=status, message=message, ms=ms)


def _ranking_detail(ranking: Any) -> dict[str, Any]:
    return {
        "type": ranking.type,
        "query": ranking.query.text,
        "weight": ranking.weight,
        "ms": ranking.ms,
        "note": ranking.note,
        "hits": [{"chunk_id": chunk_id, "score": round(score, 4)} for chunk_id, score in ranking.hits[:20]],
    }
