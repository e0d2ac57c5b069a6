"""Before the evidence is chosen: what stands together joined, and the best kept."""

from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import selected


class Select(Node):
    """Joins neighbouring hits and keeps the best."""

    key = "select"
    title = gettext_lazy("Join neighbouring passages")
    timeout = 5.0
    on_error = "skip"
    reads = ("search_request", "hits")
    writes = ("hits",)

    def wanted(self, state: State) -> bool:
        """There must be something to choose from."""
        return state.search_request is not None and bool(state.hits)

    async def run(self, state: State, ctx: Context) -> None:
        """Cut `hits` to k."""
        if state.search_request is not None:
            state.hits, _stages = selected(state.search_request, state.hits)
        hits = [
            {"chunk_id": hit.chunk_id, "merged": list(hit.merged), "score": round(hit.score, 5)} for hit in state.hits
        ]
        ctx.note(hits=hits)

    def message(self, state: State) -> str:
        """Count what may be answered from."""
        count = len(state.hits)
        return ngettext("%(count)d passage given on", "%(count)d passages given on", count) % {"count": count}
