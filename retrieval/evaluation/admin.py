"""Question sets and their runs for administrators."""

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
    link_to,
    pretty_json,
    rounded,
    shortened,
    tokens_told,
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

    @admin.display(description=_("settings"))
    def label(self, run: EvaluationRun) -> str:
        """Return the settings in words."""
        return RunOptions.from_stored(run.settings).label


@admin.register(EvaluationSet)
class EvaluationSetAdmin(ModelAdmin):
    """Sets with their runs; the questions are a page of their own. A set may be renamed and deleted here."""

    list_display = ["name", "owner", "knowledge_base", "question_count", "created_at"]
    list_select_related = ["owner", "knowledge_base"]
    search_fields = ["name", "owner__username", "knowledge_base__name"]
    fields = ["name", "owner", "knowledge_base", "questions", "created_at"]
    readonly_fields = ["owner", "knowledge_base", "questions", "created_at"]
    inlines = [RunInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Sets are made on the pages, by API and by commands, where their passages are looked up."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvaluationSet]:
        """Count the questions."""
        counted: QuerySet[EvaluationSet] = super().get_queryset(request).annotate(counted=Count("questions"))
        return counted

    @admin.display(description=_("questions"), ordering="counted")
    def question_count(self, evaluation_set: EvaluationSet) -> int:
        """Return the number of questions."""
        return int(getattr(evaluation_set, "counted", 0))

    @admin.display(description=_("questions"))
    def questions(self, evaluation_set: EvaluationSet) -> SafeString:
        """Link to the questions."""
        url = reverse("admin:retrieval_evaluationquestion_changelist")
        count = self.question_count(evaluation_set)
        return format_html('<a href="{}?evaluation_set__id__exact={}">{}</a>', url, evaluation_set.pk, count)


@admin.display(description=_("question"), ordering="text")
def short_text(row: EvaluationQuestion | EvaluationResult) -> str:
    """Return the beginning of the question."""
    return shortened(row.text)


@admin.register(EvaluationQuestion)
class EvaluationQuestionAdmin(RecordAdmin):
    """Questions with what answers them."""

    list_display = [short_text, "evaluation_set", "answers", "created_at"]
    list_filter = ["evaluation_set__knowledge_base"]
    list_select_related = ["evaluation_set"]
    search_fields = ["text", "evaluation_set__name"]
    fields = ["evaluation_set", "key", "text", "right_passages", "created_at"]

    @admin.display(description=_("right passages"))
    def answers(self, question: EvaluationQuestion) -> int:
        """Return how many passages or documents answer it."""
        return len(question.relevant)

    @admin.display(description=_("right passages"))
    def right_passages(self, question: EvaluationQuestion) -> SafeString:
        """Return what answers it, as it is kept."""
        return pretty_json(question.relevant)


@admin.register(EvaluationRun)
class EvaluationRunAdmin(RecordAdmin):
    """Scorings of sets, newest first."""

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

    @admin.display(description=_("settings"))
    def label(self, run: EvaluationRun) -> str:
        """Return the settings in words."""
        return RunOptions.from_stored(run.settings).label

    @admin.display(description=_("evaluation set"))
    def set_link(self, run: EvaluationRun) -> SafeString | str:
        """Link to the set."""
        return link_to(run.evaluation_set)

    @admin.display(description=_("error"))
    def error_shown(self, run: EvaluationRun) -> str:
        """Say why it failed."""
        return run.error_said or "–"

    @admin.display(description=_("notes"))
    def all_notes(self, run: EvaluationRun) -> str:
        """Return what makes the figures less than whole."""
        return " ".join(run.notes_said) or "–"

    @admin.display(description=_("figures"))
    def all_figures(self, run: EvaluationRun) -> SafeString:
        """Return the figures to four digits, which tell runs apart."""
        return pretty_json(run.figures, digits=4)

    @admin.display(description=_("outcomes"))
    def outcomes(self, run: EvaluationRun) -> str:
        """Say how many questions came out how."""
        counted = ((str(state.label), run.answer_states.get(state, 0)) for state in AnswerState)
        said = [gettext("%(name)s: %(value)s") % {"name": name, "value": count} for name, count in counted if count]
        return " · ".join(said) or "–"

    @admin.display(description=_("tokens"))
    def tokens(self, run: EvaluationRun) -> str:
        """Show what models read and wrote."""
        return tokens_told(run.usage)

    @admin.display(description=_("results"))
    def results(self, run: EvaluationRun) -> SafeString:
        """Link to what was found for each question."""
        url = reverse("admin:retrieval_evaluationresult_changelist")
        return format_html('<a href="{}?run__id__exact={}">{}</a>', url, run.pk, run.question_count)


_SCORES: list[Any] = [rounded(EvaluationResult, name) for name in ("ndcg_10", "recall_5", "recall_10", "mrr_10")]


@admin.register(EvaluationResult)
class EvaluationResultAdmin(RecordAdmin):
    """What runs found, the worst first."""

    list_display = [short_text, "run", *_SCORES, "answer_state", "took"]
    list_filter = ["answer_state"]
    list_select_related = ["run__evaluation_set"]
    search_fields = ["text"]
    ordering = ["ndcg_10", "id"]
    fields = [
        "run", "key", "text", *_SCORES, "answer_state", "took", "answer",
        "citations", "error", "tokens", "found", "not_found",
    ]  # fmt: skip

    @admin.display(description=_("milliseconds"), ordering="took_ms")
    def took(self, result: EvaluationResult) -> str:
        """Show how long the search took."""
        return f"{result.took_ms:.0f}"

    @admin.display(description=_("tokens"))
    def tokens(self, result: EvaluationResult) -> str:
        """Show what models read and wrote."""
        return tokens_told(result.usage)

    @admin.display(description=_("hits"))
    def found(self, result: EvaluationResult) -> SafeString:
        """Return the first hits with their grades."""
        return pretty_json(result.hits, digits=4)

    @admin.display(description=_("missed"))
    def not_found(self, result: EvaluationResult) -> SafeString:
        """Return the right passages that are not among them."""
        return pretty_json(result.missed)
