"""The record of backups."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class BackupRun(models.Model):
    """A backup that was started: by the schedule, an administrator or a command."""

    class State(models.TextChoices):
        """How far it is."""

        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    # The path on the server; empty until a process works on it.
    file = models.TextField(blank=True)
    size = models.PositiveBigIntegerField(default=0)  # bytes
    error = models.TextField(blank=True)
    started_by = models.CharField(max_length=150, blank=True)  # a username; empty for the schedule and commands
    started_at = models.DateTimeField(auto_now_add=True)
    heartbeat_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Newest first; one runs at a time. Only superusers see them, so that there are no permissions."""

        verbose_name = _("backup")
        verbose_name_plural = _("backups")
        ordering = ["-started_at", "-id"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["state"], condition=Q(state="running"), name="one_running_backup"),
        ]

    def __str__(self) -> str:
        return self.file
