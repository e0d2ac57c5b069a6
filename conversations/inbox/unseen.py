"""Answers that ended while their reader was elsewhere: marked when they end, until the session is opened."""

import logging

from channels.layers import get_channel_layer
from django.db.models import Exists, OuterRef, QuerySet

from conversations.groups import owner_group
from conversations.inbox.models import UnseenAnswer
from conversations.models import ChatSession
from ragsite.db import in_database

logger = logging.getLogger(__name__)


def mark(session_id: int) -> None:
    """Mark a session's newest answer as unseen."""
    UnseenAnswer.objects.bulk_create([UnseenAnswer(session_id=session_id)], ignore_conflicts=True)


def clear(session_id: int) -> bool:
    """Mark the answers of a session as seen; return whether one was not."""
    return UnseenAnswer.objects.filter(session_id=session_id).delete()[0] > 0


def clear_for_answer(message_id: int) -> None:
    """Mark the answers of a message's session as seen, for a program that has received the end of the message."""
    UnseenAnswer.objects.filter(session__turns__messages=message_id).delete()


def annotated(sessions: QuerySet[ChatSession]) -> QuerySet[ChatSession]:
    """Annotate sessions with `is_unseen`."""
    return sessions.annotate(is_unseen=Exists(UnseenAnswer.objects.filter(session=OuterRef("pk"))))


async def announce(owner_id: int, session_id: int, *, ended: bool) -> None:
    """Let the open pages of a user update a session in their list: an answer has `ended`, or has been seen."""
    message = {"type": "list.changed", "session_id": session_id, "ended": ended}
    try:
        await get_channel_layer().group_send(owner_group(owner_id), message)
    except Exception:  # exceptions differ between layers; the pages update their lists when they are shown again
        logger.warning("The end of an answer in session %d could not be announced", session_id, exc_info=True)


async def see(session: ChatSession) -> None:
    """Mark the answers of a session as seen, on all open pages of its owner."""
    if await in_database(clear, session.pk):
        await announce(session.owner_id, session.pk, ended=False)
