"""Stores the session's system prompt."""

from django.utils.translation import gettext_lazy

from conversations.models import ContextEntry
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.nodes.compose_prompt import system_prompt
from conversations.pipeline.state import Request, State
from conversations.prompts.templates import get_prompt
from ragsite.db import in_database
from ragsite.llm.passage_tokens import count_tokens


class SystemContext(Node):
    """Stores a session's `routes` entry on its first turn: the prompt that answers are written with.

    Once a model has been sent another one, such as that for small talk, `Save` replaces it.
    """

    key = "system_context"
    title = gettext_lazy("Prepare the session")
    after = ("save_question",)  # the user sees that event first, and soonest if nothing runs at the same time
    reads = ("started",)

    def wanted(self, state: State) -> bool:
        """Return whether this is the first turn of a session."""
        return state.started is not None and state.parent_turn_id is None

    async def run(self, state: State, ctx: Context) -> None:
        """Store the entry."""
        if state.started is not None:
            await in_database(_store_entry, state.started.session_id, state.request)


def _store_entry(session_id: int, request: Request) -> None:
    """Store the session's system prompt, replacing one left by an earlier first turn."""
    prompt = system_prompt(get_prompt("answer", request.question_language), request)
    values = {"role": "system", "content": prompt, "tokens": count_tokens(prompt)}
    if not ContextEntry.objects.filter(session_id=session_id, type=ContextEntry.Type.ROUTES).update(**values):
        entry = ContextEntry(session_id=session_id, type=ContextEntry.Type.ROUTES, **values)
        ContextEntry.objects.bulk_create([entry], ignore_conflicts=True)  # another first turn may have created it
