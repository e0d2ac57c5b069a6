"""Saving an answer as a document of a knowledge base: question, answer and sources, as Markdown."""

from typing import Any

from django.core.files.base import ContentFile
from django.http import Http404
from django.urls import reverse
from django.utils.text import Truncator, slugify
from django.utils.translation import gettext as _

from conversations import queries
from conversations.models import Message
from conversations.pipeline.writing.blocks import escape_markdown
from conversations.sharing import export, withheld
from knowledge.access import Actor
from knowledge.models import KnowledgeBase
from knowledge.services import AddedDocument, add_document
from ragsite.exceptions import Refused

_LONGEST_TITLE = 120


def save_note(user: Actor, message: Message, base: KnowledgeBase, site: str) -> AddedDocument:
    """Add an answer to a base that the user may add to; it is processed like any other file.

    `site` is `https://` and host, for links to the sources. Content based on documents that the user may no longer read
    is left out. Raises `Refused` if nothing is left, or the file can't be stored, and `Http404` for a question.
    """
    view: Any = queries.turn_view(message.turn.session, message.turn_id)
    if view is None or message.role == Message.Role.USER:
        raise Http404
    if view.answer.status == Message.Status.STREAMING:
        raise Refused("not_finished", _("This answer is still being written."))
    readable = withheld.readable_documents(user, [source.document_id for source in view.citations])
    view.citations = withheld.take_out(view.answer, view.citations, readable)
    addresses = {
        source.index: f"{site}{reverse('document', args=[source.document_id])}"
        for source in view.citations
        if source.document_id
    }
    answer = export.answer(view, site, addresses)
    if not answer.strip():
        raise Refused("nothing_came", _("This answer is empty, so there is nothing to save."))
    question = " ".join(view.question.content.split())
    title = Truncator(question).chars(_LONGEST_TITLE)
    asked = "" if title == question else f"> {escape_markdown(question)}\n\n"
    text = f"# {escape_markdown(title)}\n\n{asked}{answer}\n"
    name = slugify(question, allow_unicode=True)[:60].strip("-") or "note"
    return add_document(base, user, f"{name}.md", ContentFile(text.encode(), f"{name}.md"))
