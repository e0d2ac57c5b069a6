"""Limits of users and groups, and their usage."""

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

_MOST = MaxValueValidator(10**15)


class Limit(models.Model):
    """Limits of a user or a group; an empty field falls back to the limits of the user's groups, then to the site's.

    The most generous of a user's groups applies. Members don't share a group's limit; each has it in full.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="limit",
        verbose_name=_("person"),
    )
    group = models.OneToOneField(
        "auth.Group", on_delete=models.CASCADE, null=True, blank=True, related_name="limit", verbose_name=_("group")
    )
    questions_per_day = models.PositiveBigIntegerField(
        _("questions per day"),
        null=True,
        blank=True,
        validators=[_MOST],
        help_text=_("0 means that no questions can be asked."),
    )
    tokens_per_month = models.PositiveBigIntegerField(
        _("tokens per month"),
        null=True,
        blank=True,
        validators=[_MOST],
        help_text=_("Tokens that models read and write."),
    )
    storage_mb = models.PositiveBigIntegerField(
        _("storage in MB"),
        null=True,
        blank=True,
        validators=[_MOST],
        help_text=_("Total size of the documents in their own knowledge bases."),
    )

    class Meta:
        """Each belongs to one user or one group."""

        verbose_name = _("limit")
        verbose_name_plural = _("limits")
        ordering = ["group__name", "user__username"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=True) ^ Q(group__isnull=True),
                name="limit_of_user_or_group",
                violation_error_message=_("Name either a person or a group."),
            ),
        ]

    def __str__(self) -> str:
        return str(self.user or self.group or "")


class Usage(models.Model):
    """A user's questions and tokens on a day in the site's time zone; kept when their chats are deleted."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="usage", verbose_name=_("person")
    )
    day = models.DateField(_("day"))
    questions = models.PositiveBigIntegerField(_("questions"), default=0)
    tokens = models.PositiveBigIntegerField(_("tokens"), default=0)

    class Meta:
        """Newest first."""

        verbose_name = _("daily usage")
        verbose_name_plural = _("daily usage")
        ordering = ["-day", "user_id"]
        constraints = [models.UniqueConstraint(fields=["user", "day"], name="usage_of_a_day")]
        indexes = [models.Index(fields=["-day", "user"], name="usage_newest")]

    def __str__(self) -> str:
        return f"{self.user} · {self.day}"
