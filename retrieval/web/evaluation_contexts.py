"""What the evaluation pages show: sets with their latest figures, runs in a row, and one run against another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from knowledge.access import Actor
from knowledge.models import Chunk
from knowledge.queries import count_of
from retrieval.evaluation.access import alterable_sets, visible_sets
from retrieval.evaluation.metrics import FIGURES
from retrieval.evaluation.models import EvaluationQuestion, EvaluationResult, EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.types import AnswerState
from retrieval.web import charts

# The figures in the list of sets.
LISTED = ("nDCG@10", "recall@10", "MRR@10")
# Runs on a set's page and in its plot; a run's older ones are in the API.
SHOWN_RUNS = 50
# Below this a difference is none: figures are shown with three digits.
_NONE = 0.0005
# Beside the words for what an answer would be, as beside answers in a chat.
_STATE_ICONS: dict[str, str] = {
    AnswerState.ANSWERED: "check",
    AnswerState.NEAREST: "equal-approximately",
    AnswerState.NOTHING: "search-x",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a run. `change` is against the run before, None where there is none or nothing changed."""

    name: str
    value: float
    change: float | None = None

    @property
    def size(self) -> str:
        """How much it changed, either way."""
        return f"{abs(self.change or 0):.3f}"


@dataclass(frozen=True, slots=True)
class StateCount:
    """What an answer would be, and for how many questions of a run."""

    words: str
    icon: str
    count: int


@dataclass(frozen=True, slots=True)
class SetRow:
    """A set in the list, and its last run that is done with some of its figures."""

    set: EvaluationSet
    run: EvaluationRun | None
    figures: list[Figure]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with its settings in words, its figures against those of the run before, and the states of its answers."""

    run: EvaluationRun
    label: str
    figures: list[Figure]
    answer_states: list[StateCount]


def label_of(run: EvaluationRun) -> str:
    """Return a run's settings as a person reads them; those of a version to come by their names."""
    given = {name: value for name, value in run.settings.items() if name != "model"}
    try:
        return replace(RunOptions.from_dict(given), model=run.settings.get("model")).label
    except ValueError:
        return " · ".join(f"{name} {value}" for name, value in run.settings.items())


def set_list(user: Actor) -> QuerySet[EvaluationSet]:
    """Return the sets that the user may see, each with `count` of questions, and in `done` its last run that is."""
    # Those of a model on trial tell nothing of how the site searches.
    done = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).exclude(settings__has_key="model")
    last = done.filter(evaluation_set=OuterRef("evaluation_set")).order_by("-created_at", "-pk").values("pk")[:1]
    return (
        visible_sets(user)
        .select_related("knowledge_base", "owner")
        .annotate(count=count_of(EvaluationQuestion.objects.all(), "evaluation_set"))
        .prefetch_related(Prefetch("runs", done.filter(pk=Subquery(last)), to_attr="done"))
        .order_by("name", "pk")
    )


def set_rows(sets: Iterable[EvaluationSet]) -> list[SetRow]:
    """Return sets out of `set_list` as the list shows them."""
    rows = []
    for each in sets:
        run = next(iter(each.done), None)  # type: ignore[attr-defined]
        figures = [Figure(name, run.figures[name]) for name in LISTED if name in run.figures] if run else []
        rows.append(SetRow(each, run, figures))
    return rows


def sets_to_add_to(user: Actor, knowledge_base_ids: Sequence[int], preferred: int | None) -> list[EvaluationSet]:
    """Return the sets on some bases that the user may change: the preferred one, then the newest."""
    found = alterable_sets(user).filter(knowledge_base__in=knowledge_base_ids).select_related("knowledge_base")
    return sorted(found.order_by("-pk"), key=lambda each: each.pk != preferred)


def run_rows(evaluation_set: EvaluationSet) -> list[RunRow]:
    """Return the set's last runs, newest first."""
    newest = evaluation_set.runs.order_by("-created_at", "-pk")[: SHOWN_RUNS + 1]
    rows: list[RunRow] = []
    before: EvaluationRun | None = None
    for run in reversed(newest):
        rows.append(RunRow(run, label_of(run), figures_of(run, before), state_counts(run)))
        before = run if run.figures and "model" not in run.settings else before
    return rows[::-1][:SHOWN_RUNS]


def figures_of(run: EvaluationRun, before: EvaluationRun | None) -> list[Figure]:
    """Return a run's figures against those of another."""
    figures = []
    for name in FIGURES:
        if name in run.figures:
            value, earlier = run.figures[name], before.figures.get(name) if before else None
            change = value - earlier if earlier is not None and abs(value - earlier) >= _NONE else None
            figures.append(Figure(name, value, change))
    return figures


def state_counts(run: EvaluationRun) -> list[StateCount]:
    """Return what answers would be and how often; none for a run from before they were judged."""
    if not run.answer_states:
        return []
    return [
        StateCount(str(words), _STATE_ICONS[state], run.answer_states.get(state, 0))
        for state, words in AnswerState.choices
    ]


