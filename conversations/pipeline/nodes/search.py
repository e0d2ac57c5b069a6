"""Queries the retrievers concurrently, in the knowledge bases that the user may read."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.events import StepEvent, StepStatus
from conversations.pipeline.conditions import searches
from conversations.pipeline.description import Description, Passage, PassageList
from conversations.pipeline.graph import PREVIOUS, Context, Node, When, elapsed
from conversations.pipeline.state import State
from conversations.pipeline.understanding.scope import as_searched, searchable
from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.language.answer_types import is_broad
from ragsite.site_settings.config import config
from retrieval.engine.fulltext import frequencies
from retrieval.engine.spelling import corrections
from retrieval.ranking.rerank_options import RerankOptions
from retrieval.ranking.retrievers import in_database_within_timeout
from retrieval.search import Ranking, SearchRequest, rankings_of
from retrieval.types import mode_in_force, retrievers_of

# A step's number and key, its retriever and its name.
Step = tuple[int, str, str, Promise]
STEPS: tuple[Step, ...] = (
    (3, "vector_search", "vector", gettext_lazy("Search by meaning")),
    (4, "fulltext_search", "bm25", gettext_lazy("Search by words")),
)


class Search(Node):
    """Runs every query through the vector retriever and the full-text retriever, or one of them: `SEARCH_MODE`."""

    key = "search"
    title = gettext_lazy("Search")
    progress = gettext_lazy("Searching your documents")
    reports = ("vector_search", "fulltext_search")
    after = (When(PREVIOUS, searches, gettext_lazy("search")),)
    reads = ("plan.queries",)
    may_read = ("plan.ranking_query",)
    writes = (
        "found.search_request", "found.rankings", "found.frequencies", "found.knowledge_base_ids", "found.document_ids",
        "found.labels", "found.general_knowledge_allowed", "found.named", "found.spelling",
        "plan.queries", "plan.ranking_query",
    )  # fmt: skip

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `rankings` and the scope: `knowledge_base_ids`, `document_ids`, `general_knowledge_allowed`."""
        began = time.perf_counter()
        request, plan, found = state.request, state.plan, state.found
        retrievers = retrievers_of(mode_in_force(), config.VECTOR_WEIGHT)
        steps = [step for step in STEPS if step[2] in retrievers]
        for step in steps:
            await ctx.emit(_step(step, "processing"))
        scope = await in_database(searchable, request)
        ids = found.knowledge_base_ids = scope.knowledge_base_ids
        found.document_ids, found.general_knowledge_allowed = scope.document_ids, scope.general_knowledge_allowed
        found.labels, found.named = scope.labels, scope.named
        cached = False
        if ids:
            text = plan.ranking_query or request.asked
            found.spelling = await in_database_within_timeout(corrections, text, ids)
            plan.queries = [replace(query, text=as_searched(query.text, found)) for query in plan.queries]
            plan.ranking_query = as_searched(text, found)
            found.search_request = _search_request(state)
            # The frequencies of the words, by which the hits are judged, are looked up during the search.
            asked = as_searched(request.asked, found)
            texts = {request.asked, asked, plan.ranking_query, *(query.text for query in plan.queries)}
            wanted = {term for text in texts for term in terms(text)}
            searched, found.frequencies = await asyncio.gather(
                rankings_of(found.search_request), in_database_within_timeout(frequencies, wanted, ids)
            )
            found.rankings, cached = list(searched.rankings), searched.cached
        for step in STEPS:
            done = step in steps or any(ranking.type == step[2] for ranking in found.rankings)
            other = _("This search is by words only.") if step[2] == "vector" else _("This search is by meaning only.")
            skipped = _step(step, "skipped", other)
            await ctx.emit(_finished(step, found.rankings, elapsed(began), cached) if done else skipped)
        rankings = [
            {
                "type": ranking.type,
                "query": ranking.query.text,
                "weight": ranking.weight,
                "ms": ranking.ms,
                "note": ranking.note,
                "hits": [{"chunk_id": chunk_id, "score": round(score, 4)} for chunk_id, score in ranking.hits[:20]],
            }
            for ranking in found.rankings
        ]
        ctx.note(
            knowledge_bases=list(ids),
            documents=list(scope.document_ids),
            files=scope.files_id,
            tags=list(scope.labels.tags),
            fields=[str(condition) for condition in scope.labels.conditions],
            folder=scope.labels.folder,
            spelling=found.spelling,
            cached=cached,
            rankings=rankings,
        )

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the passages that each retriever found for each query."""
        description = Description()
        if "knowledge_bases" in detail:  # as a number: some may no longer be shared, and their names are private
            files = detail.get("files")
            bases = sum(pk != files for pk in detail["knowledge_bases"])
            asked = ngettext("%(count)d knowledge base", "%(count)d knowledge bases", bases) % {"count": bases}
            if documents := len(detail.get("documents", [])):
                asked = ngettext("%(count)d document", "%(count)d documents", documents) % {"count": documents}
            description.add(_("Searched"), asked + (" · " + _("files of this chat") if files and not documents else ""))
            description.add(_("Tagged"), ", ".join(detail.get("tags", ())))
            description.add(_("Fields"), " · ".join(detail.get("fields", ())))
            description.add(_("Folder"), detail.get("folder"))
            read_as = [f"{word} → {right}" for word, right in detail.get("spelling", {}).items()]
            description.add(_("Spelling corrected"), " · ".join(read_as))
        titles = {"vector": _("By meaning"), "bm25": _("By words")}
        if detail.get("cached"):
            description.add(_("Note"), _("results and times of the same search a moment ago"))
        for ranking in detail.get("rankings", []):
            title = f"{titles.get(ranking['type'], ranking['type'])}: {ranking['query']}"
            hits = [Passage(hit["chunk_id"], hit["score"]) for hit in ranking["hits"]]
            description.lists.append(PassageList(title, hits, str(ranking.get("note", "")), ranking["ms"]))
        return description


def _finished(step: Step, searched: Sequence[Ranking], total_ms: float, cached: bool) -> StepEvent:
    rankings = [ranking for ranking in searched if ranking.type == step[2]]
    found = len({chunk_id for ranking in rankings for chunk_id, _score in ranking.hits})
    notes = list(dict.fromkeys(ranking.note for ranking in rankings if ranking.note))
    message = ngettext("%(count)d passage found", "%(count)d passages found", found) % {"count": found}
    if not rankings:
        message = _("There is nothing to search yet.")
    if cached:
        notes.append(_("results from a moment ago"))
    ms = total_ms if cached else max((ranking.ms for ranking in rankings), default=total_ms)
    return _step(step, "completed" if rankings else "skipped", " · ".join([message, *notes]), ms)


def _search_request(state: State) -> SearchRequest:
    """Return the search for the plan's queries within the scope that was found."""
    found, plan, top_n = state.found, state.plan, state.request.top_n
    many_documents = is_broad(plan.ranking_query) and not found.document_ids
    return SearchRequest(
        queries=tuple(plan.queries),
        knowledge_base_ids=tuple(sorted(found.knowledge_base_ids)),
        k=top_n or config.FUSED_K,
        rerank=RerankOptions.from_settings(top_k=top_n) if top_n else None,
        merge_neighbours=config.MERGE_NEIGHBOURS,
        per_document=(config.BROAD_MAX_HITS_PER_DOCUMENT or None) if many_documents else None,
        document_ids=found.document_ids,
        labels=found.labels,
        ranking_query=plan.ranking_query,
        # An evaluation must not depend on the load of the machine; in a chat, a user is waiting.
        patient=state.request.session_id is None,
    )


def _step(step: Step, status: StepStatus, message: str = "", ms: float | None = None) -> StepEvent:
    number, key, _type, name = step
    return StepEvent(step=number, key=key, step_name=str(name), status=status, message=message, ms=ms)
