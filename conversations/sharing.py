"""Links by which anyone may read a branch of a chat, until its owner revokes them.

A link shows questions, answers and the quoted passages up to the turn at which it was made. What is asked later, other
branches, thinking, traces, pictures and the documents themselves stay the owner's.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from conversations import markdown, queries
from conversations.answer_page import AnswerPage
from conversations.models import ChatSession, Message, ShareLink


class NothingToShare(Exception):
    """The session has no turn yet, or not the one that was named."""


@dataclass
class SharedAnswer(AnswerPage):
    """An answer as strangers see it: its sources are the quotations below it, its pictures only their captions."""

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
    return [SharedAnswer.of(view) for view in queries.views(link.session, tree, tree.path(link.last_turn_id))]
