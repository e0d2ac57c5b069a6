"""Step 0: the session's system prompt."""

from django.utils.translation import gettext_lazy

from conversations.models import ContextEntry
from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.state import State
from conversations.prompts import get_prompt
from ragsite.db import in_database
from ragsite.llm.tokens import count_tokens


class SystemContext(Node):
    """On a session's first turn, stores its `routes` entry: the prompt by which answers are written."""

    key = "system_context"
    title = gettext_lazy("Prepare the session")
    after = ()  # beside the storing of the question
    reads = ("session_id", "question", "language")
    writes = ("system_prompt",)

    async def run(self, state: State, emit: Emit) -> State:
        """Fill `system_prompt`."""
        state.system_prompt = await in_database(_routes_entry, state.session_id, state.question_language)
        return state


def _routes_entry(session_id: int, language: str) -> str:
    """Return the session's system prompt, made now when this is its first turn.

    The entry follows an edited template: what an administrator changes takes effect at the next question.
    """
    prompt = get_prompt("answer", language).system
    entries = ContextEntry.objects.filter(session_id=session_id, type=ContextEntry.Type.ROUTES)
    if prompt not in entries.values_list("content", flat=True):
        values = {"role": "system", "content": prompt, "tokens": count_tokens(prompt)}
        if not entries.update(**values):
            entry = ContextEntry(session_id=session_id, type=ContextEntry.Type.ROUTES, **values)
            ContextEntry.objects.bulk_create([entry], ignore_conflicts=True)  # another first turn may make it too
    return prompt