def chart_of(rows: Sequence[RunRow]) -> charts.Chart | None:
    """Return the plot of the runs' figures over time; None for fewer than two."""
    done = [row for row in reversed(rows) if row.run.figures and "model" not in row.run.settings]
    if len(done) < 2:
        return None
    return charts.plot([charts.Column(when(row.run), row.run.figures) for row in done], FIGURES)


def when(run: EvaluationRun) -> str:
    """Return when a run began, for a label."""
    # Translators: a date and a time, in Django's letters for them.
    return date_format(localtime(run.created_at), _("j M Y, H:i"))


@dataclass(slots=True)
class ResultRow:
    """What a run found for a question. `change` is of its nDCG@10 against the other run, None where that lacks it."""

    result: EvaluationResult
    change: float | None = None
    hits: list[dict[str, Any]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether its nDCG@10 changed by what can be seen."""
        return abs(self.change or 0) >= _NONE

    @property
    def size(self) -> str:
        """How much its nDCG@10 changed, either way."""
        return f"{abs(self.change or 0):.2f}"

    @property
    def answer_state(self) -> StateCount | None:
        """What an answer would be."""
        state = self.result.answer_state
        return StateCount(self.result.get_answer_state_display(), _STATE_ICONS[state], 1) if state else None

    @property
    def marks_in_words(self) -> str:
        """The ranks of the right passages, for a person."""
        ranks = [str(rank) for rank, mark in enumerate(self.marks, 1) if mark == "right"]
        return (
            _("right at rank {ranks}").format(ranks=", ".join(ranks)) if ranks else _("none right among the first ten")
        )

    @property
    def marks(self) -> list[str]:
        """For each of ten ranks: "right", "wrong", "same" (counted before), or "none"."""
        marks = [_mark(hit["grade"]) for hit in self.result.hits[:10]]
        return marks + ["none"] * (10 - len(marks))


def _mark(grade: int | None) -> str:
    return "same" if grade is None else "right" if grade > 0 else "wrong"


@dataclass(slots=True)
class Comparison:
    """A run's questions, the worst first, against another run's, and how long each of the lists is."""

    before: EvaluationRun | None
    rows: list[ResultRow]
    better: int = 0
    worse: int = 0
    missed: int = 0
    total: int = 0

    @property
    def tabs(self) -> list[tuple[str, str, int]]:
        """The lists that can be shown: name, words and length."""
        tabs = [("all", _("All"), self.total), ("missed", _("Incomplete"), self.missed)]
        if self.before is not None:
            tabs += [("worse", _("Worse"), self.worse), ("better", _("Better"), self.better)]
        return tabs


SHOWN = ("all", "worse", "better", "missed")


def compare(run: EvaluationRun, before: EvaluationRun | None, shown: str = "all") -> Comparison:
    """Return a run's questions with their change since another run; `shown` is one of `SHOWN`."""
    known = dict(before.results.values_list("key", "ndcg_10")) if before is not None else {}
    light = run.results.order_by("ndcg_10", "recall_10", "mrr_10", "pk").defer("hits", "missed")
    rows = [ResultRow(result, result.ndcg_10 - known[result.key] if result.key in known else None) for result in light]
    better = [row for row in rows if (row.change or 0) >= _NONE]
    worse = [row for row in rows if (row.change or 0) <= -_NONE]
    missed = [row for row in rows if row.result.recall_10 < 1]
    lists = {
        "all": rows,
        "worse": sorted(worse, key=lambda row: row.change or 0),
        "better": sorted(better, key=lambda row: -(row.change or 0)),
        "missed": missed,
    }
    return Comparison(before, lists[shown], len(better), len(worse), len(missed), len(rows))


def load_hits(rows: Sequence[ResultRow]) -> None:
    """Load what the rows of one page show: their hits, with `href` where the passage is still there."""
    full = EvaluationResult.objects.in_bulk([row.result.pk for row in rows])
    for row in rows:
        row.result = full.get(row.result.pk, row.result)
    named = {item["chunk_id"] for row in rows for item in (*row.result.hits, *row.result.missed)}
    there = dict(Chunk.objects.filter(pk__in=named - {None}).values_list("pk", "document_id"))
    for row in rows:
        row.hits = [_with_place(item, there) for item in row.result.hits[:10]]
        row.result.missed = [_with_place(item, there) for item in row.result.missed]


def _with_place(item: dict[str, Any], there: dict[int, int]) -> dict[str, Any]:
    return item | {"found_at": there.get(item["chunk_id"]), "mark": _mark(item["grade"])}


def run_before(run: EvaluationRun) -> EvaluationRun | None:
    """Return the run of the same set that was done last before this one, and not by a model on trial."""
    return others(run).filter(created_at__lt=run.created_at).exclude(settings__has_key="model").first()


def others(run: EvaluationRun) -> QuerySet[EvaluationRun]:
    """Return the set's other runs that are done, newest first."""
    done = EvaluationRun.objects.filter(evaluation_set=run.evaluation_set_id, status=EvaluationRun.Status.DONE)
    return done.exclude(pk=run.pk).order_by("-created_at", "-pk")
