"""Models of prompts, model profiles and token calibrations."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _


class PromptTemplate(models.Model):
    """A prompt for a purpose and language; saving an edit creates a new version."""

    class Purpose(models.TextChoices):
        """The purpose of a prompt."""

        UNDERSTAND = "understand", _("Understand the question")
        REWRITE = "rewrite", _("Rewrite for retrieval")
        SPLIT = "split", _("Split a question into parts")
        MISSING = "missing", _("Find missing information")
        ANSWER = "answer", _("Answer from evidence")
        CHAT = "chat", pgettext_lazy("purpose", "Chat")
        GENERAL = "general", _("Answer from general knowledge")
        CLARIFY = "clarify", _("Ask for clarification")
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
    # Whether it came with a release, rather than from an administrator.
    shipped = models.BooleanField(_("default"), default=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """Newest versions first; one version per purpose and language is active."""

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
    """The model for a purpose; without a profile, the `LLM_*` settings are used."""

    class Purpose(models.TextChoices):
        """The purpose of a model."""

        UNDERSTAND = "understand", _("Understand")
        REWRITE = "rewrite", _("Rewrite")
        SPLIT = "split", _("Split a question into parts")
        MISSING = "missing", _("Find missing information")
        ANSWER = "answer", _("Answer")
        CHAT = "chat", pgettext_lazy("purpose", "Chat")
        CLARIFY = "clarify", _("Ask for clarification")
        RERANK = "rerank", _("Rerank")
        FILTER = "filter", _("Filter")
        JUDGE = "judge", _("Judge citations")
        NOTES = "notes", _("Read whole documents")
        SUMMARY = "summary", _("Summarise history")
        TITLE = "title", _("Title")
        EMBEDDING = "embedding", _("Embedding")

    class Thinking(models.TextChoices):
        """The parameter that switches the endpoint's thinking on or off; empty if it has none."""

        EFFORT = "reasoning_effort", _("reasoning_effort (OpenAI, Ollama)")
        TEMPLATE = "enable_thinking", _("chat_template_kwargs.enable_thinking (vLLM, Qwen)")
        TYPE = "thinking", _("thinking.type (DeepSeek, GLM)")
        FLAG = "top_enable_thinking", _("enable_thinking (DashScope)")
        ALWAYS = "always", _("none: the model always thinks")

    purpose = models.CharField(_("purpose"), max_length=20, choices=Purpose.choices)
    base_url = models.URLField(_("base URL"), max_length=500)
    model = models.CharField(_("model"), max_length=200)
    # Otherwise requests to such addresses are refused, whatever the host name resolved to before.
    own_network = models.BooleanField(
        _("our own server"), default=False, help_text=_("Its address may be on this machine or in its local network.")
    )
    encrypted_key = models.BinaryField(default=bytes, blank=True, editable=False)
    temperature = models.FloatField(_("temperature"), default=0.3)
    max_tokens = models.PositiveIntegerField(_("answer tokens"), default=2048)
    context_window = models.PositiveIntegerField(_("context window"), default=16_384)
    connect_timeout = models.FloatField(_("connect timeout"), default=10.0)
    idle_timeout = models.FloatField(_("idle timeout"), default=60.0)
    total_timeout = models.FloatField(_("total timeout"), default=600.0)
    concurrency = models.PositiveIntegerField(
        _("concurrent requests"), default=100, help_text=_("Per server process; 0 means unlimited.")
    )
    thinking = models.CharField(_("thinking"), max_length=20, choices=Thinking.choices, blank=True)
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("The site uses it for its purpose; assistants may use others.")
    )
    # In the site's currency; used only to report the cost of answers.
    input_price = models.DecimalField(
        _("price per million input tokens"), max_digits=12, decimal_places=4, null=True, blank=True
    )
    output_price = models.DecimalField(
        _("price per million output tokens"), max_digits=12, decimal_places=4, null=True, blank=True
    )
    offered = models.BooleanField(
        _("offered to users"),
        default=False,
        help_text=_("Users can choose it for answers, in the composer and by API."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """Ordered by purpose; one profile per purpose is enabled."""

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
    """The number of a model's tokens per token of the site's own count, smoothed over its answers."""

    model = models.CharField(_("model"), max_length=200, unique=True)
    factor = models.FloatField(_("factor"), default=1.0)
    samples = models.PositiveIntegerField(pgettext_lazy("how many", "answers"), default=0)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        """Ordered by name."""

        verbose_name = _("token calibration")
        verbose_name_plural = _("token calibrations")
        ordering = ["model"]
        constraints = [models.CheckConstraint(condition=Q(factor__gt=0), name="token_calibration_positive")]

    def __str__(self) -> str:
        return f"{self.model} · × {self.factor:.2f}"
