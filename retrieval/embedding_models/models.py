"""The site's embedding models and the background jobs on them."""

from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ragsite.llm import secrets
from ragsite.llm.embedding.embedding import EmbeddingModel

# Seconds of work after which its speed allows an estimate of the rest.
PACE_SECONDS = 3


class RegisteredModel(models.Model):
    """An embedding model known to the site; search uses it once its space is the active one."""

    class Source(models.TextChoices):
        """Where a model comes from."""

        BUNDLED = "bundled", _("Included with the site")
        HUB = "hub", _("Downloaded")
        FILES = "files", _("Added from files")
        ENDPOINT = "endpoint", _("OpenAI-compatible endpoint")
        EARLIER = "earlier", _("Included in an earlier version")

    class State(models.TextChoices):
        """Whether a model can be tried and used."""

        NEW = "new", _("Being added")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        GONE = "gone", _("No longer available")

    # Also the name in its embedding space.
    name = models.CharField(_("name"), max_length=200, unique=True)
    source = models.CharField(_("source"), max_length=10, choices=Source.choices)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.NEW)
    # For an endpoint.
    base_url = models.CharField(_("base URL"), max_length=500, blank=True)
    # None for a model from the environment or a command, whose address isn't checked.
    own_network = models.BooleanField(_("our own server"), null=True, blank=True)
    encrypted_key = models.BinaryField(default=bytes, blank=True, editable=False)
    # None until the model was queried.
    dimension = models.PositiveIntegerField(_("dimension"), null=True, blank=True)
    # The languages it knows ("en", "zh"); empty means every language.
    languages = ArrayField(models.CharField(max_length=10), verbose_name=_("languages"), default=list, blank=True)
    license = models.CharField(_("licence"), max_length=100, blank=True)
    # Total size of its files in bytes; None for an endpoint.
    size = models.BigIntegerField(_("size"), null=True, blank=True)
    # The hub's revision, and the SHA-256 of each file by path.
    revision = models.CharField(_("revision"), max_length=64, blank=True)
    digests = models.JSONField(_("checksums"), default=dict, blank=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("added by"),
    )
    created_at = models.DateTimeField(_("added"), auto_now_add=True)

    class Meta:
        """Ordered by name."""

        verbose_name = _("embedding model")
        verbose_name_plural = _("embedding models")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def provider(self) -> str:
        """`openai` or `local`, as in its embedding space."""
        return "openai" if self.source == self.Source.ENDPOINT else "local"

    @property
    def full_name(self) -> str:
        """The model's name; for the bundled model, the name under which it was published."""
        return Path(settings.BUNDLED_MODEL_DIR).name if self.source == self.Source.BUNDLED else self.name

    def reached(self) -> EmbeddingModel:
        """Return the model with its address and key. Raises `LLMError` if the key can't be read."""
        remote = self.source == self.Source.ENDPOINT
        return EmbeddingModel(
            provider=self.provider,
            model=self.name,
            base_url=self.base_url,
            api_key=secrets.decrypt(bytes(self.encrypted_key)) if remote else "",
            dimension=self.dimension if remote else None,
            languages=tuple(self.languages),
            own_network=self.own_network,
        )

    def knows(self, language: str) -> bool:
        """Return whether the model knows a language."""
        return not self.languages or language in self.languages


class ModelJob(models.Model):
    """A background job on a model: adding it, trying it, or switching to it."""

    class Kind(models.TextChoices):
        """The type of job."""

        ADD = "add", _("Adding")
        TRY = "try", _("Trial")
        USE = "use", _("Switching models")

    class Status(models.TextChoices):
        """`queued → running → done`; `failed` with the reason, or `stopped` by a user. The last two can be resumed."""

        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        STOPPED = "stopped", _("Stopped")

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    model = models.ForeignKey(RegisteredModel, on_delete=models.CASCADE, related_name="jobs", verbose_name=_("model"))
    kind = models.CharField(_("kind"), max_length=5, choices=Kind.choices)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.QUEUED)
    # Bytes, passages or questions processed, and their total.
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    error = models.TextField(_("error"), blank=True)
    # The job's parameters, and the results of a trial: see `trial.run`.
    details = models.JSONField(_("details"), default=dict, blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("started by")
    )
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        """Newest first; at most one unfinished job per model."""

        verbose_name = _("embedding model job")
        verbose_name_plural = _("embedding model jobs")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["model"], condition=Q(status__in=["queued", "running"]), name="one_unfinished_job_per_model"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.model}"

    @property
    def percent(self) -> int:
        """The percentage done."""
        return min(100, 100 * self.done // self.total) if self.total else 0

    @property
    def seconds_left(self) -> int | None:
        """Estimated seconds left of a switch of models, from its speed since a worker started it; None if unknown.

        `details` has the starting point: `first` passages were done at the time `began`.
        """
        if self.status != self.Status.RUNNING or "began" not in self.details or self.heartbeat_at is None:
            return None
        done = self.done - int(self.details["first"])
        seconds = (self.heartbeat_at - datetime.fromisoformat(self.details["began"])).total_seconds()
        if done <= 0 or seconds < PACE_SECONDS:
            return None
        return round((self.total - self.done) * seconds / done)

    @property
    def is_unfinished(self) -> bool:
        """Whether the job is queued or running."""
        return self.status in self.UNFINISHED
