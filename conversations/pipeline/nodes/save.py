"""Steps 8 and 9: what is kept of the turn beside its message."""

from django.utils import timezone
from django.utils.translation import gettext_lazy

from conversations import quoting, services, store
from conversations.events import plain_text
from conversations.meaning import embed
from conversations.models import ChatSession, ContextEntry, Turn
from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.state import State
from ragsite.db import in_database
from ragsite.llm.tokens import count_tokens


class Save(Node):
    """Saves context entry, citations, turn embedding, tokens and the session's last activity.

    It runs also after a failure or a stop, so that what came keeps its sources.
    """

    key = "save"
    step = 9
    title = gettext_lazy("Save the answer")
    always = True
    on_error = "skip"
    reads = ("started", "question", "action", "answer", "citations", "cited", "model")

    async def run(self, state: State, emit: Emit) -> State:
        """Write; the message itself is written by whoever runs the turn."""
        if state.started is None:
            return state
        text = plain_text(state.answer.blocks)
        await in_database(_save, state, text)
        if text:
            space, vector = await embed(f"{state.question}\n{text[:2000]}")
            turn = Turn.objects.filter(pk=state.started.turn_id)
            await in_database(turn.update, embedding=vector, embedding_space=space)
        return state


def _save(state: State, text: str) -> None:
    started = state.started
    if started is None:
        return
    store.save_citations(started.assistant_message_id, started.request_id, state.citations, state.cited)
    tokens = count_tokens(text)
    if text:
        ContextEntry.objects.update_or_create(
            turn_id=started.turn_id,
            type=ContextEntry.Type.CHAT,
            role="assistant",
            defaults={"session_id": started.session_id, "content": text, "tokens": tokens},
        )
    Turn.objects.filter(pk=started.turn_id).update(
        model=state.model or quoting.MODEL, token_count=count_tokens(state.question) + tokens
    )
    session = ChatSession.objects.filter(pk=started.session_id).first()
    if session is not None:
        if text and state.action == "retrieve_vector":
            services.title_after_answer(session, state.question)
        ChatSession.objects.filter(pk=session.pk).update(last_activity_at=timezone.now())
