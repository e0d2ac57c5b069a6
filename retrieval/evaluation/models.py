"""Question sets, the runs that scored them, and what each run found for each question."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, ngettext_lazy, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from retrieval.evaluation.metrics import Figures
from retrieval.types import AnswerState


class EvaluationSet(models.Model):
    """Questions on one knowledge base, with the passages that answer them."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="evaluation_sets", verbose_name=_("owner")
    )
    knowledge_base = models.ForeignKey(
        "knowledge.KnowledgeBase",
        on_delete=models.CASCADE,
        related_name="evaluation_sets",
        verbose_name=_("knowledge base"),
    )
    name = models.CharField(_("name"), max_length=120)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """Names are unique per owner and base."""

        verbose_name = _("evaluation set")
        verbose_name_plural = _("evaluation sets")
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "knowledge_base", "name"], name="evaluation_set_name_unique")
        ]

    def __str__(self) -> str:
        return self.name


class EvaluationQuestion(models.Model):
    """A question of a set. `relevant` is a list of `references.Reference.to_dict()`."""

    evaluation_set = models.ForeignKey(
        EvaluationSet, on_delete=models.CASCADE, related_name="questions", verbose_name=_("evaluation set")
    )
    key = models.CharField(
        pgettext_lazy("of a question", "key"),
        max_length=255,
        help_text=_("its id in the file that it came from, or its own"),
    )
    text = models.TextField(_("question"))
    relevant = models.JSONField(_("right passages"), default=list)
    created_at = models.DateTimeField(_("added"), auto_now_add=True)

    class Meta:
        """In the order in which they were added."""

        verbose_name = _("evaluation question")
        verbose_name_plural = _("evaluation questions")
        ordering = ["evaluation_set_id", "id"]
        constraints = [models.UniqueConstraint(fields=["evaluation_set", "key"], name="evaluation_question_key_unique")]

    def __str__(self) -> str:
        return self.text


# What makes a run's figures less than whole, by the code that is stored with the number `n`.
NOTES = {
    "gone": ngettext_lazy(
        "{n} right passage is not in the knowledge base any more and was left out.",
        "{n} right passages are not in the knowledge base any more and were left out.",
        "n",
    ),
    "skipped": ngettext_lazy(
        "{n} question was left out: none of its right passages is there.",
        "{n} questions were left out: none of their right passages is there.",
        "n",
    ),
    "told": ngettext_lazy("{note} ({n} question)", "{note} ({n} questions)", "n"),  # by the search or who answers
}


def say(note: str | dict[str, Any]) -> str:
    """Return a run's note in the reader's language; older runs kept the words themselves."""
    if isinstance(note, str):
        return note
    return NOTES[note["code"]].format(**note | {"note": gettext(note["note"]) if "note" in note else ""})


def say_error(error: str) -> str:
    """Return why a run or an answer ended, in the reader's language where it has the sentence, else as it was kept."""
    code, _dot, name = error.partition(".")
    if code == "unexpected" and name:
        words = gettext("An unexpected error ({error}) occurred. Administrators can find the details in the log.")
        return words.format(error=name)
    return gettext(error) if error else ""


class EvaluationRun(models.Model):
    """One scoring of a set under one setting, in the background or at once."""

    class Status(models.TextChoices):
        """`queued → running → done`, or `failed` with the reason."""

        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    evaluation_set = models.ForeignKey(
        EvaluationSet, on_delete=models.CASCADE, related_name="runs", verbose_name=_("evaluation set")
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("started by")
    )
    # `options.RunOptions.to_dict()`.
    settings = models.JSONField(_("settings"), default=dict)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.QUEUED)
    progress = models.PositiveSmallIntegerField(_("progress"), default=0, help_text=_("percent"))
    error = models.TextField(_("error"), blank=True)
    # Questions scored, and notes on what makes the figures less than whole, which `say` has words for.
    question_count = models.PositiveIntegerField(_("questions"), default=0)
    notes = models.JSONField(_("notes"), default=list)
    # {"nDCG@10": 0.712, "recall@5": …, "recall@10": …, "MRR@10": …}; empty until it is done.
    figures = models.JSONField(_("figures"), default=dict)
    # Of an assistant's run, tokens by kind, and milliseconds that half of the answers took at most (`median_ms`).
    usage = models.JSONField(_("tokens"), default=dict, blank=True)
    # How many questions had which outcome, by the values of `AnswerState`; empty until it is done.
    answer_states = models.JSONField(_("outcomes"), default=dict)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        """Newest last, as they are plotted."""

        verbose_name = _("evaluation run")
        verbose_name_plural = _("evaluation runs")
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(fields=["evaluation_set", "created_at"]),
            models.Index(
                fields=["heartbeat_at"], condition=Q(status__in=["queued", "running"]), name="evaluation_run_unfinished"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed"]), name="evaluation_run_status"
            ),
            models.CheckConstraint(condition=Q(progress__lte=100), name="evaluation_run_progress_is_percent"),
        ]

    def __str__(self) -> str:
        return f"{self.evaluation_set} · {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def error_said(self) -> str:
        """Why it failed, in the reader's language."""
        return say_error(self.error)

    @property
    def notes_said(self) -> list[str]:
        """The notes in the reader's language."""
        return [say(note) for note in self.notes]


class EvaluationResult(models.Model):
    """What a run found for one question; it outlives the question and the passages."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="results", verbose_name=_("run"))
    key = models.CharField(pgettext_lazy("of a question", "key"), max_length=255)
    text = models.TextField(_("question"))
    ndcg_10 = models.FloatField("nDCG@10")
    recall_5 = models.FloatField("recall@5")
    recall_10 = models.FloatField("recall@10")
    mrr_10 = models.FloatField("MRR@10")
    # What an answer from these hits would be, by the judge of the settings; empty in runs from before there was one.
    answer_state = models.CharField(_("outcome"), max_length=10, choices=AnswerState.choices, blank=True)
    # The first ten: [{"chunk_id", "document_id", "filename", "title", "heading", "page", "snippet", "score", "grade"}];
    # the grade is 0 where the hit is not a right one, and null where what it is of was counted already.
    hits = models.JSONField(_("hits"), default=list)
    # What should have been among the first ten: [{"filename", "snippet", "grade"}].
    missed = models.JSONField(_("missed"), default=list)
    took_ms = models.FloatField(_("milliseconds"), default=0)
    # Where an assistant answered: its answer as plain text with [n] for what it cites, of which `citations` are
    # [{"number", "chunk_id", "document_id", "title", "page"}]; why it is none, or not whole; and tokens by kind.
    answer = models.TextField(_("answer"), blank=True)
    citations = models.JSONField(_("citations"), default=list, blank=True)
    error = models.TextField(_("error"), blank=True)
    usage = models.JSONField(_("tokens"), default=dict, blank=True)

    class Meta:
        """In the order of the questions."""

        verbose_name = _("evaluation result")
        verbose_name_plural = _("evaluation results")
        ordering = ["run_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="evaluation_result_key_unique"),
            models.CheckConstraint(
                condition=Q(answer_state__in=["", *AnswerState.values]), name="evaluation_result_answer_state"
            ),
        ]

    @property
    def error_said(self) -> str:
        """Why there is no answer, or no whole one, in the reader's language."""
        return say_error(self.error)

    def __str__(self) -> str:
        return self.text

    @property
    def figures(self) -> dict[str, float]:
        """The figures by the names of `metrics.FIGURES`."""
        return Figures(self.ndcg_10, self.recall_5, self.recall_10, self.mrr_10).to_dict()
