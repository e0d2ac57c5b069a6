"""The last turns of this branch."""

from django.conf import settings

from conversations.history import recent_turns
from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.state import State
from ragsite.db import in_database


class LoadHistory(Node):
    """Loads the last `MAX_RECENT_TURNS` complete turns; without them the question stands alone."""

    key = "load_history"
    after = ("save_question",)
    on_error = "skip"
    reads = ("session_id", "parent_turn_id")
    writes = ("history",)

    def wanted(self, state: State) -> bool:
        """A first question has no history."""
        return state.parent_turn_id is not None

    async def run(self, state: State, emit: Emit) -> State:
        """Fill `history`, oldest first."""
        state.history = await in_database(
            recent_turns, state.session_id, state.parent_turn_id, settings.MAX_RECENT_TURNS
        )
        state.note(self.key, turns=[turn.turn_id for turn in state.history])
        return state
