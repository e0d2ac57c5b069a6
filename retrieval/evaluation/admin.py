"""Question sets and their runs in the admin."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ragsite.admin_base import (
    ModelAdmin,
    RecordAdmin,
    RecordInline,
    column,
    link_to,
    pretty_json,
    rounded,
    shortened,
    token_counts,
)
from retrieval.evaluation.metrics import FIGURES
from retrieval.evaluation.models import EvaluationQuestion, EvaluationResult, EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.types import AnswerState


def _figure(name: str) -> Callable[[EvaluationRun], str]:
    """Return a column with one of a run's figures."""

    @admin.display(description=name)
    def shown(run: EvaluationRun) -> str:
        return f"{run.figures[name]:.3f}" if name in run.figures else "–"

    shown.__name__ = name.replace("@", "_")
    return shown


_FIGURES: list[Any] = [_figure(name) for name in FIGURES]


class RunInline(RecordInline):
    """The runs of a set, on its page."""

    model = EvaluationRun
    fields = readonly_fields = ("created_at", "status", "label", *_FIGURES, "question_count")
    ordering = ["-created_at", "-id"]

    label = column(_("settings"), lambda run: RunOptions.from_stored(run.settings).label)


@admin.register(EvaluationSet)
class EvaluationSetAdmin(ModelAdmin):
    """Question sets with their runs. They can be renamed and deleted; their questions are on a page of their own."""

    list_display = ["name", "owner", "knowledge_base", "question_count", "created_at"]
    list_select_related = ["owner", "knowledge_base"]
    search_fields = ["name", "owner__username", "knowledge_base__name"]
    fields = ["name", "owner", "knowledge_base", "questions", "created_at"]
    readonly_fields = ["owner", "knowledge_base", "questions", "created_at"]
    inlines = [RunInline]

    question_count = column(_("questions"), lambda evaluation_set: evaluation_set.counted, ordering="counted")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: sets are created on the pages, by the API and by commands, which look up the passages."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvaluationSet]:
        """Annotate the number of questions."""
        counted: QuerySet[EvaluationSet] = super().get_queryset(request).annotate(counted=Count("questions"))
        return counted

    @admin.display(description=_("questions"))
    def questions(self, obj: Any) -> SafeString:
        """Link to the questions."""
        url = reverse("admin:retrieval_evaluationquestion_changelist")
        return format_html('<a href="{}?evaluation_set__id__exact={}">{}</a>', url, obj.pk, obj.counted)


@admin.register(EvaluationQuestion)
class EvaluationQuestionAdmin(RecordAdmin):
    """Questions with their relevant passages."""

    list_display = ["short_text", "evaluation_set", "answers", "created_at"]
    list_filter = ["evaluation_set__knowledge_base"]
    list_select_related = ["evaluation_set"]
    search_fields = ["text", "evaluation_set__name"]
    fields = ["evaluation_set", "key", "text", "relevant_passages", "created_at"]

    short_text = column(_("question"), lambda question: shortened(question.text), ordering="text")
    answers = column(_("relevant passages"), lambda question: len(question.relevant))
    relevant_passages = column(_("relevant passages"), lambda question: pretty_json(question.relevant))


@admin.register(EvaluationRun)
class EvaluationRunAdmin(RecordAdmin):
    """Evaluation runs, newest first."""

    list_display = ["created_at", "evaluation_set", "label", "status", *_FIGURES, "question_count"]
    list_filter = ["status", "created_at"]
    list_select_related = ["evaluation_set"]
    search_fields = ["evaluation_set__name"]
    ordering = ["-created_at", "-id"]
    date_hierarchy = "created_at"
    fields = [
        "set_link", "label", "status", "progress", "error_shown", "all_notes", "all_figures", "outcomes", "tokens",
        "results", "started_by", "created_at", "finished_at",
    ]  # fmt: skip

    label = column(_("settings"), lambda run: RunOptions.from_stored(run.settings).label)
    set_link = column(_("question set"), lambda run: link_to(run.evaluation_set))
    error_shown = column(_("error"), lambda run: run.error_said or "–")
    # Reasons why the figures are incomplete.
    all_notes = column(_("notes"), lambda run: " ".join(run.notes_said) or "–")
    all_figures = column(
        _("figures"), lambda run: pretty_json(run.figures, digits=4)
    )  # enough digits to distinguish runs
    tokens = column(_("tokens"), lambda run: token_counts(run.usage))

    @admin.display(description=_("outcomes"))
    def outcomes(self, run: EvaluationRun) -> str:
        """Return the number of questions with each outcome."""
        counted = ((str(state.label), run.answer_states.get(state, 0)) for state in AnswerState)
        shown = [gettext("%(name)s: %(value)s") % {"name": name, "value": count} for name, count in counted if count]
        return " · ".join(shown) or "–"

    @admin.display(description=_("results"))
    def results(self, run: EvaluationRun) -> SafeString:
        """Link to the results of the questions."""
        url = reverse("admin:retrieval_evaluationresult_changelist")
        return format_html('<a href="{}?run__id__exact={}">{}</a>', url, run.pk, run.question_count)


_SCORES: list[Any] = [rounded(EvaluationResult, name) for name in ("ndcg_10", "recall_5", "recall_10", "mrr_10")]


@admin.register(EvaluationResult)
class EvaluationResultAdmin(RecordAdmin):
    """Results of runs, worst first."""

    list_display = ["short_text", "run", *_SCORES, "answer_state", "took"]
    list_filter = ["answer_state"]
    list_select_related = ["run__evaluation_set"]
    search_fields = ["text"]
    ordering = ["ndcg_10", "id"]
    fields = [
        "run", "key", "text", *_SCORES, "answer_state", "took", "answer",
        "citations", "error", "tokens", "found", "not_found",
    ]  # fmt: skip

    short_text = column(_("question"), lambda result: shortened(result.text), ordering="text")
    took = column(_("milliseconds"), lambda result: f"{result.took_ms:.0f}", ordering="took_ms")
    tokens = column(_("tokens"), lambda result: token_counts(result.usage))
    found = column(_("hits"), lambda result: pretty_json(result.hits, digits=4))
    not_found = column(_("missed"), lambda result: pretty_json(result.missed))
