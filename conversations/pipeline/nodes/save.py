"""Steps 8 and 9: what is kept of the turn beside its message."""

from functools import partial

from channels.layers import get_channel_layer
from django.db import transaction
from django.utils.translation import gettext_lazy

from conversations import services, turn_store
from conversations.events import plain_text
from conversations.groups import session_group
from conversations.history import joined
from conversations.memory import summaries
from conversations.memory.relevance import store_vector
from conversations.models import ContextEntry, Turn
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.writing import extractive_answer
from conversations.prompts import calibration
from conversations.turn_store import Started
from ragsite.db import PATIENCE, in_database, retry_while_database_is_down
from ragsite.llm.tokens import count_tokens


class Save(Node):
    """Saves context entry, citations, tokens and the session's last activity; leaves vector and summary for later.

    It runs also after a failure or a stop, so that what came keeps its sources.
    """

    key = "save"
    step = 9
    title = gettext_lazy("Save the answer")
    timeout = PATIENCE + 30.0  # what is owed is not given up before the database is
    always = True
    on_error = "skip"
    reads = ("started", "question", "action", "answer", "citations", "cited", "model")
    may_read = ("retrieval_query", "branch", "messages", "usage", "left_out", "continued")
    writes = ("usage", "later")

    async def run(self, state: State, ctx: Context) -> None:
        """Write; the message itself is written by whoever runs the turn."""
        if state.started is None:
            return
        text = plain_text(state.answer.blocks)
        await retry_while_database_is_down(_save, state, state.started, text)
        if state.usage.get("prompt_tokens"):
            reported = state.usage["prompt_tokens"]
            state.later.append(partial(in_database, calibration.learn, state.model, state.messages, reported))
        state.usage = state.usage | state.left_out
        if text:
            state.later += [
                partial(store_vector, state.started.turn_id, state.question, _whole(state, text)),
                partial(_summarise, state, state.started),
            ]


async def _summarise(state: State, started: Started) -> None:
    """Keep the branch's summary up with it, and tell the pages that show the session."""
    branch = [*state.branch, started.turn_id]
    cut = state.details.get("budget", {}).get("cut_turns", [])
    if await summaries.keep_up(started.session_id, branch, cut, state.question_language):
        await get_channel_layer().group_send(session_group(started.session_id), {"type": "session.summarised"})


@transaction.atomic
def _save(state: State, started: Started, text: str) -> None:
    turn_store.save_citations(started.assistant_message_id, started.request_id, state.citations, state.cited)
    if text:
        _keep_for_models(started, _whole(state, text))
    Turn.objects.filter(pk=started.turn_id).update(
        action=state.action,
        retrieval_query=state.retrieval_query,
        model=state.model or extractive_answer.MODEL,
        token_count=count_tokens(state.question) + count_tokens(text),
    )
    found = text and state.action == "retrieve_vector"
    services.note_answer(started.session_id, services.title_from_question(state.question) if found else "")


def _whole(state: State, text: str) -> str:
    """Return an answer with what came before it was cut."""
    return joined(state.continued.answer, text) if state.continued is not None else text


def _keep_for_models(started: Started, text: str) -> None:
    """Store the answer's context entry, unless a saving that was cut short has stored it."""
    entry = ContextEntry(
        session_id=started.session_id, turn_id=started.turn_id, type=ContextEntry.Type.CHAT, role="assistant",
        content=text, tokens=count_tokens(text),
    )  # fmt: skip
    ContextEntry.objects.bulk_create([entry], ignore_conflicts=True)
