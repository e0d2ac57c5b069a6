"""The model of a user's own instructions."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class OwnInstructions(models.Model):
    """How a user wants all their answers written; no other user can read it. Without a row, there is no wish."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="own_instructions"
    )
    text = models.TextField(_("instructions"))

    class Meta:
        """One per user."""

        verbose_name = _("own instructions")
        verbose_name_plural = _("own instructions")

    def __str__(self) -> str:
        return str(self.user)
