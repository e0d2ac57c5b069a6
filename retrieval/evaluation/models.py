"""Question sets, their runs, and the result of each run for each question."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, ngettext_lazy, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from retrieval.evaluation.metrics import Figures
from retrieval.types import AnswerState


class EvaluationSet(models.Model):
    """A set of questions on one knowledge base, with the passages that answer them."""

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

        verbose_name = _("question set")
        verbose_name_plural = _("question sets")
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "knowledge_base", "name"], name="evaluation_set_name_unique")
        ]

    def __str__(self) -> str:
        return self.name


class EvaluationQuestion(models.Model):
    """A question of a set. `relevant` is a list of `references.Reference.to_dict()`."""

    evaluation_set = models.ForeignKey(
        EvaluationSet, on_delete=models.CASCADE, related_name="questions", verbose_name=_("question set")
    )
    key = models.CharField(
        pgettext_lazy("of a question", "key"),
        max_length=255,
        help_text=_("Its ID in the imported file, or a generated one."),
    )
    text = models.TextField(_("question"))
    relevant = models.JSONField(_("relevant passages"), default=list)
    created_at = models.DateTimeField(_("added"), auto_now_add=True)

    class Meta:
        """Ordered as they were added."""

        verbose_name = _("evaluation question")
        verbose_name_plural = _("evaluation questions")
        ordering = ["evaluation_set_id", "id"]
        constraints = [models.UniqueConstraint(fields=["evaluation_set", "key"], name="evaluation_question_key_unique")]

    def __str__(self) -> str:
        return self.text


# Reasons why a run's figures are incomplete, by the code that is stored with the number `n`.
NOTES = {
    "gone": ngettext_lazy(
        "{n} relevant passage is no longer in the knowledge base and was left out.",
        "{n} relevant passages are no longer in the knowledge base and were left out.",
        "n",
    ),
    "skipped": ngettext_lazy(
        "{n} question was skipped: none of its relevant passages exists any more.",
        "{n} questions were skipped: none of their relevant passages exist any more.",
        "n",
    ),
    "told": ngettext_lazy(
        "{note} ({n} question)", "{note} ({n} questions)", "n"
    ),  # a note of the search or the assistant
}


def say(note: str | dict[str, Any]) -> str:
    """Return a run's note in the user's language; older runs stored the text itself."""
    if isinstance(note, str):
        return note
    return NOTES[note["code"]].format(**note | {"note": gettext(note["note"]) if "note" in note else ""})


def say_error(error: str) -> str:
    """Return the error of a run or an answer, in the user's language if it is translated, otherwise as stored."""
    code, _dot, name = error.partition(".")
    if code == "unexpected" and name:
        words = gettext("An unexpected error ({error}) occurred. Administrators can find the details in the log.")
        return words.format(error=name)
    return gettext(error) if error else ""


class EvaluationRun(models.Model):
    """A run of a set with certain options, in a worker or at once."""

    class Status(models.TextChoices):
        """`queued → running → done`, or `failed` with the reason."""

        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    evaluation_set = models.ForeignKey(
        EvaluationSet, on_delete=models.CASCADE, related_name="runs", verbose_name=_("question set")
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("started by")
    )
    # `options.RunOptions.to_dict()`.
    settings = models.JSONField(_("settings"), default=dict)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.QUEUED)
    progress = models.PositiveSmallIntegerField(_("progress"), default=0, help_text=_("percent"))
    error = models.TextField(_("error"), blank=True)
    # Questions scored, and notes on why the figures are incomplete, which `say` renders.
    question_count = models.PositiveIntegerField(_("questions"), default=0)
    notes = models.JSONField(_("notes"), default=list)
    # {"nDCG@10": 0.712, "recall@5": …, "recall@10": …, "MRR@10": …}; empty until it is done.
    figures = models.JSONField(_("figures"), default=dict)
    # For an assistant's run, tokens by kind and the median milliseconds per answer (`median_ms`).
    usage = models.JSONField(_("tokens"), default=dict, blank=True)
    # The number of questions by outcome (`AnswerState`); empty until it is done.
    answer_states = models.JSONField(_("outcomes"), default=dict)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        """Oldest first, as they are plotted."""

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
        """Why the run failed, in the user's language."""
        return say_error(self.error)

    @property
    def notes_said(self) -> list[str]:
        """The notes in the user's language."""
        return [say(note) for note in self.notes]


class EvaluationResult(models.Model):
    """The result of a run for one question; it outlives the question and the passages."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="results", verbose_name=_("run"))
    key = models.CharField(pgettext_lazy("of a question", "key"), max_length=255)
    text = models.TextField(_("question"))
    ndcg_10 = models.FloatField("nDCG@10")
    recall_5 = models.FloatField("recall@5")
    recall_10 = models.FloatField("recall@10")
    mrr_10 = models.FloatField("MRR@10")
    # The state of an answer from these hits, according to the relevance gate; empty in runs from before it existed.
    answer_state = models.CharField(_("outcome"), max_length=10, choices=AnswerState.choices, blank=True)
    # The first ten: [{"chunk_id", "document_id", "filename", "title", "heading", "page", "snippet", "score", "grade"}];
    # the grade is 0 if the hit is wrong, and null if its target was already counted.
    hits = models.JSONField(_("hits"), default=list)
    # Right passages that aren't among the first ten: [{"filename", "snippet", "grade"}].
    missed = models.JSONField(_("missed"), default=list)
    took_ms = models.FloatField(_("milliseconds"), default=0)
    # For an assistant's run: the answer as plain text with [n] for citations, which are
    # [{"number", "chunk_id", "document_id", "title", "page"}]; why it is missing or incomplete; and tokens by kind.
    answer = models.TextField(_("answer"), blank=True)
    citations = models.JSONField(_("citations"), default=list, blank=True)
    error = models.TextField(_("error"), blank=True)
    usage = models.JSONField(_("tokens"), default=dict, blank=True)

    class Meta:
        """Ordered as the questions."""

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
        """Why the answer is missing or incomplete, in the user's language."""
        return say_error(self.error)

    def __str__(self) -> str:
        return self.text

    @property
    def figures(self) -> dict[str, float]:
        """The figures by the names in `metrics.FIGURES`."""
        return Figures(self.ndcg_10, self.recall_5, self.recall_10, self.mrr_10).to_dict()
