"""Write access to knowledge bases, their members, and documents from upload to deletion."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import PurePath
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.tasks import async_task

from knowledge.access import Actor, key
from knowledge.explanations import explain
from knowledge.indexer import indexer
from knowledge.ingestion import claims, passages
from knowledge.labels import clean_metadata, clean_tags
from knowledge.models import Document, KnowledgeBase, Membership
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import OLE, check_name, format_of
from ragsite.audit.log import has_request, record
from ragsite.exceptions import Refused
from ragsite.limits import disk, use
from ragsite.models import AuditEntry
from ragsite.site_settings.config import config, refresh

_TASK = "knowledge.tasks.ingest_waiting"
# Tasks that need to be queued only once.
_CALLS = (_TASK, "knowledge.tasks.requeue_stalled")
_TASKS_LOOKED_AT = 50
_LONGEST_NAME = 255
_LONGEST_BASE_NAME = 120
_LONGEST_FOLDER = 500
# The maximum size in bytes of an upload form's data besides the files.
_MOST_AROUND_FILES = 256 * 1024
_UNKNOWN_TYPE = "application/octet-stream"
# Invisible characters that change how a file name is displayed.
_BIDI_CONTROLS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class UploadRefused(Refused):
    """A file was refused.

    Codes: too_large, storage_full (413), unsupported, missing_tool (415), disk_full (507), no_file.
    """


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """The document of an uploaded file: a new one, or an existing one with the same bytes."""

    document: Document
    already_here: bool


# --- Knowledge bases and members ------------------------------------------------------------------


def create_knowledge_base(owner: Actor, name: str, **fields: Any) -> KnowledgeBase:
    """Create a knowledge base; raises `Refused("name_taken")`."""
    try:
        with transaction.atomic():
            return KnowledgeBase.objects.create(owner_id=key(owner), name=name, **fields)
    except IntegrityError as error:
        raise _name_refused(error, name) from None


def update_knowledge_base(knowledge_base: KnowledgeBase, **fields: Any) -> KnowledgeBase:
    """Update the given fields; raises `Refused("name_taken")`. Chunk sizes apply from the next ingestion."""
    for field, value in fields.items():
        setattr(knowledge_base, field, value)
    try:
        with transaction.atomic():
            knowledge_base.save(update_fields=[*fields, "updated_at"])
    except IntegrityError as error:
        raise _name_refused(error, knowledge_base.name) from None
    return knowledge_base


def _name_refused(error: IntegrityError, name: str) -> Refused:
    if "knowledge_base_name_unique_per_owner" not in str(error):
        raise error
    return Refused("name_taken", _("You already have a knowledge base named “{name}”.").format(name=name))


def delete_knowledge_base(knowledge_base: KnowledgeBase) -> None:
    """Delete a knowledge base with its documents, their passages, pictures and files."""
    with transaction.atomic():
        documents = list(knowledge_base.documents.select_for_update().values_list("pk", "file"))
        indexer().remove([pk for pk, _name in documents])
        knowledge_base.delete()
        for pk, name in documents:
            transaction.on_commit(partial(passages.delete_files, pk, name))


def transfer_ownership(knowledge_base: KnowledgeBase, owner: Actor) -> None:
    """Transfer a base to another owner; if they have one with its name, the former owner's name is added to it."""
    before = knowledge_base.owner.get_username()
    name = knowledge_base.name
    number = 1
    with transaction.atomic():
        while KnowledgeBase.objects.filter(owner_id=key(owner), name=name).exists():
            suffix = f" ({before})" if number == 1 else f" ({before} {number})"
            name = knowledge_base.name[: _LONGEST_BASE_NAME - len(suffix)] + suffix
            number += 1
        Membership.objects.filter(knowledge_base=knowledge_base, user_id=key(owner)).delete()
        KnowledgeBase.objects.filter(pk=knowledge_base.pk).update(
            owner_id=key(owner), name=name, updated_at=timezone.now()
        )
        record(AuditEntry.Action.OWNER, knowledge_base, before=before, after=owner.get_username())


