"""Models of facts that users asked the site to remember, and of the switch that enables memory."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class MemorySwitch(models.Model):
    """Whether a user's facts are stored and sent to models. Without a row, memory is off."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="memory_switch"
    )
    enabled = models.BooleanField(_("enabled"), default=False)

    class Meta:
        """One per user."""

        verbose_name = _("memory switch")
        verbose_name_plural = _("memory switches")

    def __str__(self) -> str:
        return str(self.user)


class MemoryFact(models.Model):
    """A fact in its user's words; no other user can read it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memory_facts")
    content = models.TextField(_("content"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        """Oldest first."""

        verbose_name = _("remembered fact")
        verbose_name_plural = _("remembered facts")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "content"], name="memory_fact_unique"),
            models.CheckConstraint(condition=~Q(content=""), name="memory_fact_not_empty"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"
