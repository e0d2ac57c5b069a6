"""Answers of a shared branch, as anonymous visitors see them."""

from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.html import format_html
from django.utils.safestring import SafeString

from conversations import queries
from conversations.models import Message, ShareLink
from conversations.rendering import markdown
from conversations.rendering.answer import AnswerPage
from conversations.sharing import withheld


@dataclass
class SharedAnswer(AnswerPage):
    """An answer on a shared page: its sources are the quotations below it, and images become their captions."""

    offers_choices: ClassVar[bool] = False

    # The number of cited sources that are left out.
    withheld: int = 0

    def withhold(self, readable: set[int]) -> None:
        """Leave out content based on any other documents than the given ones."""
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
        """A description of what is left out; empty if nothing is."""
        return withheld.note(self.withheld)

    @property
    def unfounded(self) -> bool:
        """Whether documents were searched, but the answer never cited one."""
        return not self.withheld and super().unfounded

    def citation_url(self, number: int) -> str:
        """Return the anchor of the quotation on the same page."""
        return f"#{self.id}-source-{number}"

    def block_html(self, block: dict[str, Any], context: markdown.Context) -> SafeString:
        """Return a block; for an image, its caption."""
        if block["kind"] != "image":
            return super().block_html(block, context)
        return format_html('<p class="block muted">[{}]</p>', block["alt"]) if block["alt"] else SafeString("")

    @property
    def whole(self) -> bool:
        """Whether the answer is complete."""
        return self.answer.status == Message.Status.COMPLETED


def shared_answers(link: ShareLink) -> list[SharedAnswer]:
    """Return the answers that a link shows, oldest first."""
    tree = queries.tree(link.session)
    pages = [SharedAnswer.of(view) for view in queries.views(link.session, tree, tree.path(link.last_turn_id))]
    named = [item["document_id"] for page in pages for item in page.answer.citations]
    readable = withheld.readable_documents(link.session.owner, named)
    for page in pages:
        page.withhold(readable)
    return pages
