"""How much more, or less, a model counts than the site does, learned from what its provider reports."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class TokenCalibration(models.Model):
    """A model's tokens for each token of the site's own count, smoothed over its answers."""

    model = models.CharField(_("model"), max_length=200, unique=True)
    factor = models.FloatField(_("factor"), default=1.0)
    samples = models.PositiveIntegerField(_("answers"), default=0)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        """By name."""

        verbose_name = _("token calibration")
        verbose_name_plural = _("token calibrations")
        ordering = ["model"]
        constraints = [models.CheckConstraint(condition=Q(factor__gt=0), name="token_calibration_positive")]

    def __str__(self) -> str:
        return f"{self.model}: × {self.factor:.2f}"
