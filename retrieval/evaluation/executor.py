"""Asking the questions of a run, a few at a time, and recording the results."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from django.utils import timezone

from ragsite.db import in_database
from ragsite.site_settings.config import config
from retrieval.answerability.gate import judge_result
from retrieval.evaluation.answering import Answered, answerer
from retrieval.evaluation.loading.references import SNIPPET, Target
from retrieval.evaluation.metrics import Figures
from retrieval.evaluation.models import EvaluationResult, EvaluationRun
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.scoring import RANKS, is_by_document, score
from retrieval.search import search

# More would only compete for the same cores and database threads.
SIDE_BY_SIDE = 4
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to ask, with its targets."""

    key: str
    text: str
    targets: Sequence[Target]

    @property
    def depth(self) -> int:
        """The number of hits to ask for: more if documents are ranked, since many may be from the same one."""
        return max(RANKS, config.RETRIEVER_TOP_K) if is_by_document(self.targets) else RANKS


@dataclass(frozen=True, slots=True)
class Outcome:
    """The unsaved result of a question, its figures and its notes."""

    result: EvaluationResult
    figures: Figures
    notes: list[str]


async def ask_all(
    run: EvaluationRun, questions: Sequence[Asked], progress: Callable[[int, int], None] | None
) -> list[Outcome]:
    """Ask every question, `SIDE_BY_SIDE` at a time, and return their outcomes in order; updates the run's progress.

    For searches, the relevance gate judges the state of an answer from the hits; an assistant, which answers on behalf
    of the user who started the run, judges it itself.

    Raises `SearchFailed`, `AnswererRefused`, and `EvaluationRun.DoesNotExist` if the run was deleted or failed.
    """
    options = RunOptions.from_stored(run.settings)
    base_id = run.evaluation_set.knowledge_base_id
    report = _Report(run.pk, len(questions), progress)
    outcomes: list[Outcome | None] = [None] * len(questions)
    waiting = iter(enumerate(questions))
    by, asked_by = options.by, answerer()

    async def work() -> None:
        for index, question in waiting:
            if by is not None:
                answered = await asked_by.answer(run.started_by, question.text, [base_id], by)
                outcomes[index] = _outcome(run, question, answered, [answered.error] if answered.error else [])
            else:
                request = options.request(question.text, base_id, question.depth)
                result = await search(request)
                state = await judge_result(question.text, request, result)
                found = Answered(result.hits, answer_state=state, took_ms=result.took_ms)
                outcomes[index] = _outcome(run, question, found, result.notes)
            await report.one_more()

    tasks = [asyncio.create_task(work()) for _ in range(SIDE_BY_SIDE)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [outcome for outcome in outcomes if outcome is not None]


def _outcome(run: EvaluationRun, question: Asked, answered: Answered, notes: list[str]) -> Outcome:
    """Score the hits of a question."""
    scored = score(answered.hits, question.targets)
    kept = EvaluationResult(
        run=run,
        key=question.key,
        text=question.text,
        **asdict(scored.figures),
        answer_state=answered.answer_state,
        hits=[
            {
                "chunk_id": hit.chunk_id,
                "document_id": hit.document_id,
                "filename": hit.filename,
                "title": hit.title or hit.filename,
                "heading": hit.heading,
                "page": hit.page,
                "snippet": hit.content[:SNIPPET],
                "score": hit.score,
                "grade": grade,
            }
            for hit, grade in zip(answered.hits, scored.marks, strict=False)
        ],
        missed=[
            {
                "chunk_id": min(target.chunk_ids, default=None),
                "document_id": min(target.document_ids, default=None),
                "filename": target.filename,
                "snippet": target.snippet,
                "grade": target.reference.grade,
            }
            for target in scored.missed
        ],
        took_ms=answered.took_ms,
        answer=answered.answer,
        citations=answered.citations,
        error=answered.error,
        usage=answered.usage,
    )
    return Outcome(kept, scored.figures, notes)


class _Report:
    """Reports a run's progress: to the caller after every question, to the database at most twice a second."""

    def __init__(self, run_id: int, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._run_id = run_id
        self._total = total
        self._progress = progress
        self._done = 0
        self._stored_at = time.monotonic()
        self._in_order = asyncio.Lock()  # otherwise a later thread may report first

    async def one_more(self) -> None:
        async with self._in_order:
            self._done += 1
            if self._progress is not None:
                await in_database(self._progress, self._done, self._total)  # it may write to the database
            if time.monotonic() - self._stored_at >= _REPORT_SECONDS:
                self._stored_at = time.monotonic()
                await in_database(self._store, 100 * self._done // self._total)

    def _store(self, percent: int) -> None:
        running = EvaluationRun.objects.filter(pk=self._run_id, status=EvaluationRun.Status.RUNNING)
        if running.update(progress=percent, heartbeat_at=timezone.now()) != 1:
            raise EvaluationRun.DoesNotExist
