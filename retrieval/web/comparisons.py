"""Comparing two runs of a set: which questions improved or got worse, and which have a different answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Paginator
from django.db.models import F, Func, QuerySet, TextField, Value
from django.db.models.functions import MD5
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge.models import Chunk
from retrieval.evaluation.models import EvaluationResult, EvaluationRun
from retrieval.evaluation.significance import NONE, Difference
from retrieval.types import AnswerState
from retrieval.web.answer_differences import Piece, differences
from retrieval.web.evaluation_contexts import PROVISIONAL, StateCount, asked_of, label_of, state_of, when

PER_PAGE = 25
# A hash of an answer without its citation markers.
_SAID = MD5(
    Func(F("answer"), Value(r"\s*\[\d+\]"), Value(""), Value("g"), function="regexp_replace", output_field=TextField())
)


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer to a question, in pieces, with its result. `name` is that of the assistant."""

    name: str
    result: EvaluationResult
    pieces: list[Piece]

    @property
    def state(self) -> StateCount | None:
        """The outcome, for display."""
        return state_of(self.result.answer_state)


@dataclass(slots=True)
class ResultRow:
    """The result of a run for a question. `change` is that of its nDCG@10 against the other run, None if that lacks it.

    For assistants' runs, `answers` has the answers of both runs, the other run's first.
    """

    result: EvaluationResult
    change: float | None = None
    said_otherwise: bool = False
    state_before: str = ""
    answers: list[ShownAnswer] = field(default_factory=list)
    hits: list[dict[str, Any]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether the nDCG@10 changed visibly."""
        return abs(self.change or 0) >= NONE

    @property
    def size(self) -> str:
        """The absolute change of the nDCG@10."""
        return f"{abs(self.change or 0):.2f}"

    @property
    def answer_state(self) -> StateCount | None:
        """The outcome, for display."""
        return state_of(self.result.answer_state)

    @property
    def other_state(self) -> str:
        """The outcome in the other run, in words; empty if it is the same."""
        return str(AnswerState(self.state_before).label) if self.state_before else ""

    @property
    def marks_in_words(self) -> str:
        """The ranks of the relevant passages, in words."""
        ranks = [str(rank) for rank, mark in enumerate(self.marks, 1) if mark == "relevant"]
        if not ranks:
            return _("none relevant in the top ten")
        return _("relevant at rank {ranks}").format(ranks=", ".join(ranks))

    @property
    def marks(self) -> list[str]:
        """For each of ten ranks: "relevant", "irrelevant", "same" (already counted), or "none"."""
        marks = [_mark(hit["grade"]) for hit in self.result.hits[:10]]
        return marks + ["none"] * (10 - len(marks))


def _mark(grade: int | None) -> str:
    if grade is None:
        return "same"
    return "relevant" if grade > 0 else "irrelevant"


@dataclass
class Comparison:
    """A run's questions compared with another run's, in several lists, worst first."""

    run: EvaluationRun
    before: EvaluationRun | None
    lists: dict[str, list[ResultRow]]

    @cached_property
    def tabs(self) -> list[tuple[str, str, int]]:
        """The lists that can be shown: name, label and length."""
        words = {"all": _("All"), "missed": _("Incomplete")}
        if self.before is not None:
            words |= {"worse": _("Worse"), "better": _("Better")}
            if self.answers_compare:
                words["answers"] = _("Different answer")
            words["states"] = _("Different outcome")
        return [(name, text, len(self.lists[name])) for name, text in words.items()]

    @property
    def answers_compare(self) -> bool:
        """Whether both runs have answers to compare."""
        return self.before is not None and asked_of(self.run) is not None and asked_of(self.before) is not None

    @cached_property
    def difference(self) -> Difference:
        """The difference in nDCG@10."""
        return Difference.of([row.change for row in self.lists["all"] if row.change is not None])

    @property
    def counts_in_words(self) -> str:
        """The numbers of questions that are better and worse, in words."""
        found = self.difference
        if not found.better + found.worse:
            return _("Every question scores the same as before.")
        better = ngettext("Better on {n} question", "Better on {n} questions", found.better).format(n=found.better)
        return _("{better}, worse on {worse}, the same on {same}.").format(
            better=better, worse=found.worse, same=found.same
        )

    @property
    def verdict(self) -> str:
        """Whether the difference may be chance, in words; empty if there is none."""
        found = self.difference
        if not found.better + found.worse:
            return ""
        values = {"change": f"{found.mean:+.3f}", "p": in_words(found.p)}
        if not found.is_chance:
            return _("nDCG@10 changes by {change}, p {p}: unlikely to be chance.").format(**values)
        return _("nDCG@10 changes by {change}, p {p}: this may be chance.").format(**values)


def in_words(p: float) -> str:
    """Return a probability as it is written after “p”: “= 0.14”, “< 0.001”."""
    if p < 0.001:
        return "< 0.001"
    return f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def compare(run: EvaluationRun, before: EvaluationRun | None) -> Comparison:
    """Return the comparison of a run with another one, if any."""
    named = "key", "ndcg_10", "answer_state", "said"
    known = {
        key: values for key, *values in (before.results.annotate(said=_SAID).values_list(*named) if before else ())
    }
    light = run.results.order_by("ndcg_10", "recall_10", "mrr_10", "pk").annotate(said=_SAID)
    rows, both = [], before is not None and asked_of(run) is not None and asked_of(before) is not None
    for result in light.defer("hits", "missed", "answer", "citations", "error", "usage"):
        row = ResultRow(result)
        if result.key in known:
            ndcg, state, said = known[result.key]
            row.change = result.ndcg_10 - ndcg
            row.said_otherwise = both and said != result.said
            row.state_before = state if state != result.answer_state else ""
        rows.append(row)
    better = [row for row in rows if (row.change or 0) >= NONE]
    worse = [row for row in rows if (row.change or 0) <= -NONE]
    lists = {
        "all": rows,
        "worse": sorted(worse, key=lambda row: row.change or 0),
        "better": sorted(better, key=lambda row: -(row.change or 0)),
        "missed": [row for row in rows if row.result.recall_10 < 1],
        # Those that got worse come first.
        "answers": sorted((row for row in rows if row.said_otherwise), key=lambda row: row.change or 0),
        "states": sorted((row for row in rows if row.state_before), key=lambda row: row.change or 0),
    }
    return Comparison(run, before, lists)


def comparison_context(
    run: EvaluationRun, before: EvaluationRun | None, show: str, page: str, first: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the context of `retrieval/comparison.html`: one of a run's lists, and a page of it.

    By default, it is the first non-empty list of `first`.
    """
    comparison = compare(run, before)
    if show not in [name for name, _words, _count in comparison.tabs]:
        show = next((name for name in first if comparison.lists[name]), "all")
    found = Paginator(comparison.lists[show], PER_PAGE).get_page(page)
    load_results(list(found), comparison)
    return {"comparison": comparison, "show": show, "page": found}


def load_results(rows: Sequence[ResultRow], comparison: Comparison) -> None:
    """Load the results of one page of rows: their hits, with the document if the passage still exists, and answers."""
    run, before = comparison.run, comparison.before
    full = EvaluationResult.objects.in_bulk([row.result.pk for row in rows])
    others = {}
    if comparison.answers_compare and before is not None:
        keys = [row.result.key for row in rows]
        others = {each.key: each for each in before.results.filter(key__in=keys).defer("hits", "missed")}
    for row in rows:
        row.result = full.get(row.result.pk, row.result)
        other = others.get(row.result.key)
        if asked_of(run) is not None:
            one, two = differences(other.answer if other else row.result.answer, row.result.answer)
            row.answers = [ShownAnswer(label_of(run), row.result, two)]
            if other is not None and before is not None:
                row.answers.insert(0, ShownAnswer(label_of(before), other, one))
    named = {item["chunk_id"] for row in rows for item in (*row.result.hits, *row.result.missed)}
    there = dict(Chunk.objects.filter(pk__in=named - {None}).values_list("pk", "document_id"))
    for row in rows:
        row.hits = [_with_place(item, there) for item in row.result.hits[:10]]
        row.result.missed = [_with_place(item, there) for item in row.result.missed]


def _with_place(item: dict[str, Any], there: dict[int, int]) -> dict[str, Any]:
    return item | {"found_at": there.get(item["chunk_id"]), "mark": _mark(item["grade"])}


def run_before(run: EvaluationRun) -> EvaluationRun | None:
    """Return the last completed run before this one with the same assistant, or the last search for a search.

    If there is none with the same assistant, it is the last search. Provisional runs are left out.
    """
    earlier = others(run).filter(created_at__lt=run.created_at).exclude(PROVISIONAL)
    same = asked_of(run)
    if same is None:
        return earlier.exclude(settings__has_key="assistant").first()
    return earlier.filter(settings__assistant=same).first() or earlier.filter(settings__has_key="assistant").first()


def others(run: EvaluationRun) -> QuerySet[EvaluationRun]:
    """Return the set's other completed runs, newest first."""
    done = EvaluationRun.objects.filter(evaluation_set=run.evaluation_set_id, status=EvaluationRun.Status.DONE)
    return done.exclude(pk=run.pk).order_by("-created_at", "-pk")


def choices_of(runs: Sequence[EvaluationRun]) -> list[tuple[EvaluationRun, str, str]]:
    """Return choices of a run to compare with: the run, when it started, and its options in words."""
    return [(run, when(run), label_of(run)) for run in runs]
