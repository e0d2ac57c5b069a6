"""Stores the question, its context entry and the answer's placeholder."""

from django.utils.translation import gettext_lazy as _

from conversations.models import ChatSession
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import Request, State
from conversations.turn_store import Started, open_turn
from ragsite.db import in_database


class SaveQuestion(Node):
    """Stores the turn before anything streams; the runner sends its ids as the stream's first event."""

    key = "save_question"
    step = 1
    title = _("Save the question")
    progress = _("Thinking")
    after = ()
    writes = ("started",)

    def wanted(self, state: State) -> bool:
        """Return whether there is a session; nothing is stored without one."""
        return state.request.session_id is not None

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `started`; raises `TurnRefused`."""
        if state.started is None and state.request.session_id is not None:
            state.started = await in_database(_open, state.request, state.request.session_id)


def _open(request: Request, session_id: int) -> Started:
    # The owner was checked when the turn was prepared.
    session = ChatSession(pk=session_id, owner_id=request.user_id)
    chosen = {} if request.chosen_document_id is None else {"chosen_document": request.chosen_document_id}
    return open_turn(
        session,
        request.question,
        request.parent_turn_id,
        request.request_id,
        from_newest=request.from_newest,
        continues=request.continued is not None,
        assistant_version_id=request.assistant_version_id,
        scope={
            "knowledge_bases": list(request.asked_knowledge_base_ids),
            "documents": list(request.asked_document_ids),
            **request.labels.to_dict(),
            **chosen,
        },
    )
