"""One thing done to many documents of a base: a few at once, more by a worker, batch by batch.

A batch is one transaction, in which the job says how far it is: each document is dealt with as a whole, or not at all,
and a job whose worker was killed goes on where it was.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_q.tasks import async_task

from knowledge import access, services
from knowledge.access import Actor
from knowledge.indexer import indexer
from knowledge.ingestion.claims import release_tasks, stale_before
from knowledge.labels import MOST_FIELDS, MOST_TAGS, clean_metadata, clean_tags
from knowledge.many.moving import move
from knowledge.models import BulkJob, Document, KnowledgeBase
from ragsite.audit.log import record
from ragsite.exceptions import Refused
from ragsite.models import AuditEntry

logger = logging.getLogger(__name__)

# Up to so many are dealt with while the person waits.
AT_ONCE = 50
BATCH = 50
MOST = 200_000  # documents of one job
_NAMES_TOLD = 10
_TASK = "knowledge.tasks.run_bulk_job"
Action = BulkJob.Action
Told = dict[str, list[Document]]

# Why documents stayed as they were, or what more is to tell of them; `{count}` of them.
REASONS: dict[str, Promise] = {
    "busy": gettext_lazy("being worked on; try again when they have ended"),
    "storage_full": gettext_lazy("stay here: they are more than the other knowledge base's owner may store"),
    "already_there": gettext_lazy("stay here: the other knowledge base has the same bytes already"),
    "with_mail": gettext_lazy("stay here with the mail that they came with"),
    "same_name": gettext_lazy("moved, and the other knowledge base has others of the same name"),
    "not_failed": gettext_lazy("had not failed"),
    "not_retryable": gettext_lazy("would fail again: the reason lies in the file itself"),
    "no_file": gettext_lazy("have no file to read again"),
    "too_many": gettext_lazy("would have too many tags or fields"),
    "gone": gettext_lazy("are no longer in this knowledge base"),
}
# Why a job ended before its time, by the code that is stored with it; after a dot, that of the error's class.
ERRORS: dict[str, Promise] = {
    "rights": gettext_lazy("You may no longer change these documents; what is done stays done."),
    "unexpected": gettext_lazy("An unexpected error ({error}) ended this; what is done stays done."),
}


def start(
    user: Actor,
    knowledge_base: KnowledgeBase,
    action: str,
    document_ids: Sequence[int],
    *,
    target: KnowledgeBase | None = None,
    tags: Iterable[str] = (),
    metadata: dict[str, Any] | None = None,
) -> BulkJob:
    """Do something to documents of a base that the user may change, or queue it where they are many.

    `action` is one of `BulkJob.Action`: "move" needs a `target` that the user may change too, "tag" and "untag" need
    `tags`, and "describe" `metadata`: fields to set, or to remove where the value is None. Without documents the job is
    done. Raises `Refused` (nothing, too_many, no_target, same_base), `LabelError`.
    """
    if len(document_ids) > MOST:
        raise Refused("too_many", _("At most {most} documents are taken at once.").format(most=f"{MOST:,}"))
    if action == Action.MOVE:
        if target is None:
            raise Refused("no_target", _("Say to which knowledge base they are to be moved."))
        if target.pk == knowledge_base.pk:
            raise Refused("same_base", _("They are in this knowledge base already."))
    cleaned, fields = clean_tags(tags), dict(metadata or {})
    if action in (Action.TAG, Action.UNTAG) and not cleaned:
        raise Refused("nothing", _("Name a tag."))
    if action == Action.DESCRIBE:
        clean_metadata({name: value for name, value in fields.items() if value is not None})
        if not fields:
            raise Refused("nothing", _("Name a field."))
    ids = sorted(set(document_ids))
    with transaction.atomic():
        job = BulkJob.objects.create(
            knowledge_base=knowledge_base,
            user_id=access.key(user),
            action=action,
            target=target if action == Action.MOVE else None,
            tags=cleaned,
            metadata=fields,
            document_ids=ids,
            total=len(ids),
        )
        record(AuditEntry.Action.BULK, knowledge_base, what=action, documents=job.total)
        if job.total > AT_ONCE:
            async_task(_TASK, job.pk)
    if job.total <= AT_ONCE:
        run(job.pk)
    job.refresh_from_db()
    return job


def run(job_id: int) -> bool:
    """Do what is left of a job; return whether this call ended it. This is the task boundary."""
    now = timezone.now()
    waiting = BulkJob.objects.filter(pk=job_id)
    taken = waiting.filter(status=BulkJob.Status.QUEUED) | waiting.filter(
        status=BulkJob.Status.RUNNING, heartbeat_at__lt=stale_before()
    )
    if taken.update(status=BulkJob.Status.RUNNING, heartbeat_at=now) != 1:
        return False
    try:
        ids = waiting.values_list("document_ids", flat=True).get()
        while _batch(job_id, ids):
            pass
    except Exception as error:
        logger.exception("Bulk job %s ended", job_id)
        code = f"unexpected.{type(error).__name__}"
        waiting.update(status=BulkJob.Status.FAILED, error=code, finished_at=timezone.now())
        return False
    return True


def error_of(job: BulkJob) -> str:
    """Return why a job ended before its time, in the reader's language; older jobs kept the words themselves."""
    code, _dot, name = job.error.partition(".")
    return str(ERRORS[code]).format(error=name) if code in ERRORS else job.error


def resume_stalled() -> int:
    """Queue again the jobs whose worker is gone, and those whose task was lost; return their number."""
    release_tasks(_TASK, BulkJob.objects.filter(status=BulkJob.Status.QUEUED))
    stalled = BulkJob.objects.filter(status=BulkJob.Status.RUNNING, heartbeat_at__lt=stale_before())
    pks = list(stalled.values_list("pk", flat=True))
    for pk in pks:
        with transaction.atomic():
            if stalled.filter(pk=pk).update(status=BulkJob.Status.QUEUED, heartbeat_at=None):
                async_task(_TASK, pk)
    return len(pks)