def set_member(knowledge_base: KnowledgeBase, username: str, role: str) -> Membership:
    """Share with the user of this name or e-mail address, or change their role.

    An unconfirmed address matches nobody, since it may be someone else's. Raises `Refused` (unknown_user, is_owner).
    """
    people = get_user_model().objects.filter(is_active=True)
    named = people.filter(username=username.strip())
    unconfirmed = EmailAddress.objects.filter(email__iexact=username.strip(), verified=False)
    found = named or people.filter(email__iexact=username.strip()).exclude(pk__in=unconfirmed.values("user"))[:2]
    user = found[0] if username.strip() and len(found) == 1 else None
    if user is None:
        raise Refused("unknown_user", _("There is no user “{name}”.").format(name=username.strip()))
    if user.pk == knowledge_base.owner_id:
        raise Refused("is_owner", _("The owner already has full access."))
    membership, _created = Membership.objects.update_or_create(
        knowledge_base=knowledge_base, user_id=user.pk, defaults={"role": role}
    )
    return membership


def set_group(knowledge_base: KnowledgeBase, name: str, role: str) -> Membership:
    """Share with the group of this name, or change its role; raises `Refused("unknown_group")`."""
    group = Group.objects.filter(name=name.strip()).first()
    if group is None:
        raise Refused("unknown_group", _("There is no group “{name}”.").format(name=name.strip()))
    membership, _created = Membership.objects.update_or_create(
        knowledge_base=knowledge_base, group=group, defaults={"role": role}
    )
    return membership


def remove_group(knowledge_base: KnowledgeBase, group_id: int) -> bool:
    """Stop sharing with a group; return whether it was shared with it."""
    deleted, _by_model = Membership.objects.filter(knowledge_base=knowledge_base, group_id=group_id).delete()
    return bool(deleted)


def remove_member(knowledge_base: KnowledgeBase, user_id: int) -> bool:
    """Stop sharing with a user; return whether it was shared with them."""
    deleted, _by_model = Membership.objects.filter(knowledge_base=knowledge_base, user_id=user_id).delete()
    return bool(deleted)


# --- Documents ------------------------------------------------------------------------------------


def add_document(
    knowledge_base: KnowledgeBase, user: Actor, filename: str, file: "File[bytes]", folder: str = "", **fields: Any
) -> AddedDocument:
    """Store a file and queue its ingestion; raises `UploadRefused` if it is too large or can't be read.

    `folder` is the path of the file's folder within the folder being added, with slashes; it distinguishes files of the
    same name. The same bytes are stored once per knowledge base: for them the existing document is returned, which is
    retried if it had failed or been cancelled. If such a document now has another name, it is read under that name and
    counts as new. `fields` are further fields of a new document: its clean `tags` and `metadata`.
    """
    check_size(filename, file.size or 0)
    check_format(filename, file)
    digest, called = _digest(file), _called(filename, folder)
    there = knowledge_base.documents.filter(sha256=digest).first()
    if there is None:
        document = Document(knowledge_base=knowledge_base, uploaded_by_id=user.pk, sha256=digest, **called, **fields)
        if _insert(document, file):
            return AddedDocument(document, already_here=False)
        there = knowledge_base.documents.get(sha256=digest)
    if there.is_attachment:  # from now on it is kept when its mail is deleted
        Document.objects.filter(pk=there.pk).update(is_attachment=False)
    if there.status not in (Document.Status.FAILED, Document.Status.CANCELLED):
        return AddedDocument(there, already_here=True)
    is_renamed = called["original_filename"] != there.original_filename
    queued = _queue_again(Document.objects.filter(pk=there.pk, status=there.status), **(called if is_renamed else {}))
    if queued:
        there.refresh_from_db()
    return AddedDocument(there, already_here=not (is_renamed and queued))


def check_size(filename: str, size: int) -> None:
    """Raise `UploadRefused` for a file above the site's limit, or too large for the disk; `size` in bytes."""
    refresh(older_than=1.0)
    if size > config.MAX_UPLOAD_MB * 1024 * 1024:
        message = _("“{name}” is larger than the {limit} MB that this site accepts.")
        raise UploadRefused("too_large", message.format(name=clean_filename(filename), limit=config.MAX_UPLOAD_MB))
    if not disk.has_room(size):
        raise UploadRefused("disk_full", disk.full_message())


