"""Access to conversations: checks shared by pages, API and WebSockets. Without access, the response is a 404."""

import uuid
from typing import Any

from django.db.models import F, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from conversations.models import ChatLabel, ChatSession, Message, SavedPrompt, ShareLink

# A trace shows the question of another user's chat, the steps of its answer and the messages sent to the model.
_OTHERS_TRACES = ("conversations.view_turn", "conversations.view_message", "conversations.view_tracestep")


def sessions(user: Any) -> QuerySet[ChatSession]:
    """Return the user's own sessions that are not deleted."""
    if not user.is_authenticated:
        return ChatSession.objects.none()
    return ChatSession.objects.filter(owner=user, status=ChatSession.Status.ACTIVE)


def get_session(user: Any, pk: int) -> ChatSession:
    """Return one of the user's sessions, with `own_instructions`, None if there are none; raises `Http404`."""
    session = sessions(user).filter(pk=pk).annotate(own_instructions=F("owner__own_instructions__text")).first()
    if session is None:
        raise Http404(_("There is no such chat."))
    return session


def labels(user: Any) -> QuerySet[ChatLabel]:
    """Return the user's own labels."""
    return ChatLabel.objects.filter(owner=user.pk)


def get_label(user: Any, pk: int) -> ChatLabel:
    """Return one of the user's labels; raises `Http404`."""
    label = labels(user).filter(pk=pk).first()
    if label is None:
        raise Http404(_("There is no such label."))
    return label


def saved_prompts(user: Any) -> QuerySet[SavedPrompt]:
    """Return the prompts that the user may insert into the composer: their own and the site's."""
    return SavedPrompt.objects.filter(Q(owner=user.pk) | Q(owner=None))


def get_saved_prompt(user: Any, pk: int) -> SavedPrompt:
    """Return a prompt that the user may change: their own, or the site's with permission; raises `Http404`."""
    prompt = saved_prompts(user).filter(pk=pk).first()
    if prompt is None or (prompt.owner_id is None and not may_share_prompts(user)):
        raise Http404(_("There is no such prompt."))
    return prompt


def may_share_prompts(user: Any) -> bool:
    """Return whether the user may create and change prompts for the whole site."""
    return bool(user.has_perm("conversations.change_savedprompt"))


def messages(user: Any) -> QuerySet[Message]:
    """Return the messages of the user's own sessions."""
    if not user.is_authenticated:
        return Message.objects.none()
    return Message.objects.filter(
        turn__session__owner=user, turn__session__status=ChatSession.Status.ACTIVE
    ).select_related("turn__session")


def traced_messages(user: Any) -> QuerySet[Message]:
    """Return the messages whose traces the user may see: their own, or all if they may view traces in the admin."""
    if not user.has_perms(_OTHERS_TRACES):
        return messages(user)
    return Message.objects.select_related("turn__session")


def may_see_pipeline(user: Any) -> bool:
    """Return whether the user may see how the site's answer pipeline is set up."""
    return bool(user.has_perm("conversations.view_modelprofile"))


def get_message(user: Any, pk: int, *, traced: bool = False) -> Message:
    """Return a message that the user may read, or with `traced`, whose trace they may see; raises `Http404`."""
    message = (traced_messages(user) if traced else messages(user)).filter(pk=pk).first()
    if message is None:
        raise Http404(_("There is no such message."))
    return message


def share_links(user: Any) -> QuerySet[ShareLink]:
    """Return the open links to the user's own sessions, newest first."""
    return open_links().filter(session__in=sessions(user)).order_by("-created_at")


def get_share_link(user: Any, pk: uuid.UUID) -> ShareLink:
    """Return one of the user's links; raises `Http404`."""
    link = share_links(user).filter(pk=pk).first()
    if link is None:
        raise Http404(_("There is no such link."))
    return link


def get_shared(pk: uuid.UUID) -> ShareLink:
    """Return a link that anyone may open; raises `Http404` once it is revoked or its chat is deleted."""
    link = open_links().filter(pk=pk).first()
    if link is None:
        raise Http404(_("This link is no longer valid."))
    return link


def open_links() -> QuerySet[ShareLink]:
    """Return the links that are not revoked, to sessions that are not deleted and whose owners are active."""
    return ShareLink.objects.filter(
        revoked_at=None, session__status=ChatSession.Status.ACTIVE, session__owner__is_active=True
    ).select_related("session__owner")
