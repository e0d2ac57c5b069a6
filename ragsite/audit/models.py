"""Entries of the audit log."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class AuditEntry(models.Model):
    """Who did what to which object, when and from where; names are kept after the objects are deleted.

    `details` never contain a document's text, a key or a password. Without an actor it was the site or a command.
    """

    class Action(models.TextChoices):
        """The action; for changes of configuration, `details["what"]` is `added`, `changed` or `removed`."""

        SIGNED_IN = "signed_in", _("signed in")
        SIGNED_OUT = "signed_out", _("signed out")
        SIGN_IN_FAILED = "sign_in_failed", _("failed to sign in")
        SHARED = "shared", _("shared")
        UNSHARED = "unshared", _("stopped sharing")
        VISIBILITY = "visibility", _("changed visibility")
        OWNER = "owner", _("transferred ownership")
        LINK_MADE = "link_made", _("created a link")
        LINK_REVOKED = "link_revoked", _("revoked a link")
        INVITED = "invited", _("changed an invitation")
        DELETED = "deleted", pgettext_lazy("audit", "deleted")
        EXPORTED = "exported", _("exported")
        ACCOUNT = "account", _("changed an account")
        ROLE = "role", _("changed a role")
        GROUP = "group", _("changed a group")
        LIMIT = "limit", _("changed a limit")
        TOKEN = "token", _("changed a token")  # not a secret
        PROMPT = "prompt", _("changed a prompt")
        MODEL = "model", _("changed a model profile")
        ASSISTANT = "assistant", _("changed an assistant")
        EMBEDDING = "embedding", _("changed an embedding model")
        SETTING = "setting", _("changed a setting")
        BULK = "bulk", _("ran a bulk action")

    at = models.DateTimeField(_("when"), auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("account")
    )
    actor_name = models.CharField(_("who"), max_length=150, blank=True)
    action = models.CharField(_("action"), max_length=20, choices=Action.choices)
    object_type = models.CharField(_("kind"), max_length=100, blank=True)
    object_id = models.CharField(_("id"), max_length=64, blank=True)
    object_name = models.CharField(_("what"), max_length=300, blank=True)
    details = models.JSONField(_("details"), default=dict, blank=True)
    address = models.CharField(_("address"), max_length=64, blank=True)

    class Meta:
        """Newest first."""

        verbose_name = _("audit log entry")
        verbose_name_plural = _("audit log")
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_newest"),
            models.Index(fields=["action", "-at"], name="audit_by_action"),
            models.Index(fields=["actor_name", "-at"], name="audit_by_name"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name or '–'} {self.get_action_display()} {self.object_name}".strip()
