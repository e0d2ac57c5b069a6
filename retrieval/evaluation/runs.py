"""Running a question set, in this process or in a worker."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from statistics import median
from typing import Any

from asgiref.sync import async_to_sync
from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django_q.tasks import async_task

from knowledge.access import Actor
from knowledge.ingestion.claims import Work, heartbeat, release_tasks
from knowledge.models import Chunk
from ragsite.llm.errors import LLMError
from ragsite.llm.reranking.reader import forget_readers, forget_readings
from ragsite.site_settings.config import refresh
from retrieval.answerability.reading import check
from retrieval.evaluation.answering import AnswererRefused, answerer
from retrieval.evaluation.executor import Asked, ask_all
from retrieval.evaluation.loading.references import SNIPPET, Reference, resolve
from retrieval.evaluation.metrics import Figures
from retrieval.evaluation.models import EvaluationQuestion, EvaluationResult, EvaluationRun, EvaluationSet, say
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.sets import SetRefused
from retrieval.types import SearchFailed

STALE_AFTER = timedelta(seconds=20)
MOST_UNFINISHED = 10
_BATCH = 500
_TASK = "retrieval.tasks.run_evaluation"
# Seconds that a run may take: models may answer slowly, and a heartbeat shows that the run is alive.
_TIMEOUT = 24 * 60 * 60

logger = logging.getLogger(__name__)


class RunFailed(Exception):
    """A run ended without figures; the message is shown to users."""


def start(evaluation_set: EvaluationSet, options: RunOptions, user: Actor) -> EvaluationRun:
    """Queue a run for a worker; if an identical one is unfinished, return that one.

    Raises `SetRefused` (no_questions, busy, and the codes of `AnswererRefused`).
    """
    fail_stalled()
    options = _settled(options, user)
    with transaction.atomic():
        EvaluationSet.objects.select_for_update().get(pk=evaluation_set.pk)
        unfinished = evaluation_set.runs.filter(status__in=EvaluationRun.UNFINISHED)
        same = unfinished.filter(settings=options.to_dict()).first()
        if same is not None:
            return same
        if not evaluation_set.questions.exists():
            raise SetRefused("no_questions", _("This set has no questions yet."))
        if unfinished.count() >= MOST_UNFINISHED:
            raise SetRefused(
                "busy",
                _("This set already has {n} unfinished runs. Wait until one has finished.").format(n=MOST_UNFINISHED),
            )
        run = _create(evaluation_set, options, user, EvaluationRun.Status.QUEUED)
        async_task(_TASK, run.pk, timeout=_TIMEOUT)
    return run


def run(
    evaluation_set: EvaluationSet,
    options: RunOptions,
    user: Actor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EvaluationRun:
    """Run a set in this process; `progress` is called with the number of questions done and the total.

    Raises `RunFailed` with the reason, which the stored run has too; or `SetRefused` as `start`, without storing a run.
    """
    made = _create(evaluation_set, _settled(options, user), user, EvaluationRun.Status.RUNNING)
    try:
        _work(made, progress)
    except (SearchFailed, AnswererRefused, LLMError) as error:
        _fail(made.pk, _words(error))
        raise RunFailed(str(error)) from error
    except BaseException as error:
        _fail(made.pk, str(error) if isinstance(error, RunFailed) else gettext_noop("The run was interrupted."))
        raise
    made.refresh_from_db()
    return made


def execute(run_id: int) -> bool:
    """Execute a queued run; return whether this call completed it with figures. This is the task boundary."""
    taken = EvaluationRun.objects.filter(pk=run_id, status=EvaluationRun.Status.QUEUED).update(
        status=EvaluationRun.Status.RUNNING, heartbeat_at=timezone.now()
    )
    if taken != 1:
        return False
    try:
        _work(EvaluationRun.objects.select_related("evaluation_set", "started_by").get(pk=run_id), None)
    except EvaluationRun.DoesNotExist:
        logger.info("Evaluation run %s was deleted while it was running", run_id)
        return False
    except (SearchFailed, AnswererRefused, RunFailed, LLMError) as error:
        _fail(run_id, _words(error))
        return False
    except DatabaseError:
        logger.exception("Evaluation run %s met a database error", run_id)
        _fail(run_id, gettext_noop("The database could not be reached or rejected the data. Retry in a moment."))
        return False
    except Exception as error:
        logger.exception("Evaluation run %s failed", run_id)
        _fail(run_id, f"unexpected.{type(error).__name__}")
        return False
    return True


def fail_stalled() -> int:
    """Fail the runs whose worker is gone, and return their number. Cheap if there are none."""
    stalled = EvaluationRun.objects.filter(
        status=EvaluationRun.Status.RUNNING, heartbeat_at__lt=timezone.now() - STALE_AFTER
    )
    return stalled.update(
        status=EvaluationRun.Status.FAILED,
        error=gettext_noop("The worker process stopped. Start the run again."),
        finished_at=timezone.now(),
    )


def worker_started(**kwargs: Any) -> None:
    """Clean up after killed workers: fail their runs and release their queued tasks."""
    try:
        fail_stalled()
        release_tasks(_TASK, EvaluationRun.objects.filter(status=EvaluationRun.Status.QUEUED))
    except DatabaseError:
        logger.warning("Could not look for queued evaluation runs", exc_info=True)


def _settled(options: RunOptions, user: Actor | None) -> RunOptions:
    """Return the options with the assistant's current version and name. Raises `SetRefused`."""
    if options.assistant is None:
        return options
    try:
        found = answerer().find(user, options.assistant, options.assistant_version, options.rehearsal)
    except AnswererRefused as refused:
        raise SetRefused(refused.code, str(refused)) from refused
    return replace(options, assistant_version=found.version, assistant_name=found.name)


