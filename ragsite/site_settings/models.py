"""Settings stored by administrators, and the log of their changes."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class SiteSetting(models.Model):
    """A setting that isn't at its default; the environment takes precedence."""

    name = models.CharField(_("setting"), max_length=60, primary_key=True)
    value = models.TextField(_("value"), blank=True, help_text=_("In the format of its environment variable."))

    class Meta:
        """Ordered by name."""

        verbose_name = _("site setting")
        verbose_name_plural = _("site settings")
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


class SettingChange(models.Model):
    """A change of a setting: who, when, and the values before and after; None is the default."""

    name = models.CharField(_("setting"), max_length=60)
    before = models.TextField(_("before"), null=True)
    after = models.TextField(_("after"), null=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("changed by")
    )
    # Kept when the account is deleted.
    username = models.CharField(_("username"), max_length=150)
    changed_at = models.DateTimeField(_("changed"), auto_now_add=True)

    class Meta:
        """Newest first."""

        verbose_name = _("setting change")
        verbose_name_plural = _("setting changes")
        ordering = ["-changed_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} · {self.before or '–'} → {self.after or '–'}"