def check_format(filename: str, file: "File[bytes] | None" = None) -> None:
    """Raise `UploadRefused` for a file that can't be read, according to its name and its first bytes."""
    head = b""
    if file is not None:
        head = file.read(len(OLE))
        file.seek(0)
    try:
        check_name(clean_filename(filename), head)
    except ParseError as error:
        raise UploadRefused(error.code, f"“{clean_filename(filename)}”: {explain(error.key, **error.params)}") from None


def add_attachment(mail: Document, name: str, file: "File[bytes]", written: list[str]) -> Document:
    """Return the document of an attached file, created and queued unless the base contains the same bytes.

    Call it in the transaction that locks the mail; the names of stored files are added to `written`.
    """
    digest = _digest(file)
    there = mail.knowledge_base.documents.filter(sha256=digest)
    if found := there.first():
        return found
    document = Document(
        knowledge_base=mail.knowledge_base,
        uploaded_by_id=mail.uploaded_by_id,
        sha256=digest,
        is_attachment=True,
        **_called(name, mail.path),
    )
    try:
        inserted = _insert(document, file)
    except UploadRefused:
        raise ParseError("too_large.storage") from None
    if not inserted:
        return there.get()
    written.append(str(document.file.name))
    return document


def remove_attachments(documents: Iterable[Document]) -> None:
    """Delete former attachments that were added only with mails, and are no longer attached to any mail."""
    delete_documents(each for each in documents if each.is_attachment and not each.carried_by.exists())


def clean_filename(filename: str) -> str:
    """Return a file's name without folders, control characters and direction overrides, at most 255 characters."""
    name = _visible(PurePath(filename.replace("\\", "/")).name).strip()
    if len(name) > _LONGEST_NAME:
        suffix = PurePath(name).suffix[:20]
        name = name[: _LONGEST_NAME - len(suffix)] + suffix
    return name or _("unnamed")


def _called(filename: str, folder: str) -> dict[str, Any]:
    """Return the fields of a document's name, folder and type; too long a folder is cut at its beginning."""
    parts = [_visible(part).strip() for part in folder.replace("\\", "/").split("/")]
    parts = [part for part in parts if part and part not in (".", "..")]
    while len("/".join(parts)) > _LONGEST_FOLDER:
        parts = parts[1:]
    name = clean_filename(filename)
    try:
        media_type = format_of(name).media_type
    except ParseError:
        media_type = _UNKNOWN_TYPE
    return {"original_filename": name, "folder": "/".join(parts), "media_type": media_type}


def _visible(text: str) -> str:
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs") and c not in _BIDI_CONTROLS)


def delete_document(document: Document) -> None:
    """Delete a document; see `delete_documents`."""
    delete_documents([document])


def delete_documents(documents: Iterable[Document]) -> None:
    """Delete documents with their passages, pictures, files and attachments; citations keep their snippets."""
    with transaction.atomic():
        wanted = Document.objects.filter(pk__in=[each.pk for each in documents]).order_by("pk")
        found = list(wanted.select_related("knowledge_base").select_for_update(of=("self",)))
        if not found:
            return
        pks = [each.pk for each in found]
        attached = list(Document.objects.filter(carried_by__mail__in=pks).exclude(pk__in=pks).distinct())
        indexer().remove(pks)  # all at once, since removing one takes as long as removing many
        for document in found:
            if has_request():
                record(AuditEntry.Action.DELETED, document, base=document.knowledge_base.name)
            transaction.on_commit(partial(passages.delete_files, document.pk, str(document.file.name)))
        wanted.order_by().delete()
        remove_attachments(attached)


def cancel_document(document: Document) -> bool:
    """Cancel a waiting or running ingestion and delete its passages; return whether there was one."""
    ended = {"stage": "", "finished_at": timezone.now(), "updated_at": timezone.now()}
    with transaction.atomic():
        rows = Document.objects.filter(pk=document.pk, status__in=Document.UNFINISHED)
        waiting = rows.filter(reads_scans=True, status__in=(Document.Status.QUEUED, Document.Status.PARSING))
        # If only the scanned pages are unread, the text read before is kept.
        if waiting.filter(chunks__isnull=False).update(status=Document.Status.READY, progress=100, **ended):
            return True
        cancelled = rows.update(status=Document.Status.CANCELLED, **ended)
        if cancelled:
            passages.delete_passages(document)
    return bool(cancelled)


