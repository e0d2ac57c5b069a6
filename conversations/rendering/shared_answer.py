"""Answers of a shared branch, as strangers see them."""

from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from conversations import queries
from conversations.models import Message, ShareLink
from conversations.rendering import markdown
from conversations.rendering.answer import AnswerPage
from conversations.sharing import withheld


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


def shared_answers(link: ShareLink) -> list[SharedAnswer]:
    """Return what a link shows, oldest first."""
    tree = queries.tree(link.session)
    pages = [SharedAnswer.of(view) for view in queries.views(link.session, tree, tree.path(link.last_turn_id))]
    named = [item["document_id"] for page in pages for item in page.answer.citations]
    readable = withheld.readable_documents(link.session.owner, named)
    for page in pages:
        page.withhold(readable)
    return pages
