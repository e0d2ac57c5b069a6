"""After the first order: the best hits judged again by a model that reads them together with the question."""

from typing import Any

from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.ranking.rerank import FEWEST, Reranked, RerankOptions, rerank
from retrieval.types import Hit


class Rerank(Node):
    """Has the hits scored, and keeps the best; where that fails, the order stays."""

    key = "rerank"
    step = 6
    title = gettext_lazy("Judge the passages")
    timeout = None  # `RERANK_TIMEOUT` bounds it, and leaves a note
    on_error = "skip"
    reads = ("question", "hits")
    may_read = ("ranking_query", "search_request")
    writes = ("hits",)

    def wanted(self, state: State) -> bool:
        """It must be switched on, and there must be more hits than would be read anyway."""
        return bool(_options(state).weights) and len(state.hits) >= FEWEST

    async def run(self, state: State, ctx: Context) -> None:
        """Change the order of `hits` and cut them."""
        options = _options(state)
        before = state.hits
        outcome = await rerank(state.ranking_query or state.question, before, options)
        state.hits = outcome.hits
        self._note(state, before, options, outcome)

    def message(self, state: State) -> str:
        """Count what is left, or say why nothing changed."""
        detail = state.details.get(self.key, {})
        count = len(state.hits)
        kept = ngettext("%(count)d best passage kept", "%(count)d best passages kept", count) % {"count": count}
        return " · ".join(filter(None, [kept if detail.get("judged") and count else "", detail.get("note", "")]))

    def _note(self, state: State, before: list[Hit], options: RerankOptions, outcome: Reranked) -> None:
        ranks = {hit.chunk_id: rank for rank, hit in enumerate(before, 1)}
        state.note(
            self.key,
            method=options.method,
            threshold=options.threshold,
            note=outcome.note,
            judged=[_judged(hit, outcome.scores) for hit in before[: options.input_top_n] if outcome.scores],
            hits=[
                {"chunk_id": hit.chunk_id, "score": _rounded(hit.rerank_score), "before": ranks[hit.chunk_id]}
                for hit in state.hits
                if outcome.scores
            ],
        )


def _options(state: State) -> RerankOptions:
    """Return how this turn reranks: as its search asks for, or as the site is set to."""
    asked = state.search_request.rerank if state.search_request else None
    return asked or RerankOptions.from_settings()


def _judged(hit: Hit, scores: dict[int, float]) -> dict[str, Any]:
    return {"chunk_id": hit.chunk_id, "score": round(hit.score, 5), "rerank": _rounded(scores.get(hit.chunk_id))}


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
