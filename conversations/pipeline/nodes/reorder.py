"""Reorders the first fused hits by features that need no model."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.description import Description, Passage, PassageList, previous_rank
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import reorder_hits


class Reorder(Node):
    """Moves the hits that cover the question best to the front."""

    key = "reorder"
    title = gettext_lazy("Order the passages")
    timeout = 5.0
    on_error = "skip"
    reads = ("found.search_request", "found.rankings", "found.hits")
    writes = ("found.hits",)

    def wanted(self, state: State) -> bool:
        """Return whether there are several hits to order."""
        return state.found.search_request is not None and len(state.found.hits) > 1

    async def run(self, state: State, ctx: Context) -> None:
        """Reorder `hits`."""
        assert state.found.search_request is not None
        before = {hit.chunk_id: rank for rank, hit in enumerate(state.found.hits, 1)}
        state.found.hits, stages = await reorder_hits(
            state.found.search_request, state.found.hits, state.found.rankings
        )
        worth = dict(stages[0].hits) if stages else {}
        details = [
            {"chunk_id": chunk_id, "before": before[chunk_id], "score": round(score, 4)}
            for chunk_id, score in ((hit.chunk_id, worth.get(hit.chunk_id, hit.score)) for hit in state.found.hits)
        ]
        ctx.note(hits=details)

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the hits in their new order, each with its previous rank."""
        hits = [Passage(hit["chunk_id"], hit.get("score", 0.0), previous_rank(hit)) for hit in detail.get("hits", [])]
        return Description(lists=[PassageList(_("After"), hits)])