@transaction.atomic
def _batch(job_id: int, ids: Sequence[int]) -> bool:
    """Deal with the next documents of a job; return whether there are more."""
    job = BulkJob.objects.defer("document_ids").select_related("user", "target").select_for_update(of=("self",)).get(
        pk=job_id
    )  # fmt: skip
    bases = [job.knowledge_base_id] + ([job.target_id] if job.target_id else [])
    if access.editable(job.user).filter(pk__in=bases).count() != len(bases):
        job.status, job.finished_at = BulkJob.Status.FAILED, timezone.now()
        job.error = "rights"
        job.save(update_fields=["status", "error", "finished_at"])
        return False
    wanted = ids[job.done : job.done + BATCH]
    found = Document.objects.select_for_update().filter(pk__in=wanted, knowledge_base=job.knowledge_base_id)
    documents = list(found.order_by("pk"))
    told = _ACTIONS[job.action](job, documents)
    stay = {each.pk for code, those in told.items() if code != "same_name" for each in those}
    along = Document.objects.filter(pk__in=wanted, is_attachment=True, knowledge_base=job.target_id)
    went = along.exclude(pk__in=[each.pk for each in documents]).count()  # with their mails, in a batch before
    job.changed += sum(each.pk not in stay for each in documents) + went
    for code, those in told.items():
        _tell(job, code, [each.path for each in those])
    _tell(job, "gone", [""] * (len(wanted) - len(documents) - went))
    job.done += len(wanted)
    job.heartbeat_at = timezone.now()
    if job.done >= job.total:
        job.status, job.finished_at = BulkJob.Status.DONE, job.heartbeat_at
    job.save(update_fields=["changed", "told", "done", "heartbeat_at", "status", "finished_at"])
    return job.done < job.total


def _tell(job: BulkJob, code: str, names: Sequence[str]) -> None:
    if names:
        entry = job.told.setdefault(code, {"count": 0, "names": []})
        entry["count"] += len(names)
        entry["names"] = [*entry["names"], *filter(None, names)][:_NAMES_TOLD]


def _retry(job: BulkJob, documents: Sequence[Document]) -> Told:
    told: Told = {}
    failed = (Document.Status.FAILED, Document.Status.CANCELLED)
    for each in documents:
        if each.status in Document.UNFINISHED:
            told.setdefault("busy", []).append(each)
        elif each.status not in failed:
            told.setdefault("not_failed", []).append(each)
        elif not each.may_retry:
            told.setdefault("not_retryable", []).append(each)
    services.reingest_documents(_others(documents, told))
    return told


def _reingest(job: BulkJob, documents: Sequence[Document]) -> Told:
    told: Told = {}
    for each in documents:
        if each.status in Document.UNFINISHED:
            told.setdefault("busy", []).append(each)
        elif not each.file:
            told.setdefault("no_file", []).append(each)
    services.reingest_documents(_others(documents, told))
    return told


def _delete(job: BulkJob, documents: Sequence[Document]) -> Told:
    services.delete_documents(documents)
    return {}


def _move(job: BulkJob, documents: Sequence[Document]) -> Told:
    assert job.target is not None
    return move(documents, job.target, later=job.document_ids[job.done + BATCH :])


def _tag(job: BulkJob, documents: Sequence[Document]) -> Told:
    def tags(document: Document) -> list[str]:
        return list({tag.casefold(): tag for tag in (*reversed(job.tags), *reversed(document.tags))}.values())[::-1]

    def tagged(document: Document) -> None:
        document.tags = tags(document)

    return _labelled(job, documents, tagged, lambda each: len(tags(each)) > MOST_TAGS)


def _untag(job: BulkJob, documents: Sequence[Document]) -> Told:
    gone = {tag.casefold() for tag in job.tags}

    def untagged(document: Document) -> None:
        document.tags = [tag for tag in document.tags if tag.casefold() not in gone]

    return _labelled(job, documents, untagged, lambda each: False)


def _describe(job: BulkJob, documents: Sequence[Document]) -> Told:
    def fields(document: Document) -> dict[str, Any]:
        return {name: value for name, value in (document.metadata | job.metadata).items() if value is not None}

    def described(document: Document) -> None:
        document.metadata = fields(document)

    return _labelled(job, documents, described, lambda each: len(fields(each)) > MOST_FIELDS)


def _labelled(
    job: BulkJob,
    documents: Sequence[Document],
    change: Callable[[Document], None],
    is_too_much: Callable[[Document], bool],
) -> Told:
    too_many = [each for each in documents if is_too_much(each)]
    changed = [each for each in documents if each not in too_many]
    now = timezone.now()
    for each in changed:
        change(each)
        each.updated_at = now
    Document.objects.bulk_update(changed, ["tags", "metadata", "updated_at"])
    indexer().relabelled([job.knowledge_base_id])
    return {"too_many": too_many} if too_many else {}


def _others(documents: Sequence[Document], told: Told) -> list[int]:
    stay = {each.pk for those in told.values() for each in those}
    return [each.pk for each in documents if each.pk not in stay]


_ACTIONS: dict[str, Callable[[BulkJob, Sequence[Document]], Told]] = {
    Action.RETRY: _retry,
    Action.REINGEST: _reingest,
    Action.DELETE: _delete,
    Action.MOVE: _move,
    Action.TAG: _tag,
    Action.UNTAG: _untag,
    Action.DESCRIBE: _describe,
}