def _create(
    evaluation_set: EvaluationSet, options: RunOptions, user: Actor | None, status: EvaluationRun.Status
) -> EvaluationRun:
    return EvaluationRun.objects.create(
        evaluation_set=evaluation_set,
        started_by_id=user.pk if user is not None else None,
        settings=options.to_dict(),
        status=status,
        heartbeat_at=timezone.now(),
    )


def _work(run: EvaluationRun, progress: Callable[[int, int], None] | None) -> None:
    """Ask the questions, score the answers and store the results.

    Raises `RunFailed`, `SearchFailed`, `AnswererRefused`, and `EvaluationRun.DoesNotExist` if the run was deleted.
    """
    asked, notes = _questions(run.evaluation_set)
    if not asked:
        raise RunFailed(" ".join(map(say, notes)) or _("This set has no questions yet."))
    if "assistant" in run.settings and not (run.started_by and run.started_by.is_active):
        raise RunFailed(
            _("The account that started this run is no longer active, so the assistant can't answer on its behalf.")
        )
    running = EvaluationRun.objects.filter(pk=run.pk, status=EvaluationRun.Status.RUNNING)
    on_trial = run.settings.get("reader_model")
    forget_readings()
    with heartbeat(Work(running)):
        refresh()
        try:
            if on_trial is not None:
                _check_reader(on_trial)
            outcomes = async_to_sync(ask_all)(run, asked, progress)
        finally:
            if on_trial is not None:
                forget_readers()
    if all(outcome.result.error for outcome in outcomes):
        raise RunFailed(outcomes[0].result.error)
    # Missed corpus passages are known only by their documents: add their chunks and texts.
    results = [outcome.result for outcome in outcomes]
    missed = [missed for result in results for missed in result.missed]
    ids = {item["document_id"] for item in missed if item["chunk_id"] is None}
    found = Chunk.objects.filter(document_id__in=ids, ordinal=0).exclude(document__external_id="")
    chunks = {chunk.document_id: chunk for chunk in found.only("document_id", "content")}
    for item in missed:
        if chunk := chunks.get(item["document_id"]):
            item |= {"chunk_id": chunk.pk, "snippet": chunk.content[:SNIPPET]}
    for note, n in Counter(note for outcome in outcomes for note in outcome.notes).items():
        notes.append({"code": "told", "note": note, "n": n})
    figures = Figures.mean([outcome.figures for outcome in outcomes])
    usage: dict[str, int] = {}
    if "assistant" in run.settings:
        used = Counter[str]()
        for result in results:
            used.update({name: count for name, count in result.usage.items() if name.endswith("_tokens")})
        usage = {**used, "median_ms": round(median(result.took_ms for result in results))}
    with transaction.atomic():
        ended = running.update(
            finished_at=timezone.now(),
            status=EvaluationRun.Status.DONE,
            progress=100,
            question_count=len(outcomes),
            notes=notes,
            figures=figures.to_dict(),
            usage=usage,
            answer_states=Counter(result.answer_state for result in results if result.answer_state),
        )
        if ended != 1:
            raise EvaluationRun.DoesNotExist
        EvaluationResult.objects.bulk_create(results, batch_size=_BATCH)


def _check_reader(model: str) -> None:
    """Raise `RunFailed` if a reader can't be run: otherwise its questions would be searched without a reader."""
    try:
        check(model)
    except LLMError as error:
        logger.warning("Could not load the reader %s for a trial: %s", model, error.details)
        raise RunFailed(gettext_noop("The reader on trial can't be loaded. See the log for details.")) from error


def _questions(evaluation_set: EvaluationSet) -> tuple[list[Asked], list[dict[str, Any]]]:
    """Return the questions that can be asked, with their current targets, and notes on targets that are gone."""
    questions = list(EvaluationQuestion.objects.filter(evaluation_set=evaluation_set).order_by("pk"))
    references = [tuple(map(Reference.from_dict, question.relevant)) for question in questions]
    targets = resolve(evaluation_set.knowledge_base_id, (each for group in references for each in group))
    asked = [
        Asked(question.key, question.text, found)
        for question, group in zip(questions, references, strict=True)
        if (found := [target for each in group if (target := targets[each]) is not None])
    ]
    notes: list[dict[str, Any]] = []
    if gone := sum(targets[each] is None for group in references for each in group):
        notes.append({"code": "gone", "n": gone})
    if skipped := len(questions) - len(asked):
        notes.append({"code": "skipped", "n": skipped})
    return asked, notes


def _words(error: Exception) -> str:
    """Return the message for the run's page, and log the details from a model's server."""
    if not isinstance(error, LLMError):
        return str(error)
    logger.warning("An evaluation run failed: %s %s", error.code, error.details)
    return error.message


def _fail(run_id: int, message: str) -> None:
    try:
        EvaluationRun.objects.filter(pk=run_id, status=EvaluationRun.Status.RUNNING).update(
            status=EvaluationRun.Status.FAILED, error=message, finished_at=timezone.now()
        )
    except DatabaseError:  # without a heartbeat, `fail_stalled` ends it
        logger.exception("The failure of evaluation run %s could not be stored", run_id)
