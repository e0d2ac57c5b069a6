"""Work on models in the background: queued for a worker, told of as it goes on, stopped, and gone on with.

A task may take no longer than a document, and a download or a change of model takes hours at times. So a job that is
cut off anywhere goes on where it was when it is begun again; and one that takes long puts itself back in the queue,
where documents get their turn.
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
# Seconds after which a job goes back into the queue; never more than half of what a task may take.
ROUND_SECONDS = 600.0
_REPORT_SECONDS = 0.5
_TASK = "retrieval.tasks.run_model_job"
Kind, Status = ModelJob.Kind, ModelJob.Status
# What ends a job with a reason that a person is told as it is.
FAILURES = (NotPossible, Refused, HubFailed, SearchFailed)

logger = logging.getLogger(__name__)


class _Paused(BaseException):
    """The job has had its time, and goes back into the queue."""


class _Stopped(BaseException):
    """Somebody stopped or deleted the job."""


def start(
    model: RegisteredModel, kind: str, user_id: int | None = None, details: dict[str, Any] | None = None
) -> ModelJob:
    """Queue work on a model for a worker. Raises `NotPossible`, also when something is done with it already."""
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
        raise NotPossible(_("“{name}” is already being worked on.").format(name=model.name)) from None
    return job


def go_on(job: ModelJob, user_id: int | None = None) -> ModelJob:
    """Begin again what failed or was stopped, where it was; the new job. Raises `NotPossible`."""
    if job.is_unfinished:
        raise NotPossible(_("“{name}” is already being worked on.").format(name=job.model.name))
    if not can_go_on(job):
        raise NotPossible(_("The file is gone: add the model again."))
    if job.kind == Kind.ADD:
        RegisteredModel.objects.filter(pk=job.model_id, state=RegisteredModel.State.FAILED).update(
            state=RegisteredModel.State.NEW
        )
    return start(job.model, job.kind, user_id, job.details)


def can_go_on(job: ModelJob) -> bool:
    """Whether a job that failed or was stopped can be begun again: not without the file that was brought."""
    origin = job.kind != Kind.ADD or job.model.source != RegisteredModel.Source.FILES or "origin" in job.details
    return origin and job.status in (Status.FAILED, Status.STOPPED)


def stop(job: ModelJob) -> bool:
    """Have a job end as soon as it can; return whether it was going on."""
    ended = ModelJob.objects.filter(pk=job.pk, status__in=ModelJob.UNFINISHED).update(
        status=Status.STOPPED, finished_at=timezone.now()
    )
    if ended and job.kind == Kind.ADD:
        _unfinished_failed(job.model_id)
    return bool(ended)


def run(
    model: RegisteredModel, kind: str, progress: Progress, say: Callable[[str], None], details: dict[str, Any]
) -> dict[str, Any]:
    """Do the work here and now; return what came of it. Raises one of `FAILURES`, `LLMError`, or what changes do.

    `details` are those of the job: `origin` (a path) of a model that is brought, `digests` that are known of one that
    is downloaded, `sets` (ids) that a trial asks. What a trial has found is written into them as it goes on.
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
    """Do a queued job, or a part of it; return whether this call did it as a whole. This is the task boundary."""
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
        logger.warning("Work on an embedding model failed: %s %s", error.code, error.details)
        _fail(job, str(error))
    except AlreadyRunning:
        _fail(job, _("Another change of model is under way; wait for it."))
    except Busy:
        _fail(job, _("The tables are too busy to be changed. Try again in a moment."))
    except DatabaseError:
        logger.exception("Job %s met a database error", job_id)
        _fail(job, _("The database could not be reached or rejected the data. Retry in a moment."))
    except Exception as error:
        logger.exception("Job %s failed", job_id)
        message = _("An unexpected error ({error}) ended this. An administrator finds the details in the log.")
        _fail(job, message.format(error=type(error).__name__))
    else:
        forget_upload(job)
        ended = ModelJob.objects.filter(pk=job_id, status=Status.RUNNING)
        return ended.update(status=Status.DONE, finished_at=timezone.now(), details=job.details) == 1
    return False


def fail_stalled() -> int:
    """End the jobs whose worker is gone, and return their number. Cheap when there are none."""
    stalled = ModelJob.objects.filter(status=Status.RUNNING, heartbeat_at__lt=timezone.now() - STALE_AFTER)
    for job in stalled:
        _fail(job, _("The process that worked on this was stopped. Start it again; it goes on where it was."))
    return len(stalled)


def worker_started() -> None:
    """Look after what killed workers left behind: end what they did, and offer again what they had taken."""
    fail_stalled()
    release_tasks(_TASK, ModelJob.objects.filter(status=Status.QUEUED))
    fill_active_space()


def fill_active_space() -> bool:
    """Queue what fills the space in use, where its model came with a new version of the site; return whether it was.

    What failed is begun again, where it was; what a person stopped is not. Cheap when there is nothing to do.
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
        with transaction.atomic():  # the same job, lest one that fails each time leaves a row each time
            waiting = ModelJob.objects.filter(pk=last.pk, status=Status.FAILED)
            if waiting.update(status=Status.QUEUED, error="", finished_at=None):
                async_task(_TASK, last.pk)
                return True
    return False


def _add(model: RegisteredModel, progress: Progress, details: dict[str, Any]) -> None:
    """Fetch, unpack or ask a model, check it, and have it ready."""
    if model.source == RegisteredModel.Source.ENDPOINT:
        vector = get_embedder(replace(model.reached(), dimension=details.get("dimension"))).embed_query("ready")
        if len(vector) > model_check.MOST_DIMENSIONS:
            message = _("Its vectors have {n} numbers; this site takes up to {most}.")
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
    except DatabaseError:  # it stays without a heartbeat, and is ended by `fail_stalled`
        logger.exception("The failure of job %s could not be stored", job.pk)


def _unfinished_failed(model_id: int) -> None:
    new = RegisteredModel.objects.filter(pk=model_id, state=RegisteredModel.State.NEW)
    new.update(state=RegisteredModel.State.FAILED)


def forget_upload(job: ModelJob) -> None:
    """Delete the file that was uploaded for a job, if one was."""
    if job.details.pop("uploaded", False):
        Path(job.details.pop("origin")).unlink(missing_ok=True)


class _Report:
    """Tells how far a job is, at most twice a second; raises what ends it early."""

    def __init__(self, job: ModelJob) -> None:
        self._job = job
        self._until = time.monotonic() + min(ROUND_SECONDS, settings.INGEST_TIMEOUT / 2)
        self._next = 0.0
        self._begins = job.kind == Kind.USE
        # Copying files doesn't go on where it was.
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
        """Take note of a step, which the log tells. A trial's are its sets, each of which is asked as a whole."""
        logger.info("%s: %s", self._job, line)
        if self._job.kind == Kind.TRY:
            if not self._may_pause and time.monotonic() > self._until:
                raise _Paused
            self._may_pause = False
