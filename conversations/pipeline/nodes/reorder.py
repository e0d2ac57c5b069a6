"""After fusion: the first hits in a better order, by features that need no model."""

from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.state import State
from retrieval.search import reordered


class Reorder(Node):
    """Puts the hits that cover the question best first."""

    key = "reorder"
    title = gettext_lazy("Order the passages")
    timeout = 5.0
    on_error = "skip"

    def wanted(self, state: State) -> bool:
        """There must be an order to choose."""
        return state.search_request is not None and len(state.hits) > 1

    async def run(self, state: State, emit: Emit) -> State:
        """Change the order of `hits`."""
        before = {hit.chunk_id: rank for rank, hit in enumerate(state.hits, 1)}
        if state.search_request is not None:
            state.hits, _stages = await reordered(state.search_request, state.hits, state.rankings)
        state.note(self.key, hits=[{"chunk_id": hit.chunk_id, "before": before[hit.chunk_id]} for hit in state.hits])
        return state
