"""The files of a chat: documents in a knowledge base of the chat, which only its owner can read and search."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.core.files import File
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from conversations.groups import notify_pages
from conversations.models import ChatSession, Turn
from knowledge import services
from knowledge.many.moving import move
from knowledge.models import Document, KnowledgeBase
from knowledge.queries import with_chunk_count
from knowledge.services import AddedDocument, UploadRefused
from ragsite.exceptions import Refused

# More files belong in a knowledge base.
MOST_FILES = 50
SEARCHABLE = (Document.Status.CHUNKED, Document.Status.INDEXING, Document.Status.READY)


@dataclass(frozen=True, slots=True)
class Reading:
    """The files of a chat that can't be searched: those being processed, with their progress in %, and the failed."""

    unread: tuple[tuple[str, int], ...] = ()
    failed: tuple[str, ...] = ()


def files_of(session: ChatSession) -> QuerySet[Document]:
    """Return a chat's files in the order they were added; attachments of emails are left out."""
    if session.files_id is None:
        return Document.objects.none()
    found = Document.objects.filter(knowledge_base=session.files_id, knowledge_base__of_chat=True)
    return with_chunk_count(found.filter(is_attachment=False)).order_by("created_at", "pk")


def get_file(session: ChatSession, pk: int) -> Document:
    """Return one of a chat's files; raises `Http404`."""
    found = files_of(session).filter(pk=pk).first()
    if found is None:
        raise Http404(_("There is no such file in this chat."))
    return found


def check_room(session: ChatSession, more: int) -> None:
    """Raise `UploadRefused` if a chat has no room for this many more files."""
    if files_of(session).count() + more > MOST_FILES:
        message = _("A chat can have at most {most} files. Add more to a knowledge base instead.")
        raise UploadRefused("too_many", message.format(most=MOST_FILES))


def attach(user: Any, session: ChatSession, filename: str, file: "File[bytes]") -> AddedDocument:
    """Add a file to a chat and queue its processing; raises `UploadRefused`.

    A file with the same bytes is added only once, see `services.add_document`.
    """
    services.check_size(filename, file.size or 0)
    services.check_format(filename, file)  # before a base is created for it
    added = services.add_document(_base_of(session), user, filename, file)
    notify_pages(session.pk, "session.file", document_id=added.document.pk)
    return added


def remove(session: ChatSession, pk: int) -> None:
    """Delete a file of a chat; raises `Http404`."""
    services.delete_document(get_file(session, pk))
    notify_pages(session.pk, "session.file", document_id=pk)


def retry(session: ChatSession, pk: int) -> Document:
    """Process a file of a chat again; raises `Http404`."""
    services.reingest_document(get_file(session, pk))
    notify_pages(session.pk, "session.file", document_id=pk)
    return get_file(session, pk)


@transaction.atomic
def keep(session: ChatSession, pk: int, target: KnowledgeBase) -> Document:
    """Move a processed file of a chat to a base that the user may add to, and add it to the chat's scope if limited.

    Raises `Http404`, and `Refused`: "busy" while the file is being processed, "already_there" if the base has a file
    with the same bytes, "storage_full" if it exceeds the storage of the base's owner.
    """
    get_file(session, pk)
    document = Document.objects.select_for_update().get(pk=pk)
    refused = move([document], target)
    if "busy" in refused:
        raise Refused("busy", _("“{name}” is still being processed. Try again when it is ready.").format(
            name=document.name
        ))  # fmt: skip
    if "already_there" in refused:
        raise Refused("already_there", _("“{base}” already contains this file.").format(base=target.name))
    if "storage_full" in refused and (left := services.room(target.owner_id)) is not None:
        raise UploadRefused("storage_full", left.message.format(name=document.name))
    if session.documents.exists():
        session.documents.add(document)
    elif session.knowledge_bases.exists():
        session.knowledge_bases.add(target)
    notify_pages(session.pk, "session.scope")
    document.refresh_from_db()
    notify_pages(session.pk, "session.file", document_id=pk)
    return document


def reading_of(files_id: int, turn_id: int) -> Reading:
    """Return the files of a chat, including attachments of emails, that a turn can't search.

    Files that failed before the previous turn are left out, because that turn has reported them.
    """
    rows = Document.objects.filter(knowledge_base=files_id).exclude(status__in=SEARCHABLE)
    unread, failed = [], []
    for document in with_chunk_count(rows).order_by("created_at", "pk"):
        if document.status not in Document.UNFINISHED:
            failed.append(document)
        # A document whose scanned pages are missing is searchable, except while its passages are being replaced.
        elif not (document.reads_scans and bool(getattr(document, "chunk_count", 0))) or document.stage == "words":
            unread.append((document.name, document.progress))
    if failed:
        session = Turn.objects.filter(pk=turn_id).values("session")
        before = Turn.objects.filter(session__in=session, pk__lt=turn_id).order_by("-pk").first()
        if before is not None:
            failed = [each for each in failed if not each.finished_at or each.finished_at > before.created_at]
    return Reading(tuple(unread), tuple(document.name for document in failed))


def session_deleted(sender: Any, instance: ChatSession, **kwargs: Any) -> None:
    """Delete the files of a deleted chat."""
    if instance.files_id is None:
        return
    base = KnowledgeBase.objects.filter(pk=instance.files_id, of_chat=True).first()
    if base is not None:
        services.delete_knowledge_base(base)


def _base_of(session: ChatSession) -> KnowledgeBase:
    """Return the base of a chat's files, creating it if needed; raises `UploadRefused` if it is full."""
    with transaction.atomic():
        # Lock the session, so that only one of several simultaneous uploads creates the base.
        locked = ChatSession.objects.select_for_update().get(pk=session.pk)
        if locked.files is None:
            name = f"chat {uuid.uuid4()}"
            locked.files = KnowledgeBase.objects.create(owner_id=locked.owner_id, name=name, of_chat=True)
            locked.save(update_fields=["files"])
        session.files = locked.files
    check_room(session, 1)
    return locked.files
