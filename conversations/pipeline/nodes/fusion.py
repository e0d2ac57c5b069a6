"""Step 5: one ranking out of many."""

from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import fuse, pool_size


class Fusion(Node):
    """Fuses the rankings by reciprocal rank; each hit keeps where it came from."""

    key = "fusion"
    step = 5
    title = gettext_lazy("Fuse the results")
    timeout = 5.0
    reads = ("search_request", "rankings")
    writes = ("fused",)

    def wanted(self, state: State) -> bool:
        """There must be something to fuse."""
        return bool(state.rankings)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `fused`."""
        if state.search_request is None:
            return
        state.fused = list(fuse(state.rankings, pool_size(state.search_request)))
        ctx.note(
            hits=[
                {
                    "chunk_id": item.chunk_id,
                    "score": round(item.score, 5),
                    "sources": [source.to_dict() for source in item.sources],
                }
                for item in state.fused
            ],
        )

    def message(self, state: State) -> str:
        """Count what is looked through for the best."""
        count = len(state.fused)
        words = ngettext("%(count)d passage to look through", "%(count)d passages to look through", count)
        return words % {"count": count}
