"""The embedding models that the site has, and the work that is done with them in the background."""

from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ragsite.llm import secrets
from ragsite.llm.embedding.embedding import EmbeddingModel

# Seconds of work from which on its pace tells how long the rest takes.
PACE_SECONDS = 3


class RegisteredModel(models.Model):
    """An embedding model that the site knows; it is searched by once its space is the active one."""

    class Source(models.TextChoices):
        """Where it comes from."""

        BUNDLED = "bundled", _("Comes with the site")
        HUB = "hub", _("Downloaded")
        FILES = "files", _("Brought as files")
        ENDPOINT = "endpoint", _("OpenAI-compatible endpoint")
        EARLIER = "earlier", _("Came with an earlier version")

    class State(models.TextChoices):
        """Whether it can be tried and used."""

        NEW = "new", _("Being added")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        GONE = "gone", _("No longer available")

    # As its embedding space names it, too.
    name = models.CharField(_("name"), max_length=200, unique=True)
    source = models.CharField(_("source"), max_length=10, choices=Source.choices)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.NEW)
    # Of an endpoint.
    base_url = models.CharField(_("base URL"), max_length=500, blank=True)
    # None is for one that the environment or a command named: where it leads is not looked at.
    own_network = models.BooleanField(_("our own server"), null=True, blank=True)
    encrypted_key = models.BinaryField(default=bytes, blank=True, editable=False)
    # None until the model was asked.
    dimension = models.PositiveIntegerField(_("dimension"), null=True, blank=True)
    # Languages that it knows ("en", "zh"); empty means every language.
    languages = ArrayField(models.CharField(max_length=10), verbose_name=_("languages"), default=list, blank=True)
    license = models.CharField(_("licence"), max_length=100, blank=True)
    # Of its files in bytes; None for an endpoint's.
    size = models.BigIntegerField(_("size"), null=True, blank=True)
    # What was downloaded or brought: the hub's revision, and the SHA-256 of each file by its path.
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
        """By name."""

        verbose_name = _("embedding model")
        verbose_name_plural = _("embedding models")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def provider(self) -> str:
        """`openai` or `local`, as its embedding space says it."""
        return "openai" if self.source == self.Source.ENDPOINT else "local"

    @property
    def full_name(self) -> str:
        """The name under which it was published, of the one that comes with the site."""
        return Path(settings.BUNDLED_MODEL_DIR).name if self.source == self.Source.BUNDLED else self.name

    def reached(self) -> EmbeddingModel:
        """Return the model and how it is reached; raises `LLMError` when its key can't be read."""
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
        """Whether it understands a language."""
        return not self.languages or language in self.languages


class ModelJob(models.Model):
    """Work on a model that takes its time: adding it, trying it, or taking it into use."""

    class Kind(models.TextChoices):
        """What is done."""

        ADD = "add", _("Adding")
        TRY = "try", _("Trial")
        USE = "use", _("Change of model")

    class Status(models.TextChoices):
        """`queued → running → done`; `failed` with the reason, or `stopped` by a person. Each can be gone on with."""

        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        STOPPED = "stopped", _("Stopped")

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    model = models.ForeignKey(RegisteredModel, on_delete=models.CASCADE, related_name="jobs", verbose_name=_("model"))
    kind = models.CharField(_("kind"), max_length=5, choices=Kind.choices)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.QUEUED)
    # How many bytes, passages or questions are done, of how many.
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    error = models.TextField(_("error"), blank=True)
    # What was asked for, and the results of a trial: see `trial.run`.
    details = models.JSONField(_("details"), default=dict, blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("started by")
    )
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        """Newest first; one at a time for each model."""

        verbose_name = _("work on an embedding model")
        verbose_name_plural = _("work on embedding models")
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
        """How much of it is done."""
        return min(100, 100 * self.done // self.total) if self.total else 0

    @property
    def seconds_left(self) -> int | None:
        """About how many seconds a change of model still takes, by its pace since a worker took it up; None if unknown.

        What it was taken up at is told by its `details`: `first` passages were done at the time `began`.
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
        """Whether it waits or runs."""
        return self.status in self.UNFINISHED
