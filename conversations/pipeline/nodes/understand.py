"""Step 2: what to do with the question, and what to search for."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.models import Turn
from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.rules import understand
from conversations.pipeline.state import State
from ragsite.db import in_database
from retrieval.search import Query


class Understand(Node):
    """Decides by rules whether to search, to chat or to ask back; the question shown is never changed."""

    key = "understand"
    step = 2
    title = gettext_lazy("Understand the question")
    after = ("load_history", "system_context")
    reads = ("question", "history", "started")
    writes = ("action", "queries", "retrieval_query", "focus")

    async def run(self, state: State, emit: Emit) -> State:
        """Fill `action`, `queries` and `retrieval_query`."""
        result = understand(state.question, state.history)
        state.action = result.action
        state.queries = [Query(text, weight) for text, weight in result.queries]
        state.retrieval_query = result.queries[-1][0] if result.queries else ""
        state.focus = result.focus
        state.note(
            self.key,
            action=result.action,
            reason=result.reason,
            queries=[{"text": text, "weight": weight} for text, weight in result.queries],
        )
        if state.started is not None:
            await in_database(_store, state.started.turn_id, state)
        return state

    def message(self, state: State) -> str:
        """Name the action."""
        return {
            "retrieve_vector": _("Search your documents"),
            "answer_chat": _("Reply"),
            "clarify": _("Ask back"),
        }.get(state.action, state.action)


def _store(turn_id: int, state: State) -> None:
    Turn.objects.filter(pk=turn_id).update(action=state.action, retrieval_query=state.retrieval_query)
