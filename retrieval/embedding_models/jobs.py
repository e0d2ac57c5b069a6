"""Background jobs on embedding models: starting, reporting progress, stopping and resuming.

A task may take no longer than a document's, but a download or a switch of models can take hours. So an interrupted job
resumes where it stopped, and a long one puts itself back in the queue, so that documents get their turn.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django_q.tasks import async_task

from knowledge.ingestion.claims import Work, heartbeat, release_tasks
from ragsite.llm.embedding import hub, model_check, model_files
from ragsite.llm.embedding.embedding import get_embedder
from ragsite.llm.embedding.hub import HubFailed
from ragsite.llm.embedding.model_files import Progress, Refused
from ragsite.llm.errors import LLMError
from retrieval.embedding_models import registry, trial
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.embedding_models.registry import NotPossible
from retrieval.engine import reembedding
from retrieval.engine.partitions import Busy
from retrieval.engine.reembedding import AlreadyRunning
from retrieval.models import EmbeddingSpace
from retrieval.types import SearchFailed

STALE_AFTER = timedelta(seconds=20)
# Seconds after which a job goes back into the queue; at most half of a task's time limit.
ROUND_SECONDS = 600.0
_REPORT_SECONDS = 0.5
_TASK = "retrieval.tasks.run_model_job"
Kind, Status = ModelJob.Kind, ModelJob.Status
# Exceptions that end a job and whose message is shown to users.
FAILURES = (NotPossible, Refused, HubFailed, SearchFailed)

logger = logging.getLogger(__name__)


class _Paused(BaseException):
    """The job has used its time and goes back into the queue."""


class _Stopped(BaseException):
    """The job was stopped or deleted."""


def start(
    model: RegisteredModel, kind: str, user_id: int | None = None, details: dict[str, Any] | None = None
) -> ModelJob:
    """Queue a job on a model. Raises `NotPossible`, also if the model has an unfinished job."""
    fail_stalled()
    if kind == Kind.USE:
        registry.check_can_be_used(model)
    elif kind == Kind.TRY:
        registry.check_is_ready(model)
        trial.sets_to_ask(details or {})
    try:
        with transaction.atomic():
            job = ModelJob.objects.create(model=model, kind=kind, started_by_id=user_id, details=details or {})
            async_task(_TASK, job.pk)
    except IntegrityError:
        raise NotPossible(_("“{name}” already has a job in progress.").format(name=model.name)) from None
    return job


def go_on(job: ModelJob, user_id: int | None = None) -> ModelJob:
    """Resume a job that failed or was stopped, and return the new job. Raises `NotPossible`."""
    if job.is_unfinished:
        raise NotPossible(_("“{name}” already has a job in progress.").format(name=job.model.name))
    if not can_go_on(job):
        raise NotPossible(_("The uploaded file no longer exists. Add the model again."))
    if job.kind == Kind.ADD:
        RegisteredModel.objects.filter(pk=job.model_id, state=RegisteredModel.State.FAILED).update(
            state=RegisteredModel.State.NEW
        )
    return start(job.model, job.kind, user_id, job.details)


def can_go_on(job: ModelJob) -> bool:
    """Return whether a job that failed or was stopped can be resumed: not if its uploaded file is gone."""
    origin = job.kind != Kind.ADD or job.model.source != RegisteredModel.Source.FILES or "origin" in job.details
    return origin and job.status in (Status.FAILED, Status.STOPPED)


def stop(job: ModelJob) -> bool:
    """Stop a job as soon as possible; return whether it was unfinished."""
    ended = ModelJob.objects.filter(pk=job.pk, status__in=ModelJob.UNFINISHED).update(
        status=Status.STOPPED, finished_at=timezone.now()
    )
    if ended and job.kind == Kind.ADD:
        _unfinished_failed(job.model_id)
    return bool(ended)


def run(
    model: RegisteredModel, kind: str, progress: Progress, say: Callable[[str], None], details: dict[str, Any]
) -> dict[str, Any]:
    """Run a job in this process and return its results. Raises one of `FAILURES`, `LLMError`, or as `reembed`.

    `details` are those of the job: `origin` (a path) of an uploaded model, known `digests` of a downloaded one, `sets`
    (ids) for a trial. A trial writes its results into them as it goes on.
    """
    if kind == Kind.ADD:
        try:
            _add(model, progress, details)
        except Exception:
            _unfinished_failed(model.pk)
            raise
        return {}
    registry.check_is_ready(model)
    registry.check_files(model)
    if kind == Kind.TRY:
        return trial.run(model, progress, say, details)
    registry.check_can_be_used(model)
    reembedding.reembed(model.reached(), progress, say)
    registry.remove_gone()
    return {}


def execute(job_id: int) -> bool:
    """Run a queued job, or a part of it; return whether this call completed it. This is the task boundary."""
    taken = ModelJob.objects.filter(pk=job_id, status=Status.QUEUED).update(
        status=Status.RUNNING, heartbeat_at=timezone.now()
    )
    if taken != 1:
        return False
    job = ModelJob.objects.select_related("model").get(pk=job_id)
    report = _Report(job)
    try:
        with heartbeat(Work(ModelJob.objects.filter(pk=job_id, status=Status.RUNNING))):
            run(job.model, job.kind, report, report.say, job.details)
    except _Paused:
        with transaction.atomic():
            waiting = ModelJob.objects.filter(pk=job.pk, status=Status.RUNNING)
            if waiting.update(status=Status.QUEUED, details=job.details):
                async_task(_TASK, job.pk)
        return False
    except _Stopped:
        forget_upload(job)
        ModelJob.objects.filter(pk=job_id).update(details=job.details)
        return False
    except FAILURES as error:
        _fail(job, str(error))
    except LLMError as error:
        logger.warning("An embedding model job failed: %s %s", error.code, error.details)
        _fail(job, str(error))
    except AlreadyRunning:
        _fail(job, _("Another switch of models is in progress. Wait until it has finished."))
    except Busy:
        _fail(job, _("The database tables are too busy to be changed. Try again in a moment."))
    except DatabaseError:
        logger.exception("Job %s met a database error", job_id)
        _fail(job, _("The database could not be reached or rejected the data. Retry in a moment."))
    except Exception as error:
        logger.exception("Job %s failed", job_id)
        message = _("An unexpected error ({error}) occurred. Administrators can find the details in the log.")
        _fail(job, message.format(error=type(error).__name__))
    else:
        forget_upload(job)
        ended = ModelJob.objects.filter(pk=job_id, status=Status.RUNNING)
        return ended.update(status=Status.DONE, finished_at=timezone.now(), details=job.details) == 1
    return False


def fail_stalled() -> int:
    """Fail the jobs whose worker is gone, and return their number. Cheap if there are none."""
    stalled = ModelJob.objects.filter(status=Status.RUNNING, heartbeat_at__lt=timezone.now() - STALE_AFTER)
    for job in stalled:
        _fail(job, _("The worker process stopped. Start the job again to continue where it left off."))
    return len(stalled)


def worker_started() -> None:
    """Clean up after killed workers: fail their running jobs and release their queued tasks."""
    fail_stalled()
    release_tasks(_TASK, ModelJob.objects.filter(status=Status.QUEUED))
    fill_active_space()


def fill_active_space() -> bool:
    """Queue the job that fills the active space if its model came with a new version; return whether it was queued.

    A failed job is resumed; one that a user stopped is not. Cheap if there is nothing to do.
    """
    space = EmbeddingSpace.objects.filter(active=True, filled=False).first()
    if space is None:
        registry.remove_gone()
        return False
    fail_stalled()
    model = registry.find(space.model)
    last = model.jobs.first()
    if last is not None and (last.is_unfinished or last.status == Status.STOPPED):
        return False
    with suppress(NotPossible, IntegrityError):  # another process was first
        if last is None or last.kind != Kind.USE or last.status != Status.FAILED:
            start(model, Kind.USE)
            return True
        with transaction.atomic():  # reuses the job, so that repeated failures don't add rows
            waiting = ModelJob.objects.filter(pk=last.pk, status=Status.FAILED)
            if waiting.update(status=Status.QUEUED, error="", finished_at=None):
                async_task(_TASK, last.pk)
                return True
    return False


def _add(model: RegisteredModel, progress: Progress, details: dict[str, Any]) -> None:
    """Download, unpack or query a model, check it, and mark it as ready."""
    if model.source == RegisteredModel.Source.ENDPOINT:
        vector = get_embedder(replace(model.reached(), dimension=details.get("dimension"))).embed_query("ready")
        if len(vector) > model_check.MOST_DIMENSIONS:
            message = _("Its vectors have {n} dimensions; this site supports up to {most}.")
            raise Refused(message.format(n=len(vector), most=model_check.MOST_DIMENSIONS))
        model.dimension = len(vector)
        EmbeddingSpace.objects.filter(provider="openai", model=model.name).update(
            base_url=model.base_url,
            own_network=model.own_network,
            encrypted_key=model.encrypted_key,
            languages=model.languages,
        )
    else:
        if model.source == RegisteredModel.Source.HUB:
            staging, model.revision = hub.download(model.name, progress, details.get("digests"))
        else:
            staging = model_files.gather(Path(details["origin"]), model.name, progress)
        try:
            model.dimension = model_check.check(staging, model.name)
        except Refused:
            model_files.remove_staging(model.name)
            raise
        folder = model_files.install_checked_files(staging, model.name)
        model.digests, model.size = model_files.digests(folder), model_files.size_of(folder)
        model.license = model_files.licence_of(folder) or model.license
    model.state = RegisteredModel.State.READY
    model.save()


def _fail(job: ModelJob, message: str) -> None:
    forget_upload(job)
    try:
        failed = ModelJob.objects.filter(pk=job.pk, status=Status.RUNNING)
        ended = failed.update(status=Status.FAILED, error=message, details=job.details, finished_at=timezone.now())
        if ended and job.kind == Kind.ADD:
            _unfinished_failed(job.model_id)
    except DatabaseError:  # without a heartbeat, `fail_stalled` ends it
        logger.exception("The failure of job %s could not be stored", job.pk)


def _unfinished_failed(model_id: int) -> None:
    new = RegisteredModel.objects.filter(pk=model_id, state=RegisteredModel.State.NEW)
    new.update(state=RegisteredModel.State.FAILED)


def forget_upload(job: ModelJob) -> None:
    """Delete the file uploaded for a job, if any."""
    if job.details.pop("uploaded", False):
        Path(job.details.pop("origin")).unlink(missing_ok=True)


class _Report:
    """Stores a job's progress, at most twice a second; raises `_Stopped` or `_Paused` to end it early."""

    def __init__(self, job: ModelJob) -> None:
        self._job = job
        self._until = time.monotonic() + min(ROUND_SECONDS, settings.INGEST_TIMEOUT / 2)
        self._next = 0.0
        self._begins = job.kind == Kind.USE
        # Copying files can't be resumed.
        self._may_pause = job.kind != Kind.ADD or job.model.source == RegisteredModel.Source.HUB

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _REPORT_SECONDS
        running = ModelJob.objects.filter(pk=self._job.pk, status=Status.RUNNING)
        fields: dict[str, Any] = {"done": done, "total": total, "heartbeat_at": timezone.now()}
        if self._begins:  # see `ModelJob.seconds_left`
            self._begins = False
            self._job.details |= {"first": done, "began": fields["heartbeat_at"].isoformat()}
            fields["details"] = self._job.details
        if not running.update(**fields):
            raise _Stopped
        if self._may_pause and now > self._until:
            raise _Paused

    def say(self, line: str) -> None:
        """Log a step. A trial's steps are its question sets, each of which runs without a pause."""
        logger.info("%s: %s", self._job, line)
        if self._job.kind == Kind.TRY:
            if not self._may_pause and time.monotonic() > self._until:
                raise _Paused
            self._may_pause = False
