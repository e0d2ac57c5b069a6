"""The model of invitations, which stores only the hash of the key."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ragsite.accounts.roles import Role


class Invitation(models.Model):
    """A link that grants one person access to the site, to a knowledge base, or both."""

    class State(models.TextChoices):
        """The state of the invitation."""

        OPEN = "open", _("Open")
        USED = "used", _("Used")
        REVOKED = "revoked", _("Revoked")
        EXPIRED = "expired", _("Expired")

    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="sha-256 of the key")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="invitations", verbose_name=_("invited by")
    )
    email = models.EmailField(
        _("e-mail address"), blank=True, help_text=_("Only an account with this address can use the link.")
    )
    role = models.CharField(
        _("role on the site"),
        max_length=20,
        choices=Role.choices,
        default=Role.MEMBER,
        help_text=_("For new accounts; people who have an account keep their role."),
    )
    groups = models.ManyToManyField("auth.Group", blank=True, related_name="+", verbose_name=_("groups"))
    knowledge_base = models.ForeignKey(
        "knowledge.KnowledgeBase",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="invitations",
        verbose_name=_("knowledge base"),
    )
    base_role = models.CharField(
        _("role in the knowledge base"),
        max_length=10,
        choices=[("viewer", _("Viewer")), ("editor", _("Editor"))],
        default="viewer",
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("valid until"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)
    used_at = models.DateTimeField(_("used"), null=True, blank=True, editable=False)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("used by"),
    )

    class Meta:
        """Ordered newest first."""

        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role"),
            models.CheckConstraint(condition=Q(base_role__in=["viewer", "editor"]), name="invitation_base_role"),
        ]

    def __str__(self) -> str:
        return " · ".join(filter(None, [self.email, str(self.knowledge_base or "")])) or str(_("to this site"))

    @property
    def state(self) -> State:
        """The state of the invitation."""
        if self.used_at is not None:
            return self.State.USED
        if self.revoked_at is not None:
            return self.State.REVOKED
        return self.State.EXPIRED if self.expires_at <= timezone.now() else self.State.OPEN