def reingest_document(document: Document) -> bool:
    """Queue a finished document again; return False if it is already waiting or being read, or has no file.

    Its passages stay searchable until the new ones replace them.
    """
    return reingest_documents([document.pk])


def reingest_documents(pks: Iterable[int]) -> bool:
    """Queue those of the documents again that are finished and have a file; return whether there were any."""
    finished = (Document.Status.READY, Document.Status.FAILED, Document.Status.CANCELLED)
    return _queue_again(Document.objects.filter(pk__in=pks, status__in=finished))


def label(document: Document, tags: Iterable[str], metadata: Mapping[str, Any]) -> None:
    """Replace a document's tags and fields; raises `LabelError`."""
    document.tags, document.metadata = clean_tags(tags), clean_metadata(metadata)
    with transaction.atomic():
        document.save(update_fields=["tags", "metadata", "updated_at"])
        indexer().relabelled([document.knowledge_base_id])


@transaction.atomic
def requeue_or_fail_stale(document: Document, max_attempts: int) -> bool:
    """Requeue a document whose worker is dead, or fail it if that happened too often; return whether it is queued.

    A document that is already searchable by its words isn't read again.
    """
    rows = Document.objects.filter(
        pk=document.pk,
        status=document.status,
        started_at=document.started_at,
        heartbeat_at__lt=claims.stale_before(),
    )
    # While its worker stores it in a long transaction, its heartbeat can't be seen.
    if not rows.select_for_update(skip_locked=True).exists():
        return False
    if document.attempt < max_attempts:
        if document.status == Document.Status.PARSING:
            return _queue(rows)
        # If it is still among `rows`, its indexing continues as another attempt.
        requeued = rows.update(
            status=Document.Status.CHUNKED,
            started_at=None,
            heartbeat_at=None,
            attempt=F("attempt") + 1,
            updated_at=timezone.now(),
        )
        if requeued:
            wake_worker()
        return bool(requeued)
    rows.update(
        status=Document.Status.FAILED,
        error_code="worker_lost",
        error={"key": "worker_lost", "times": document.attempt},
        finished_at=timezone.now(),
        updated_at=timezone.now(),
    )
    return False


def queue_lost() -> int:
    """Wake a worker for documents that are waiting without a task, and return their number.

    A killed worker lost the task, or they were added while a worker was ending. `heartbeat_at` of a document waiting to
    be read is the time when it was queued.
    """
    lost = claims.waiting_to_be_read().filter(heartbeat_at__lt=claims.stale_before()) | claims.waiting_to_be_indexed()
    if not lost.exists():
        return 0
    with transaction.atomic():
        return lost.count() if wake_worker() else 0


def wake_worker() -> bool:
    """Queue the task that reads and indexes documents, unless one is waiting; return whether it was queued.

    Call it in the transaction that adds the work: a waiting task is locked, so that it starts after the commit.
    """
    waiting = OrmQ.objects.select_for_update(skip_locked=True).filter(lock__lte=timezone.now()).order_by("pk")
    if any(task.func() == _TASK for task in waiting[:_TASKS_LOOKED_AT]):
        return False
    async_task(_TASK)
    return True


def tidy_queue() -> int:
    """Delete queued tasks that are no longer needed, and return their number.

    A killed worker leaves its task in the queue, locked for as long as a task may take, and a schedule adds one a
    minute while all workers are busy. Of waiting tasks the first of each kind is kept. Tasks locked for long are done,
    or `queue_lost` queues them again; tasks without a lock time are never taken by a worker.
    """
    held_since = timezone.now() + timedelta(seconds=Conf.RETRY) - claims.STALE_AFTER
    kept: set[str] = set()
    gone: list[int] = []
    with transaction.atomic():
        for row in OrmQ.objects.select_for_update(skip_locked=True).order_by("pk"):
            if (call := row.func()) not in _CALLS:
                continue
            is_held = row.lock is not None and row.lock > timezone.now()
            if row.lock is None or (row.lock < held_since if is_held else call in kept):
                gone.append(row.pk)
            elif not is_held:
                kept.add(call)
        OrmQ.objects.filter(pk__in=gone).delete()
    return len(gone)


