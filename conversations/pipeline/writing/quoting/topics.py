"""What can be asked: the names of the documents that a turn may search, with their first headings."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.pipeline.state import Request
from conversations.pipeline.understanding.scope import searchable
from conversations.pipeline.writing.blocks import escape_markdown
from knowledge.models import Chunk, Document

# The most documents named, the most headings of each, and the number of passages whose headings are looked at.
MAX_DOCUMENTS, MAX_HEADINGS, PASSAGES = 10, 4, 40
_SEARCHABLE = (Document.Status.CHUNKED, Document.Status.INDEXING, Document.Status.READY)


@dataclass(frozen=True, slots=True)
class Topics:
    """The names of the newest documents with their first headings, and the number of all documents."""

    documents: Sequence[tuple[str, Sequence[str]]]
    count: int


def topics_of(request: Request) -> Topics:
    """Look up what a turn may search. Makes a few database queries."""
    found = searchable(request).documents.filter(status__in=_SEARCHABLE)
    count = found.aggregate(count=Count("pk"))["count"]
    newest = list(found.order_by("-created_at", "-pk")[:MAX_DOCUMENTS])
    below: dict[int, dict[str, None]] = {document.pk: {} for document in newest}
    passages = Chunk.objects.filter(document__in=newest, ordinal__lt=PASSAGES).order_by("document_id", "ordinal")
    titles = {document.pk: document.name for document in newest}
    for pk, path in passages.values_list("document_id", "heading_path"):
        own = [part for part in path if part != titles[pk]]
        if own:
            below[pk].setdefault(own[0])
    return Topics([(titles[pk], list(headings)[:MAX_HEADINGS]) for pk, headings in below.items()], count)


def as_markdown(topics: Topics) -> str:
    """Return the list of documents, in the active language."""
    if not topics.count:
        return _("There is nothing to search. Add documents, or change the selection below.")
    lines = [_("You can ask about what these documents contain:"), ""]
    for title, headings in topics.documents:
        below = _(", ").join(map(escape_markdown, headings))
        lines.append(f"- **{escape_markdown(title)}**" + (_(": ") + below if below else ""))
    if rest := topics.count - len(topics.documents):
        more = ngettext("and %(count)d more document", "and %(count)d more documents", rest)
        lines.append("- " + more % {"count": rest})
    return "\n".join(lines)
