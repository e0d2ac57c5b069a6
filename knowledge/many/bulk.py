"""Bulk actions on documents of a base: a few at once, more by a worker, batch by batch.

A batch is one transaction, which also stores the job's progress: each document is processed completely or not at all,
and a job whose worker was killed continues where it stopped.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy
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

# Up to this many documents are processed within the request.
AT_ONCE = 50
BATCH = 50
MOST = 200_000  # documents of one job
_NAMES_SHOWN = 10
_TASK = "knowledge.tasks.run_bulk_job"
Action = BulkJob.Action
# Documents that were left unchanged or need a message, by the code of the reason.
Outcome = dict[str, list[Document]]
# The messages for these reasons; `number` chooses the plural form.
REASONS: dict[str, Any] = {
    "busy": ngettext_lazy(
        "%(count)s document is still being read: %(names)s. Try again when it is finished.",
        "%(count)s documents are still being read: %(names)s. Try again when they are finished.",
        "number",
    ),
    "storage_full": ngettext_lazy(
        "%(count)s document stays here because the other knowledge base's owner has too little storage: %(names)s.",
        "%(count)s documents stay here because the other knowledge base's owner has too little storage: %(names)s.",
        "number",
    ),
    "already_there": ngettext_lazy(
        "%(count)s document stays here because the other knowledge base already has the same file: %(names)s.",
        "%(count)s documents stay here because the other knowledge base already has the same files: %(names)s.",
        "number",
    ),
    "with_mail": ngettext_lazy(
        "%(count)s attachment stays here with its mail: %(names)s.",
        "%(count)s attachments stay here with their mails: %(names)s.",
        "number",
    ),
    "same_name": ngettext_lazy(
        "%(count)s document was moved, but the other knowledge base has another one with the same name: %(names)s.",
        "%(count)s documents were moved, but the other knowledge base has others with the same names: %(names)s.",
        "number",
    ),
    "not_failed": ngettext_lazy(
        "%(count)s document had not failed: %(names)s.", "%(count)s documents had not failed: %(names)s.", "number"
    ),
    "not_retryable": ngettext_lazy(
        "%(count)s document would fail again because of the file itself: %(names)s.",
        "%(count)s documents would fail again because of the files themselves: %(names)s.",
        "number",
    ),
    "no_file": ngettext_lazy(
        "%(count)s document has no file to read again: %(names)s.",
        "%(count)s documents have no file to read again: %(names)s.",
        "number",
    ),
    "too_many": ngettext_lazy(
        "%(count)s document would have too many tags or fields: %(names)s.",
        "%(count)s documents would have too many tags or fields: %(names)s.",
        "number",
    ),
    "gone": ngettext_lazy(
        "%(count)s document is no longer in this knowledge base.",
        "%(count)s documents are no longer in this knowledge base.",
        "number",
    ),
}
# Why a job ended early, by its stored code, which may be followed by a dot and the name of an exception.
ERRORS: dict[str, Promise] = {
    "rights": gettext_lazy("You are no longer allowed to change these documents. Changes made so far are kept."),
    "unexpected": gettext_lazy("An unexpected error occurred ({error}). Changes made so far are kept."),
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
    """Change documents of a base that the user may edit, or queue the job if there are many.

    `action` is one of `BulkJob.Action`: "move" needs a `target` that the user may edit too, "tag" and "untag" need
    `tags`, and "describe" needs `metadata`: fields to set, or to remove if the value is None. A job without documents
    is done at once. Raises `Refused` (nothing, too_many, no_target, same_base) and `LabelError`.
    """
    if len(document_ids) > MOST:
        raise Refused("too_many", _("At most {most} documents can be changed at once.").format(most=f"{MOST:,}"))
    if action == Action.MOVE:
        if target is None:
            raise Refused("no_target", _("Choose the knowledge base to move them to."))
        if target.pk == knowledge_base.pk:
            raise Refused("same_base", _("They are already in this knowledge base."))
    cleaned, fields = clean_tags(tags), dict(metadata or {})
    if action in (Action.TAG, Action.UNTAG) and not cleaned:
        raise Refused("nothing", _("Enter a tag."))
    if action == Action.DESCRIBE:
        clean_metadata({name: value for name, value in fields.items() if value is not None})
        if not fields:
            raise Refused("nothing", _("Enter a field."))
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
    """Finish a job; return whether this call finished it. Called as a task, so it logs and stores errors."""
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
        logger.exception("Bulk job %s failed", job_id)
        code = f"unexpected.{type(error).__name__}"
        waiting.update(status=BulkJob.Status.FAILED, error=code, finished_at=timezone.now())
        return False
    return True


def error_of(job: BulkJob) -> str:
    """Return why a job ended early, in the reader's language; older jobs stored the message itself."""
    code, _dot, name = job.error.partition(".")
    return str(ERRORS[code]).format(error=name) if code in ERRORS else job.error


