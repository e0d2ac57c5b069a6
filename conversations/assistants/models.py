"""Models of assistants, their versions and their rehearsals."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Assistant(models.Model):
    """An assistant that users choose by name; its newest version contains its configuration."""

    name = models.CharField(_("name"), max_length=120, unique=True)
    description = models.CharField(
        _("description"), max_length=300, blank=True, help_text=_("Its purpose in one line, shown where users choose.")
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    is_default = models.BooleanField(
        _("default"), default=False, help_text=_("Used unless another one is chosen; available to everyone.")
    )
    everyone = models.BooleanField(_("available to everyone"), default=True)
    groups = models.ManyToManyField("auth.Group", blank=True, related_name="assistants", verbose_name=_("groups"))
    people = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="assistants", verbose_name=_("people")
    )
    question_set = models.ForeignKey(
        "retrieval.EvaluationSet",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="assistants",
        verbose_name=_("question set"),
        help_text=_("Used to rehearse a change before it goes live."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """The default first, then by name."""

        verbose_name = _("assistant")
        verbose_name_plural = _("assistants")
        ordering = ["-is_default", "name"]
        constraints = [
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="one_default_assistant"),
            models.CheckConstraint(
                condition=Q(is_default=False) | Q(enabled=True, everyone=True), name="default_assistant_is_everyones"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AssistantVersion(models.Model):
    """A version of an assistant's configuration, read by `configuration.Configuration`; versions are never changed."""

    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="versions", verbose_name=_("assistant")
    )
    number = models.PositiveIntegerField(_("version"))
    configuration = models.JSONField(_("configuration"), default=dict, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("saved by")
    )
    created_at = models.DateTimeField(_("saved"), auto_now_add=True)

    class Meta:
        """Newest first."""

        verbose_name = _("assistant version")
        verbose_name_plural = _("assistant versions")
        ordering = ["assistant_id", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["assistant", "number"], name="assistant_version_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.assistant} · {self.number}"


class Rehearsal(models.Model):
    """A change of an assistant that is not live, run on a question set for comparison with the live version.

    `form` contains the submitted form of the change (`application/x-www-form-urlencoded`).
    """

    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="rehearsals")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveIntegerField()
    configuration = models.JSONField(default=dict)
    form = models.TextField()
    run = models.ForeignKey("retrieval.EvaluationRun", on_delete=models.SET_NULL, null=True, related_name="+")
    # A hash of everything besides the assistant that the answers depend on.
    state = models.CharField(max_length=64)
    beside = models.ForeignKey("retrieval.EvaluationRun", on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Newest first."""

        verbose_name = _("rehearsal")
        verbose_name_plural = _("rehearsals")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.assistant} · {self.created_at:%Y-%m-%d %H:%M}"
