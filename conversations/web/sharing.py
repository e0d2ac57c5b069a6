"""Links by which anyone may read a branch of a chat, until its owner revokes them.

A link shows questions, answers and the quoted passages up to the turn at which it was made. What is asked later, other
branches, thinking, traces, pictures and the documents themselves stay the owner's. What rests on a document that is
deleted, or that the chat's owner may not read any more, is left out; the owner of a knowledge base can close links that
quote it.
"""

import uuid
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from conversations import access, queries
from conversations.models import ChatSession, Citation, Message, ShareLink, Turn
from conversations.turn_tree import TurnTree
from conversations.web import markdown, withheld
from conversations.web.answer import AnswerPage
from knowledge import access as knowledge_access
from knowledge.models import KnowledgeBase


class NothingToShare(Exception):
    """The session has no turn yet, or not the one that was named."""


@dataclass
class SharedAnswer(AnswerPage):
    """An answer as strangers see it: its sources are the quotations below it, its pictures only their captions."""

    # How many of the sources that it names are left out.
    withheld: int = 0

    def withhold(self, readable: set[int]) -> None:
        """Leave out what rests on other documents than some."""
        answer, cited = self.answer, self._cited_numbers
        sources = {item["index"] for item in answer.citations}
        gone = {item["index"] for item in answer.citations if item["document_id"] not in readable}
        if not gone:
            return
        answer.citations = [item for item in answer.citations if item["index"] not in gone]
        answer.blocks = withheld.remaining_blocks(answer.blocks, sources, gone)
        answer.checks = withheld.remaining_checks(answer.checks, gone)
        self.withheld = len(gone & (cited or gone))

    @property
    def note(self) -> str:
        """What is left out, in words; empty when nothing is."""
        return withheld.note(self.withheld)

    @property
    def unfounded(self) -> bool:
        """Whether the documents were asked, and the answer never named one of them."""
        return not self.withheld and super().unfounded

    def citation_url(self, number: int) -> str:
        """Return where the quotation stands on the same page."""
        return f"#{self.id}-source-{number}"

    def block_html(self, block: dict[str, Any], context: markdown.Context) -> SafeString:
        """Return a block; of a picture its caption."""
        if block["kind"] != "image":
            return super().block_html(block, context)
        return format_html('<p class="block muted">[{}]</p>', block["alt"]) if block["alt"] else SafeString("")

    @property
    def whole(self) -> bool:
        """Whether the answer came to its end."""
        return self.answer.status == Message.Status.COMPLETED


@transaction.atomic
def create_link(session: ChatSession, last_turn_id: int | None = None) -> ShareLink:
    """Share a branch up to a turn, by default that of the newest; raises `NothingToShare`.

    The link that a turn has is returned again.
    """
    ChatSession.objects.select_for_update().get(pk=session.pk)
    tree = queries.tree(session)
    turn_id = last_turn_id if last_turn_id is not None else next(reversed(tree.branch()), None)
    if turn_id not in tree.parent:
        raise NothingToShare
    existing = ShareLink.objects.filter(session=session, last_turn_id=turn_id, revoked_at=None).first()
    return existing or ShareLink.objects.create(session=session, last_turn_id=turn_id)


def revoke(link: ShareLink) -> None:
    """Close a link for good."""
    ShareLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())


def shared_answers(link: ShareLink) -> list[SharedAnswer]:
    """Return what a link shows, oldest first."""
    tree = queries.tree(link.session)
    pages = [SharedAnswer.of(view) for view in queries.views(link.session, tree, tree.path(link.last_turn_id))]
    named = [item["document_id"] for page in pages for item in page.answer.citations]
    readable = withheld.readable_documents(link.session.owner, named)
    for page in pages:
        page.withhold(readable)
    return pages


@dataclass(frozen=True, slots=True)
class QuotingLink:
    """An open link that quotes a knowledge base: who made it, how often it quotes, and from which documents."""

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