def resume_stalled() -> int:
    """Requeue jobs whose worker is dead, and release those whose task was lost; return the number of the former."""
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
    """Process the next documents of a job; return whether there are more."""
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
    outcome = _ACTIONS[job.action](job, documents)
    stay = {each.pk for code, those in outcome.items() if code != "same_name" for each in those}
    along = Document.objects.filter(pk__in=wanted, is_attachment=True, knowledge_base=job.target_id)
    went = along.exclude(pk__in=[each.pk for each in documents]).count()  # with their mails, in an earlier batch
    job.changed += sum(each.pk not in stay for each in documents) + went
    for code, those in outcome.items():
        _add_reason(job, code, [each.path for each in those])
    _add_reason(job, "gone", [""] * (len(wanted) - len(documents) - went))
    job.done += len(wanted)
    job.heartbeat_at = timezone.now()
    if job.done >= job.total:
        job.status, job.finished_at = BulkJob.Status.DONE, job.heartbeat_at
    job.save(update_fields=["changed", "told", "done", "heartbeat_at", "status", "finished_at"])
    return job.done < job.total


def _add_reason(job: BulkJob, code: str, names: Sequence[str]) -> None:
    if names:
        entry = job.told.setdefault(code, {"count": 0, "names": []})
        entry["count"] += len(names)
        entry["names"] = [*entry["names"], *filter(None, names)][:_NAMES_SHOWN]


def _retry(job: BulkJob, documents: Sequence[Document]) -> Outcome:
    outcome: Outcome = {}
    failed = (Document.Status.FAILED, Document.Status.CANCELLED)
    for each in documents:
        if each.status in Document.UNFINISHED:
            outcome.setdefault("busy", []).append(each)
        elif each.status not in failed:
            outcome.setdefault("not_failed", []).append(each)
        elif not each.may_retry:
            outcome.setdefault("not_retryable", []).append(each)
    services.reingest_documents(_others(documents, outcome))
    return outcome


def _reingest(job: BulkJob, documents: Sequence[Document]) -> Outcome:
    outcome: Outcome = {}
    for each in documents:
        if each.status in Document.UNFINISHED:
            outcome.setdefault("busy", []).append(each)
        elif not each.file:
            outcome.setdefault("no_file", []).append(each)
    services.reingest_documents(_others(documents, outcome))
    return outcome


def _delete(job: BulkJob, documents: Sequence[Document]) -> Outcome:
    services.delete_documents(documents)
    return {}


def _move(job: BulkJob, documents: Sequence[Document]) -> Outcome:
    assert job.target is not None
    return move(documents, job.target, later=job.document_ids[job.done + BATCH :])


def _tag(job: BulkJob, documents: Sequence[Document]) -> Outcome:
    def tags(document: Document) -> list[str]:
        return list({tag.casefold(): tag for tag in (*reversed(job.tags), *reversed(document.tags))}.values())[::-1]

    def tagged(document: Document) -> None:
        document.tags = tags(document)

    return _labelled(job, documents, tagged, lambda each: len(tags(each)) > MOST_TAGS)


def _untag(job: BulkJob, documents: Sequence[Document]) -> Outcome:
    gone = {tag.casefold() for tag in job.tags}

    def untagged(document: Document) -> None:
        document.tags = [tag for tag in document.tags if tag.casefold() not in gone]

    return _labelled(job, documents, untagged, lambda each: False)


def _describe(job: BulkJob, documents: Sequence[Document]) -> Outcome:
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
) -> Outcome:
    too_many = [each for each in documents if is_too_much(each)]
    changed = [each for each in documents if each not in too_many]
    now = timezone.now()
    for each in changed:
        change(each)
        each.updated_at = now
    Document.objects.bulk_update(changed, ["tags", "metadata", "updated_at"])
    indexer().relabelled([job.knowledge_base_id])
    return {"too_many": too_many} if too_many else {}


def _others(documents: Sequence[Document], outcome: Outcome) -> list[int]:
    stay = {each.pk for those in outcome.values() for each in those}
    return [each.pk for each in documents if each.pk not in stay]


_ACTIONS: dict[str, Callable[[BulkJob, Sequence[Document]], Outcome]] = {
    Action.RETRY: _retry,
    Action.REINGEST: _reingest,
    Action.DELETE: _delete,
    Action.MOVE: _move,
    Action.TAG: _tag,
    Action.UNTAG: _untag,
    Action.DESCRIBE: _describe,
}
