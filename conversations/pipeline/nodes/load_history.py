"""The last turns of this branch, and the summary of those before."""

from django.conf import settings
from django.utils.translation import gettext_lazy

from conversations.history import branch_of, past_turns
from conversations.memory.summaries import summary_of
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from ragsite.db import in_database


class LoadHistory(Node):
    """Loads the last `MAX_RECENT_TURNS` complete turns, and the questions among them that were not answered."""

    key = "load_history"
    title = gettext_lazy("Recall the conversation")
    after = ("save_question",)  # which the reader sees first, and soonest with nothing beside it
    on_error = "skip"
    reads = ("session_id", "parent_turn_id", "continued")
    writes = ("branch", "history", "unanswered", "summary")

    def wanted(self, state: State) -> bool:
        """A first question has no history."""
        return state.parent_turn_id is not None

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `branch`, `history` and `unanswered`, oldest first, and `summary`."""
        await in_database(_load, state)
        ctx.note(
            turns=[turn.turn_id for turn in state.history],
            unanswered=[turn.turn_id for turn in state.unanswered],
            summary=bool(state.summary),
        )


def _load(state: State) -> None:
    state.branch = branch_of(state.session_id, state.parent_turn_id)
    # What a cut answer's question leans on came before it.
    before = state.branch if state.continued is None else state.branch[: state.branch.index(state.continued.turn_id)]
    past = past_turns(state.session_id, before, settings.MAX_RECENT_TURNS)
    state.history = [turn for turn in past if turn.answer]
    state.unanswered = [turn for turn in past if not turn.answer]
    if len(state.branch) > 1:
        state.summary = summary_of(state.session_id, state.branch)
