"""Facts that people told the site to remember, and the switch that lets it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class MemorySwitch(models.Model):
    """Whether a person's facts are learned and given to the model. Without a row they are not."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="memory_switch"
    )
    enabled = models.BooleanField(_("enabled"), default=False)

    class Meta:
        """One per person."""

        verbose_name = _("memory switch")
        verbose_name_plural = _("memory switches")

    def __str__(self) -> str:
        return str(self.user)


class MemoryFact(models.Model):
    """One fact, in the words of the person it belongs to; nobody else reads it."""

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
