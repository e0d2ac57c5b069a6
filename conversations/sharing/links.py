"""Links that let anyone read a branch of a chat until they are revoked.

A link shows the questions, answers and quoted passages up to the turn for which it was created. Later turns, other
branches, thinking, traces, pictures and the documents themselves are not shared. Content based on documents that the
owner of the chat may no longer read is left out; the owner of a knowledge base can revoke links that quote it.
"""

import uuid
from collections import defaultdict
from dataclasses import dataclass

from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from conversations import access, queries
from conversations.models import ChatSession, Citation, ShareLink, Turn
from conversations.turn_tree import TurnTree
from knowledge import access as knowledge_access
from knowledge.models import KnowledgeBase
from ragsite.audit.log import record
from ragsite.models import AuditEntry


class NothingToShare(Exception):
    """The session has no turns, or not the requested one."""


@transaction.atomic
def create_link(session: ChatSession, last_turn_id: int | None = None) -> ShareLink:
    """Create a link to a branch up to a turn, by default the newest, or return the turn's open link.

    Raises `NothingToShare`.
    """
    ChatSession.objects.select_for_update().get(pk=session.pk)
    tree = queries.tree(session)
    turn_id = last_turn_id if last_turn_id is not None else next(reversed(tree.branch()), None)
    if turn_id not in tree.parent:
        raise NothingToShare
    existing = ShareLink.objects.filter(session=session, last_turn_id=turn_id, revoked_at=None).first()
    if existing is not None:
        return existing
    made = ShareLink.objects.create(session=session, last_turn_id=turn_id)
    record(AuditEntry.Action.LINK_MADE, session, name=f"#{session.pk}")
    return made


def revoke(link: ShareLink) -> None:
    """Revoke a link permanently."""
    if ShareLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record(AuditEntry.Action.LINK_REVOKED, link.session, name=f"#{link.session_id}")


@dataclass(frozen=True, slots=True)
class QuotingLink:
    """An open link that quotes a knowledge base, with the number of quotations and the documents' titles."""

    link: ShareLink
    quotations: int
    documents: list[str]


def links_quoting(base: KnowledgeBase) -> list[QuotingLink]:
    """Return the open links that quote passages of a base, newest first, in three queries."""
    cited = Citation.objects.filter(cited=True, document__knowledge_base=base)
    links = list(
        access.open_links()
        .filter(session__owner__in=knowledge_access.readers(base))
        .filter(session__in=cited.values("message__turn__session_id"))
        .order_by("-created_at")
    )
    turns: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
    rows = Turn.objects.filter(session__in={link.session_id for link in links}).order_by("created_at", "id")
    for session_id, turn_id, parent_id in rows.values_list("session_id", "id", "parent_turn_id"):
        turns[session_id].append((turn_id, parent_id))
    titles: dict[int, list[str]] = defaultdict(list)
    for turn_id, title, filename in cited.filter(message__turn__session__in=turns).values_list(
        "message__turn_id", "title", "filename"
    ):
        titles[turn_id].append(title or filename)
    found = []
    for link in links:
        quoted = [title for turn in TurnTree(turns[link.session_id]).path(link.last_turn_id) for title in titles[turn]]
        if quoted:
            found.append(QuotingLink(link, len(quoted), list(dict.fromkeys(quoted))))
    return found


def get_link_quoting(base: KnowledgeBase, pk: uuid.UUID) -> ShareLink:
    """Return an open link that quotes a base; raises `Http404`."""
    found = next((item.link for item in links_quoting(base) if item.link.pk == pk), None)
    if found is None:
        raise Http404(_("There is no such link."))
    return found
