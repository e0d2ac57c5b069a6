"""Who may reach which conversation: page, API and socket all ask here. A stranger gets 404."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from conversations.models import ChatSession, Message


def sessions(user: Any) -> QuerySet[ChatSession]:
    """Return the user's own sessions that are not deleted."""
    if not user.is_authenticated:
        return ChatSession.objects.none()
    return ChatSession.objects.filter(owner=user, status=ChatSession.Status.ACTIVE)


def get_session(user: Any, pk: int) -> ChatSession:
    """Return one of the user's sessions; raises `Http404`."""
    session = sessions(user).filter(pk=pk).first()
    if session is None:
        raise Http404(_("There is no such chat."))
    return session


def messages(user: Any) -> QuerySet[Message]:
    """Return the messages of the user's own sessions."""
    if not user.is_authenticated:
        return Message.objects.none()
    return Message.objects.filter(
        turn__session__owner=user, turn__session__status=ChatSession.Status.ACTIVE
    ).select_related("turn__session")


def traced_messages(user: Any) -> QuerySet[Message]:
    """Return the messages whose trace the user may see: their own, and for staff all."""
    if not user.is_authenticated:
        return Message.objects.none()
    mine = Q() if user.is_staff else Q(turn__session__owner=user, turn__session__status=ChatSession.Status.ACTIVE)
    return Message.objects.filter(mine).select_related("turn__session")


def get_message(user: Any, pk: int, *, traced: bool = False) -> Message:
    """Return one message that the user may read (`traced`: whose trace they may read); raises `Http404`."""
    message = (traced_messages(user) if traced else messages(user)).filter(pk=pk).first()
    if message is None:
        raise Http404(_("There is no such message."))
    return message
