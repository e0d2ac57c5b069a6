"""The files of a chat: documents in a base of the chat's own, which only its owner reads and nothing else searches."""

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

# More belong into a knowledge base.
MOST_FILES = 50
SEARCHABLE = (Document.Status.CHUNKED, Document.Status.INDEXING, Document.Status.READY)


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a chat's files are: those still to be read, with the percentages reached, and those that can't be."""

    unread: tuple[tuple[str, int], ...] = ()
    failed: tuple[str, ...] = ()


def files_of(session: ChatSession) -> QuerySet[Document]:
    """Return a chat's files, in the order in which they were put in; what came with a mail goes with the mail."""
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
    """Raise `UploadRefused` where a chat has no room for so many more files."""
    if files_of(session).count() + more > MOST_FILES:
        message = _("A chat takes {most} files at most. Put more into a knowledge base.")
        raise UploadRefused("too_many", message.format(most=MOST_FILES))


def attach(user: Any, session: ChatSession, filename: str, file: "File[bytes]") -> AddedDocument:
    """Put a file into a chat and queue its reading; raises `UploadRefused`.

    The same bytes are in a chat once, see `services.add_document`.
    """
    services.check_size(filename, file.size or 0)
    services.check_format(filename, file)  # before a base is made for it
    added = services.add_document(_base_of(session), user, filename, file)
    notify_pages(session.pk, "session.file", document_id=added.document.pk)
    return added


def remove(session: ChatSession, pk: int) -> None:
    """Take a file out of a chat, for good; raises `Http404`."""
    services.delete_document(get_file(session, pk))
    notify_pages(session.pk, "session.file", document_id=pk)


def retry(session: ChatSession, pk: int) -> Document:
    """Read a file of a chat anew; raises `Http404`."""
    services.reingest_document(get_file(session, pk))
    notify_pages(session.pk, "session.file", document_id=pk)
    return get_file(session, pk)


@transaction.atomic
def keep(session: ChatSession, pk: int, target: KnowledgeBase) -> Document:
    """Move a file of a chat into a base that the user may add to, as it is; where the chat asks some only, it is added.

    Raises `Http404`, and `Refused`: "busy" while it is being read, "already_there" where the base has these bytes,
    "storage_full" where it is more than the base's owner may store.
    """
    get_file(session, pk)
    document = Document.objects.select_for_update().get(pk=pk)
    told = move([document], target)
    if "busy" in told:
        raise Refused("busy", _("“{name}” is still being read. It can be kept when it is ready.").format(
            name=document.name
        ))  # fmt: skip
    if "already_there" in told:
        raise Refused("already_there", _("“{base}” holds this file already.").format(base=target.name))
    if "storage_full" in told and (left := services.room(target.owner_id)) is not None:
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
    """Return how far the files of a chat are, of mails what they carry, too: as a turn is to be told.

    What failed before the turn that came before it, has been told.
    """
    rows = Document.objects.filter(knowledge_base=files_id).exclude(status__in=SEARCHABLE)
    unread, failed = [], []
    for document in with_chunk_count(rows).order_by("created_at", "pk"):
        if document.status not in Document.UNFINISHED:
            failed.append(document)
        elif not getattr(document, "chunk_count", 0):  # else its scanned pages are read, and its words are found
            unread.append((document.name, document.progress))
    if failed:
        session = Turn.objects.filter(pk=turn_id).values("session")
        before = Turn.objects.filter(session__in=session, pk__lt=turn_id).order_by("-pk").first()
        if before is not None:
            failed = [each for each in failed if not each.finished_at or each.finished_at > before.created_at]
    return Reading(tuple(unread), tuple(document.name for document in failed))


def session_deleted(sender: Any, instance: ChatSession, **kwargs: Any) -> None:
    """Remove the files of a chat that is removed."""
    if instance.files_id is None:
        return
    base = KnowledgeBase.objects.filter(pk=instance.files_id, of_chat=True).first()
    if base is not None:
        services.delete_knowledge_base(base)


def _base_of(session: ChatSession) -> KnowledgeBase:
    """Return the base of a chat's files, made where there is none; raises `UploadRefused` where it is full."""
    with transaction.atomic():
        held = ChatSession.objects.select_for_update().get(
            pk=session.pk
        )  # of files that come at once, the first makes it
        if held.files is None:
            held.files = KnowledgeBase.objects.create(owner_id=held.owner_id, name=f"chat {uuid.uuid4()}", of_chat=True)
            held.save(update_fields=["files"])
        session.files = held.files
    check_room(session, 1)
    return held.files
