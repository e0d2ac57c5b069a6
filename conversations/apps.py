"""The app of how the site talks."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    """Sessions, turns, the pipeline and its streams."""

    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the system checks, and keep the default prompts and the schedule in the database."""
        from conversations import checks, schedules  # noqa: F401
        from conversations.prompt_versions import keep_defaults

        post_migrate.connect(keep_defaults, sender=self, dispatch_uid="conversations.prompts")
        post_migrate.connect(schedules.register, sender=self, dispatch_uid="conversations.schedules")
