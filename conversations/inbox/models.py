"""Models of unseen answers and of unsent text, in tables of their own, since most queries of sessions need neither."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class UnseenAnswer(models.Model):
    """Marks a session in which an answer ended that its owner has not seen; deleted once they open the session."""

    session = models.OneToOneField(
        "conversations.ChatSession", on_delete=models.CASCADE, primary_key=True, related_name="unseen_answer"
    )
    ended_at = models.DateTimeField(_("ended"), auto_now=True)

    class Meta:
        """At most one per session."""

        verbose_name = _("unseen answer")
        verbose_name_plural = _("unseen answers")

    def __str__(self) -> str:
        return str(self.session_id)


class Draft(models.Model):
    """The text in a session's composer, and the question that is sent after the running answer.

    They are deleted when they are sent. Exports and the audit log don't contain them.
    """

    session = models.OneToOneField(
        "conversations.ChatSession", on_delete=models.CASCADE, primary_key=True, related_name="draft"
    )
    text = models.TextField(_("text"), blank=True, default="")
    queued = models.TextField(_("next question"), blank=True, default="")
    # The request id of the queued question, so that two pages that send it start one turn.
    queued_id = models.UUIDField(null=True, blank=True, editable=False)
    changed_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        """At most one per session."""

        verbose_name = _("draft")
        verbose_name_plural = _("drafts")

    def __str__(self) -> str:
        return str(self.session_id)
