"""After fusion: the first hits in a better order, by features that need no model."""

from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import reordered


class Reorder(Node):
    """Puts the hits that cover the question best first."""

    key = "reorder"
    title = gettext_lazy("Order the passages")
    timeout = 5.0
    on_error = "skip"
    reads = ("search_request", "rankings", "hits")
    writes = ("hits",)

    def wanted(self, state: State) -> bool:
        """There must be an order to choose."""
        return state.search_request is not None and len(state.hits) > 1

    async def run(self, state: State, ctx: Context) -> None:
        """Change the order of `hits`."""
        if state.search_request is None:
            return
        before = {hit.chunk_id: rank for rank, hit in enumerate(state.hits, 1)}
        state.hits, stages = await reordered(state.search_request, state.hits, state.rankings)
        worth = dict(stages[0].hits) if stages else {}
        details = [
            {"chunk_id": chunk_id, "before": before[chunk_id], "score": round(score, 4)}
            for chunk_id, score in ((hit.chunk_id, worth.get(hit.chunk_id, hit.score)) for hit in state.hits)
        ]
        ctx.note(hits=details)
