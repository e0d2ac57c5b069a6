"""Contexts of the evaluation pages: sets with their latest figures, and rows of runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from knowledge.access import Actor
from knowledge.queries import count_of
from retrieval.evaluation.access import alterable_sets, visible_sets
from retrieval.evaluation.metrics import FIGURES
from retrieval.evaluation.models import EvaluationQuestion, EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.significance import NONE
from retrieval.types import AnswerState
from retrieval.web import charts

# The figures in the list of sets.
LISTED = ("nDCG@10", "recall@10", "MRR@10")
# Runs on a set's page and in its chart; older ones are available through the API.
SHOWN_RUNS = 50
# The options of runs with something that isn't in use: a model or reader on trial, or a rehearsal.
_PROVISIONAL = ("model", "reader_model", "rehearsal")
PROVISIONAL = Q(settings__has_any_keys=_PROVISIONAL)
# The icons of outcomes, as for answers in a chat.
STATE_ICONS: dict[str, str] = {
    AnswerState.ANSWERED: "check",
    AnswerState.NEAREST: "equal-approximately",
    AnswerState.NOTHING: "search-x",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run. `change` is that since the run before, None if there is none or nothing changed."""

    name: str
    value: float
    change: float | None = None

    @property
    def size(self) -> str:
        """The absolute change."""
        return f"{abs(self.change or 0):.3f}"


@dataclass(frozen=True, slots=True)
class StateCount:
    """An outcome, and the number of questions of a run that have it."""

    words: str
    icon: str
    count: int


@dataclass(frozen=True, slots=True)
class SetRow:
    """A set in the list, and its last completed run with some of its figures."""

    set: EvaluationSet
    run: EvaluationRun | None
    figures: list[Figure]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with its options in words, its figures compared with the run before, and its outcomes."""

    run: EvaluationRun
    label: str
    figures: list[Figure]
    answer_states: list[StateCount]


def label_of(run: EvaluationRun) -> str:
    """Return a run's options in words; options stored by a newer version are shown by name."""
    if asked_of(run) is not None:
        return RunOptions.from_stored(run.settings).label
    on_trial = {name: run.settings.get(name) for name in ("model", "reader_model")}
    given = {name: value for name, value in run.settings.items() if name not in on_trial}
    try:
        return replace(RunOptions.from_dict(given), **on_trial).label
    except ValueError:
        return " · ".join(f"{name} {value}" for name, value in run.settings.items())


def set_list(user: Actor) -> QuerySet[EvaluationSet]:
    """Return the sets that the user may view, with the `count` of questions and the last completed run in `done`."""
    done = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).exclude(PROVISIONAL)
    last = done.filter(evaluation_set=OuterRef("evaluation_set")).order_by("-created_at", "-pk").values("pk")[:1]
    return (
        visible_sets(user)
        .select_related("knowledge_base", "owner")
        .annotate(count=count_of(EvaluationQuestion.objects.all(), "evaluation_set"))
        .prefetch_related(Prefetch("runs", done.filter(pk=Subquery(last)), to_attr="done"))
        .order_by("name", "pk")
    )


def set_rows(sets: Iterable[EvaluationSet]) -> list[SetRow]:
    """Return the rows for sets from `set_list`."""
    rows = []
    for each in sets:
        run = next(iter(each.done), None)  # type: ignore[attr-defined]
        figures = [Figure(name, run.figures[name]) for name in LISTED if name in run.figures] if run else []
        rows.append(SetRow(each, run, figures))
    return rows


def sets_to_add_to(user: Actor, knowledge_base_ids: Sequence[int], preferred: int | None) -> list[EvaluationSet]:
    """Return the sets on some bases that the user may change: the preferred one first, then the newest."""
    found = alterable_sets(user).filter(knowledge_base__in=knowledge_base_ids).select_related("knowledge_base")
    return sorted(found.order_by("-pk"), key=lambda each: each.pk != preferred)


def run_rows(evaluation_set: EvaluationSet) -> list[RunRow]:
    """Return the rows of the set's last runs, newest first."""
    newest = evaluation_set.runs.order_by("-created_at", "-pk")[: SHOWN_RUNS + 1]
    rows: list[RunRow] = []
    before: dict[int | None, EvaluationRun] = {}
    for run in reversed(newest):
        rows.append(RunRow(run, label_of(run), figures_of(run, before.get(asked_of(run))), state_counts(run)))
        if run.figures and not is_provisional(run):
            before[asked_of(run)] = run
    return rows[::-1][:SHOWN_RUNS]


def asked_of(run: EvaluationRun) -> int | None:
    """Return the id of the assistant of a run; None for a search."""
    return RunOptions.from_stored(run.settings).assistant


def is_provisional(run: EvaluationRun) -> bool:
    """Return whether a run uses something that isn't in use: a model or reader on trial, or a rehearsal."""
    return not run.settings.keys().isdisjoint(_PROVISIONAL)


def figures_of(run: EvaluationRun, before: EvaluationRun | None) -> list[Figure]:
    """Return a run's figures with their changes since another run."""
    figures = []
    for name in FIGURES:
        if name in run.figures:
            value, earlier = run.figures[name], before.figures.get(name) if before else None
            change = value - earlier if earlier is not None and abs(value - earlier) >= NONE else None
            figures.append(Figure(name, value, change))
    return figures


def state_counts(run: EvaluationRun) -> list[StateCount]:
    """Return the outcomes and their counts; empty for a run from before they were judged."""
    if not run.answer_states:
        return []
    return [
        StateCount(str(words), STATE_ICONS[state], run.answer_states.get(state, 0))
        for state, words in AnswerState.choices
    ]


def state_of(state: str) -> StateCount | None:
    """Return a question's outcome for display; None if it wasn't judged."""
    return StateCount(str(AnswerState(state).label), STATE_ICONS[state], 1) if state else None


def chart_of(rows: Sequence[RunRow]) -> charts.Chart | None:
    """Return the chart of figures over the completed runs with the same assistant as the last one, or of searches.

    None if there are fewer than two.
    """
    done = [row for row in reversed(rows) if row.run.figures and not is_provisional(row.run)]
    done = [row for row in done if asked_of(row.run) == asked_of(done[-1].run)]
    if len(done) < 2:
        return None
    return charts.plot([charts.Column(when(row.run), row.run.figures) for row in done], FIGURES)


def when(run: EvaluationRun) -> str:
    """Return when a run was started, for a label."""
    # Translators: a date and a time, in Django's letters for them.
    return date_format(localtime(run.created_at), _("j M Y, H:i"))
