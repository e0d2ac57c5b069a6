"""Turns the attachments of mails into documents, within limits that keep a mail from creating too many of them."""

from collections.abc import Sequence
from pathlib import Path

from django.core.files import File

from knowledge import services
from knowledge.models import Attachment, Document
from knowledge.parsing import elements
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import OLE, check_name, extension_of, find_format
from ragsite.site_settings.config import config

MOST_DEEP = 4  # levels of mails attached to mails
MOST_IN_ALL = 300  # documents made from one uploaded mail, including those from mails attached to it


def replace(mail: Document, found: Sequence[elements.Attachment], folder: Path, written: list[str]) -> None:
    """Create documents from the attachments that a parse found in a mail, replacing those of an earlier parse.

    Call it in the transaction that locks the mail. For an attachment that can't become a document, the name and the
    reason are stored. The names of stored files are added to `written`.
    """
    before = list(Document.objects.filter(carried_by__mail=mail).distinct())
    if not found and not before:
        return
    mail.attachments.all().delete()
    depth, room = _bounds(mail)
    for item in found:
        row = Attachment(mail=mail, name=services.clean_filename(item.name), size=item.size)
        path = (folder / item.path).resolve()
        try:
            if not path.is_relative_to(folder.resolve()) or not path.is_file():
                raise ParseError("missing")
            if depth >= MOST_DEEP:
                raise ParseError("too_many_attachments.nested", most=MOST_DEEP)
            if room <= 0:
                raise ParseError("too_many_attachments", most=MOST_IN_ALL)
            if item.size > config.MAX_UPLOAD_MB * 1024**2:
                raise ParseError("too_large.attachment", limit=config.MAX_UPLOAD_MB)
            if not item.size:
                raise ParseError("empty")
            if find_format(extension_of(row.name)) is None:
                raise ParseError("unsupported.attachment", kind=Path(row.name).suffix or row.name)
            with path.open("rb") as file:
                check_name(row.name, file.read(len(OLE)))
                file.seek(0)
                row.document = services.add_attachment(mail, row.name, File(file, name=row.name), written)
            room -= 1
        except ParseError as error:
            row.error = {"key": error.key, **error.params}
        row.save()
    services.remove_attachments(before)


def _bounds(mail: Document) -> tuple[int, int]:
    """Return how deep a mail is nested in other mails, and how many more documents the outermost may create."""
    depth, top = 0, {mail.pk}
    while depth < MOST_DEEP:
        above = set(Attachment.objects.filter(document__in=top).values_list("mail", flat=True))
        if not above:
            break
        depth, top = depth + 1, above
    known, below = set(top), top
    for _ in range(MOST_DEEP):
        rows = Attachment.objects.filter(mail__in=below, document__isnull=False).values_list("document", flat=True)
        below = set(rows) - known
        known |= below
    return depth, MOST_IN_ALL - len(known - top)
