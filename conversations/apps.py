"""The app of how the site talks."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    """Sessions, turns, the pipeline and its streams."""

    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the system checks of the pipeline."""
        from conversations import checks  # noqa: F401
