"""Functions that store conversations for tests without running a pipeline."""

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from conversations import services
from conversations.events import (
    BlockEnd,
    BlockStart,
    Delta,
    DoneEvent,
    Event,
    SessionEvent,
    SourcesEvent,
    fold,
    plain_text,
)
from conversations.models import ChatSession, Citation, Message, TraceStep, Turn
from knowledge.models import Chunk

CITATION = {
    "filename": "handbook.txt",
    "heading": "Reset",
    "page": 3,
    "snippet": "Hold the reset button.",
    "score": 0.03,
    "sources": [{"type": "bm25", "rank": 1, "score": 7.5, "rrf_score": 0.016}],
}


def make_session(owner: User, title: str = "", **fields: Any) -> ChatSession:
    session = services.create_session(owner, title)
    if fields:
        ChatSession.objects.filter(pk=session.pk).update(**fields)
        session.refresh_from_db()
    return session


def make_turn(
    session: ChatSession,
    question: str = "How do I reset it?",
    answer: str = "Hold the button [1].",
    *,
    parent: Turn | None = None,
    chunk: Chunk | None = None,
    **fields: Any,
) -> Message:
    """Store a finished turn with a citation and a trace; return the answer."""
    turn = Turn.objects.create(session=session, parent_turn=parent, action="retrieve_vector", retrieval_query=question)
    user = Message.objects.create(turn=turn, role="user", content=question)
    message = Message.objects.create(turn=turn, role="assistant")
    events = _events(session, turn, user, message, answer)
    folded = fold(events)
    stored = {
        "blocks": folded.blocks,
        "content": plain_text(folded.blocks),
        "status": folded.status,
        "last_seq": folded.last_seq,
        "stream_log": [event.to_dict() for event in events],
    } | fields
    Message.objects.filter(pk=message.pk).update(**stored)
    Citation.objects.create(
        message=message,
        index=1,
        request_id=turn.request_id,
        cited=True,
        chunk=chunk,
        document=chunk.document if chunk else None,
        **CITATION,
    )
    TraceStep.objects.create(
        turn=turn,
        order=0,
        key="understand",
        status="completed",
        started_at=timezone.now(),
        ms=4.5,
        detail={"action": "chat"},
    )
    return Message.objects.select_related("turn__session").get(pk=message.pk)


def _events(session: ChatSession, turn: Turn, user: Message, message: Message, answer: str) -> list[Event]:
    events: list[Event] = [
        SessionEvent(
            session_id=session.pk,
            turn_id=turn.pk,
            request_id=str(turn.request_id),
            user_message_id=user.pk,
            assistant_message_id=message.pk,
        ),
        SourcesEvent(citations=[{"index": 1, "document_id": None, "chunk_id": None} | CITATION]),
        BlockStart(id="b1", kind="text"),
        Delta(id="b1", text=answer),
        BlockEnd(id="b1"),
        DoneEvent(status="completed", ms=12),
    ]
    return [event.numbered(seq) for seq, event in enumerate(events, 1)]
