"""Trying a reader: running question sets with the site's settings and with the other reader, for comparison."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Aggregate, Exists, FloatField, OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from ragsite.llm.embedding.model_files import Progress
from retrieval.evaluation import runs
from retrieval.evaluation.access import visible_sets
from retrieval.evaluation.models import EvaluationQuestion, EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.readers.registry import KnownReader, NoSuchReader, State, find
from retrieval.types import AnswerState

FIGURES = ("nDCG@10", "recall@5", "MRR@10")
# Number of trials on the page, the newest.
SHOWN = 10


class Median(Aggregate):
    """The median, as an aggregate of PostgreSQL."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of a run and its change against the run with the site's settings; None if there is none to show."""

    shown: str
    change: float | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """Two runs of a set. `beside` is the one with the site's settings; None if it was deleted."""

    run: EvaluationRun
    beside: EvaluationRun | None

    @property
    def reader(self) -> str:
        """The name of the reader on trial."""
        return str(self.run.settings["reader_model"])

    @property
    def unfinished(self) -> EvaluationRun | None:
        """The first unfinished run."""
        return next((run for run in (self.beside, self.run) if run and run.status in EvaluationRun.UNFINISHED), None)

    @property
    def failed(self) -> EvaluationRun | None:
        """The first failed run."""
        failed = EvaluationRun.Status.FAILED
        return next((run for run in (self.run, self.beside) if run and run.status == failed), None)

    def rows(self) -> list[tuple[str, list[Cell]]]:
        """Return a name and a cell for each of `headings` for both runs, that with the site's settings first."""
        named = (_("Current settings"), self.beside), (self.reader, self.run)
        return [(name, self._cells(run)) for name, run in named if run is not None and run.figures]

    def _cells(self, run: EvaluationRun) -> list[Cell]:
        cells = []
        for name in FIGURES:
            before = self.beside.figures.get(name) if self.beside is not None and run is self.run else None
            change = None if before is None else round(run.figures[name] - before, 3) or None
            cells.append(Cell(f"{run.figures[name]:.3f}", change))
        cells += [Cell(str(run.answer_states.get(state, 0))) for state in AnswerState.values]
        ms = run.results.aggregate(ms=Median("took_ms"))["ms"] if not hasattr(run, "ms") else run.ms
        return [*cells, Cell("–" if ms is None else f"{ms:.0f} ms")]


def headings() -> list[str]:
    """Return the headings of a trial's columns."""
    return [*FIGURES, *(str(label) for label in AnswerState.labels), _("Per question")]


def sets_for(user: AbstractBaseUser) -> QuerySet[EvaluationSet]:
    """Return the sets with questions that a user may view, on the site or in the admin."""
    named = user.has_perm("retrieval.view_evaluationset")  # type: ignore[attr-defined]
    sets = EvaluationSet.objects.all() if named else visible_sets(user)
    asked = Exists(EvaluationQuestion.objects.filter(evaluation_set=OuterRef("pk")))
    return sets.filter(asked).select_related("knowledge_base").order_by("name", "pk")


def tryable(name: str) -> KnownReader:
    """Return a reader to try. Raises `NoSuchReader` if it doesn't exist, is in use, or can't be loaded."""
    reader = find(name)
    if reader.state == State.IN_USE:
        raise NoSuchReader(_("“{name}” is already in use.").format(name=name))
    if reader.problem:
        raise NoSuchReader(_("“{name}” can't be loaded: {reason}").format(name=name, reason=reader.problem))
    return reader


def start(reader: KnownReader, sets: Iterable[EvaluationSet], user: AbstractBaseUser) -> None:
    """Queue a trial. Raises `SetRefused` as `runs.start`."""
    for each in sets:
        runs.start(each, RunOptions(), user)
        runs.start(each, RunOptions(reader_model=reader.name), user)


def run(reader: KnownReader, asked: EvaluationSet, progress: Progress | None = None) -> Trial:
    """Try a reader on a set in this process. Raises `RunFailed` and `SetRefused` as `runs.run`."""
    beside = runs.run(asked, RunOptions(), progress=progress)
    return Trial(runs.run(asked, RunOptions(reader_model=reader.name), progress=progress), beside)


def newest(sets: QuerySet[EvaluationSet]) -> Sequence[Trial]:
    """Return the newest trials on some sets, each with the last run before it that used the site's settings."""
    as_set = EvaluationRun.objects.filter(
        evaluation_set=OuterRef("evaluation_set"), settings=RunOptions().to_dict(), pk__lt=OuterRef("pk")
    )
    tried = (
        EvaluationRun.objects.filter(settings__has_key="reader_model", evaluation_set__in=sets.order_by())
        .order_by("-pk")
        .values_list("pk", Subquery(as_set.order_by("-pk").values("pk")[:1]))[:SHOWN]
    )
    runs_of_sets = EvaluationRun.objects.select_related("evaluation_set__knowledge_base")
    timed = runs_of_sets.annotate(ms=Median("results__took_ms")).in_bulk({pk for pair in tried for pk in pair} - {None})
    return [Trial(timed[pk], timed.get(beside)) for pk, beside in tried]
