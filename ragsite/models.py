"""API tokens, which are per user and stored as hashes only, and the models of the site's other packages."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ragsite.audit.models import AuditEntry
from ragsite.backup.models import BackupRun
from ragsite.limits.models import Limit, Usage
from ragsite.site_settings.models import SettingChange, SiteSetting

__all__ = ["ApiToken", "AuditEntry", "BackupRun", "Limit", "SettingChange", "SiteSetting", "Usage"]


class ApiToken(models.Model):
    """A key with which a program acts as its user."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="sha-256 of the key")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)

    class Meta:
        """Newest first."""

        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name
