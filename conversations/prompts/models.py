"""How models are asked: prompts, and where the models are. Administrators write these."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _


class PromptTemplate(models.Model):
    """A prompt of one purpose and language; saving an edit makes a new version."""

    class Purpose(models.TextChoices):
        """What the prompt is for."""

        UNDERSTAND = "understand", _("Understand the question")
        REWRITE = "rewrite", _("Rewrite for retrieval")
        SPLIT = "split", _("Take a question apart")
        MISSING = "missing", _("Say what is missing")
        ANSWER = "answer", _("Answer from evidence")
        CHAT = "chat", pgettext_lazy("purpose", "Chat")
        GENERAL = "general", _("Answer from general knowledge")
        CLARIFY = "clarify", _("Ask back")
        RERANK = "rerank", _("Rerank")
        FILTER = "filter", _("Filter hits")
        JUDGE = "judge", _("Judge citations")
        NOTES = "notes", _("Read whole documents")
        SUMMARY = "summary", _("Summarise history")
        TITLE = "title", _("Title")
        BLOCKS = "blocks", _("Write blocks as JSON")

    purpose = models.CharField(_("purpose"), max_length=20, choices=Purpose.choices)
    language = models.CharField(_("language"), max_length=10, choices=[("en", "English"), ("zh", "中文")])
    version = models.PositiveIntegerField(_("version"), default=1)
    system = models.TextField(_("system prompt"))
    user = models.TextField(_("user prompt"), blank=True)
    active = models.BooleanField(_("active"), default=True)
    # Written by a release of the site, not by its administrators.
    shipped = models.BooleanField(_("default"), default=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """One active version per purpose and language."""

        verbose_name = _("prompt template")
        verbose_name_plural = _("prompt templates")
        ordering = ["purpose", "language", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["purpose", "language", "version"], name="prompt_version_unique"),
            models.UniqueConstraint(fields=["purpose", "language"], condition=Q(active=True), name="one_active_prompt"),
        ]

    def __str__(self) -> str:
        return f"{self.get_purpose_display()} ({self.language}, v{self.version})"


class ModelProfile(models.Model):
    """Which model serves a purpose; without one, the `LLM_*` settings do."""

    class Purpose(models.TextChoices):
        """What the model is asked to do."""

        UNDERSTAND = "understand", _("Understand")
        REWRITE = "rewrite", _("Rewrite")
        SPLIT = "split", _("Take a question apart")
        MISSING = "missing", _("Say what is missing")
        ANSWER = "answer", _("Answer")
        CHAT = "chat", pgettext_lazy("purpose", "Chat")
        CLARIFY = "clarify", _("Ask back")
        RERANK = "rerank", _("Rerank")
        FILTER = "filter", _("Filter")
        JUDGE = "judge", _("Judge citations")
        NOTES = "notes", _("Read whole documents")
        SUMMARY = "summary", _("Summarise history")
        TITLE = "title", _("Title")
        EMBEDDING = "embedding", _("Embedding")

    class Thinking(models.TextChoices):
        """How the endpoint is asked to think before it answers, or not to; empty where it can't be."""

        EFFORT = "reasoning_effort", _("reasoning_effort (OpenAI, Ollama)")
        TEMPLATE = "enable_thinking", _("chat_template_kwargs.enable_thinking (vLLM, Qwen)")
        TYPE = "thinking", _("thinking.type (DeepSeek, GLM)")

    purpose = models.CharField(_("purpose"), max_length=20, choices=Purpose.choices)
    base_url = models.URLField(_("base URL"), max_length=500)
    model = models.CharField(_("model"), max_length=200)
    # Where it is not set, requests to such an address are refused, whatever its name has led to before.
    own_network = models.BooleanField(
        _("our own server"), default=False, help_text=_("Its address may be on this machine or in its local network.")
    )
    encrypted_key = models.BinaryField(default=bytes, blank=True, editable=False)
    temperature = models.FloatField(_("temperature"), default=0.3)
    max_tokens = models.PositiveIntegerField(_("answer tokens"), default=2048)
    context_window = models.PositiveIntegerField(_("context window"), default=16_384)
    connect_timeout = models.FloatField(_("connect time-out"), default=10.0)
    idle_timeout = models.FloatField(_("idle time-out"), default=60.0)
    total_timeout = models.FloatField(_("total time-out"), default=600.0)
    concurrency = models.PositiveIntegerField(
        _("requests at once"), default=100, help_text=_("of one server process; 0 is any number")
    )
    thinking = models.CharField(_("thinking"), max_length=20, choices=Thinking.choices, blank=True)
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("The site uses it for its purpose; assistants may name others.")
    )
    # In the site's currency; they only serve to tell what the answers cost.
    input_price = models.DecimalField(
        _("price of a million tokens read"), max_digits=12, decimal_places=4, null=True, blank=True
    )
    output_price = models.DecimalField(
        _("price of a million tokens written"), max_digits=12, decimal_places=4, null=True, blank=True
    )
    offered = models.BooleanField(
        _("people may choose it"), default=False, help_text=_("To write their answers, below the question and by API.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """One enabled profile per purpose."""

        verbose_name = _("model profile")
        verbose_name_plural = _("model profiles")
        ordering = ["purpose", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["purpose"], condition=Q(enabled=True), name="one_enabled_profile_per_purpose"
            ),
            models.CheckConstraint(condition=Q(temperature__gte=0, temperature__lte=2), name="profile_temperature"),
        ]

    def __str__(self) -> str:
        return gettext("%(name)s: %(value)s") % {"name": self.get_purpose_display(), "value": self.model}


class TokenCalibration(models.Model):
    """A model's tokens for each token of the site's own count, smoothed over its answers."""

    model = models.CharField(_("model"), max_length=200, unique=True)
    factor = models.FloatField(_("factor"), default=1.0)
    samples = models.PositiveIntegerField(pgettext_lazy("how many", "answers"), default=0)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        """By name."""

        verbose_name = _("token calibration")
        verbose_name_plural = _("token calibrations")
        ordering = ["model"]
        constraints = [models.CheckConstraint(condition=Q(factor__gt=0), name="token_calibration_positive")]

    def __str__(self) -> str:
        return f"{self.model} · × {self.factor:.2f}"
