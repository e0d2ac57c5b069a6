"""The last turns of this branch, and the summary of those before."""

from django.conf import settings
from django.utils.translation import gettext_lazy

from conversations.history import branch_of, recent_turns, strip_markers
from conversations.memory.summaries import summary_of
from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.state import PastTurn, State
from ragsite.db import in_database


class LoadHistory(Node):
    """Loads the last `MAX_RECENT_TURNS` complete turns; without them the question stands alone."""

    key = "load_history"
    title = gettext_lazy("Recall the conversation")
    after = ("save_question",)  # which the reader sees first, and soonest with nothing beside it
    on_error = "skip"
    reads = ("session_id", "parent_turn_id", "continued")
    writes = ("branch", "history", "summary")

    def wanted(self, state: State) -> bool:
        """A first question has no history."""
        return state.parent_turn_id is not None

    async def run(self, state: State, emit: Emit) -> State:
        """Fill `branch`, `history`, oldest first, and `summary`."""
        await in_database(_load, state)
        state.note(self.key, turns=[turn.turn_id for turn in state.history], summary=bool(state.summary))
        return state


def _load(state: State) -> None:
    state.branch = branch_of(state.session_id, state.parent_turn_id)
    state.history = recent_turns(state.session_id, state.branch, settings.MAX_RECENT_TURNS)
    cut = state.continued
    if cut is not None and cut.turn_id not in [turn.turn_id for turn in state.history]:
        state.history.append(PastTurn(cut.turn_id, cut.question, strip_markers(cut.answer)))
    if len(state.branch) > 1:
        state.summary = summary_of(state.session_id, state.branch)
