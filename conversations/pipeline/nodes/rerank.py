"""Reranks the best hits with a model that reads them together with the question."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.description import Description, Passage, PassageList, previous_rank
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.ranking.rerank import FEWEST, RerankOptions, rerank


class Rerank(Node):
    """Has the hits scored and keeps the best; if that fails, the order stays."""

    key = "rerank"
    step = 6
    title = gettext_lazy("Judge the passages")
    timeout = None  # `RERANK_TIMEOUT` limits it and leaves a note
    on_error = "skip"
    reads = ("found.hits",)
    may_read = ("plan.ranking_query", "found.search_request")
    writes = ("found.hits",)

    def wanted(self, state: State) -> bool:
        """Return whether reranking is switched on, and there are more hits than would be read anyway."""
        return bool(_options(state).weights) and len(state.found.hits) >= FEWEST

    async def run(self, state: State, ctx: Context) -> None:
        """Reorder `hits` and keep the best."""
        options = _options(state)
        before = state.found.hits
        outcome = await rerank(state.plan.ranking_query or state.request.question, before, options)
        state.found.hits = outcome.hits
        ctx.note(method=options.method, threshold=options.threshold, note=outcome.note, judged=[], hits=[])
        if not outcome.scores:
            return
        ranks = {hit.chunk_id: rank for rank, hit in enumerate(before, 1)}
        ctx.note(
            judged=[
                {"chunk_id": hit.chunk_id, "score": round(hit.score, 5),
                 "rerank": _rounded(outcome.scores.get(hit.chunk_id))}
                for hit in before[: options.input_top_n]
            ],
            hits=[
                {"chunk_id": hit.chunk_id, "score": _rounded(hit.rerank_score), "before": ranks[hit.chunk_id]}
                for hit in outcome.hits
            ],
        )  # fmt: skip

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return how many passages were kept, or why nothing changed."""
        count = len(state.found.hits)
        kept = ngettext("%(count)d best passage kept", "%(count)d best passages kept", count) % {"count": count}
        return " · ".join(filter(None, [kept if detail.get("judged") and count else "", detail.get("note", "")]))

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the passages before and after, with their scores."""
        description = Description([(_("Note"), str(detail["note"]))] if detail.get("note") else [])
        if detail.get("judged"):
            description.facts.append((_("Minimum score"), f"{detail['threshold']:g}"))
            before = [
                Passage(hit["chunk_id"], hit["score"],
                        "" if hit["rerank"] is None else _("scored %(score).2f") % {"score": hit["rerank"]})
                for hit in detail["judged"]
            ]  # fmt: skip
            after = [Passage(hit["chunk_id"], hit["score"], previous_rank(hit)) for hit in detail["hits"]]
            description.lists += [PassageList(_("Before"), before), PassageList(_("After"), after)]
        return description


def _options(state: State) -> RerankOptions:
    """Return the options of this turn: those of its search, or else the site's."""
    asked = state.found.search_request.rerank if state.found.search_request else None
    return asked or RerankOptions.from_settings()


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