def _queue_again(rows: QuerySet[Document], **fields: Any) -> bool:
    """Queue documents as if they were new, if they are still among `rows` and have a file."""
    untried = {
        "attempt": 0,
        "reads_scans": False,
        "scanned_pages": 0,
        "error_code": "",
        "error": {},
        "started_at": None,
        "finished_at": None,
    }
    return _queue(rows.exclude(file=""), **untried, **fields)


def _queue(rows: Any, **fields: Any) -> bool:
    """Queue documents if they are still among `rows`; the task is stored in the same transaction."""
    now = timezone.now()
    with transaction.atomic():
        queued = rows.update(
            status=Document.Status.QUEUED, stage="", progress=0, heartbeat_at=now, updated_at=now, **fields
        )
        if queued:
            wake_worker()
    return bool(queued)


def _insert(document: Document, file: "File[bytes]") -> bool:
    """Store the file and the row, and queue it; return False if the same bytes were added meanwhile."""
    document.size, document.heartbeat_at = file.size or 0, timezone.now()
    file.seek(0)
    document.file.save(document.original_filename, file, save=False)
    try:
        with transaction.atomic():
            _take_room(document)
            document.save()
            wake_worker()
    except UploadRefused:
        default_storage.delete(str(document.file.name))
        raise
    except IntegrityError as error:
        default_storage.delete(str(document.file.name))
        if "document_bytes_unique_per_base" not in str(error):
            raise
        return False
    return True


def _take_room(document: Document) -> None:
    """Raise `UploadRefused("storage_full")` if a new document exceeds the storage of the base's owner."""
    owner = document.knowledge_base.owner_id
    if use.allowed(owner).storage is None:
        return
    use.hold_storage(owner)
    left = room(owner)
    if left is not None and document.size > left.size:
        raise UploadRefused("storage_full", left.message.format(name=document.original_filename))


def without_room(families: Sequence[Sequence[Document]], target: KnowledgeBase) -> list[Sequence[Document]]:
    """Return the families of documents to be moved to a base that, taken in order, exceed its owner's storage.

    The documents of a family come from one base and move together. Those that the target's owner already has in another
    base fit. Call it in a transaction, in which nobody else can then store documents of this owner.
    """
    bases = KnowledgeBase.objects.filter(pk__in={family[0].knowledge_base_id for family in families})
    others = set(bases.exclude(owner_id=target.owner_id).values_list("pk", flat=True))
    foreign = [family for family in families if family[0].knowledge_base_id in others]
    if not foreign or use.allowed(target.owner_id).storage is None:
        return []
    use.hold_storage(target.owner_id)
    left, refused = room(target.owner_id), list[Sequence[Document]]()
    size = left.size if left is not None else 0
    for family in foreign:
        needed = sum(each.size for each in family)
        if needed > size:
            refused.append(family)
        else:
            size -= needed
    return refused


@dataclass(frozen=True, slots=True)
class Room:
    """The bytes of documents that still fit into a knowledge base, and the message for a `{name}` that doesn't fit."""

    size: int
    message: str


def check_body(owner: int, length: int) -> None:
    """Raise `UploadRefused` if the files in a request's body of `length` bytes can't fit.

    A request is thus refused before its files are read. `owner` is the id of the base's owner.
    """
    if not disk.has_room(length):
        raise UploadRefused("disk_full", disk.full_message())
    left = room(owner)
    if left is not None and length - _MOST_AROUND_FILES > left.size:
        raise UploadRefused("storage_full", left.message.format(name=_("The upload")))


def room(owner: int) -> Room | None:
    """Return the storage left for the owner of knowledge bases, by id; None if it is unlimited."""
    limit = use.allowed(owner).storage
    if limit is None:
        return None
    taken = Document.objects.filter(knowledge_base__owner_id=owner).aggregate(size=Sum("size"))["size"] or 0
    message = _(
        "“{name}” doesn't fit: the owner of this knowledge base may store {limit} MB of documents and is using {taken} "
        "MB. Delete some, or ask an administrator of this site for more."
    )
    shown = {"limit": limit // use.MB, "taken": round(taken / use.MB, 1)}
    return Room(max(0, limit - taken), message.format(name="{name}", **shown))


def _digest(file: "File[bytes]") -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()
