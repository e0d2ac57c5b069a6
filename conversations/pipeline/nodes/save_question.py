"""Step 1: the question, its context entry and the answer's placeholder."""

from django.utils.translation import gettext_lazy as _

from conversations.models import ChatSession
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.turn_store import Started, open_turn
from ragsite.db import in_database


class SaveQuestion(Node):
    """Stores the turn before anything streams; the runner makes its ids the stream's first event."""

    key = "save_question"
    step = 1
    title = _("Save the question")
    after = ()
    reads = ("session_id", "question", "parent_turn_id", "from_newest", "request_id", "continued")
    writes = ("started", "parent_turn_id")

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `started` and `parent_turn_id`; raises `TurnRefused`."""
        if state.started is None:
            state.started = await in_database(_open, state)
            state.parent_turn_id = state.started.parent_turn_id


def _open(state: State) -> Started:
    # Whose it is, was found out when the turn was prepared.
    session = ChatSession(pk=state.session_id, owner_id=state.user_id)
    return open_turn(
        session,
        state.question,
        state.parent_turn_id,
        state.request_id,
        from_newest=state.from_newest,
        continues=state.continued is not None,
    )
