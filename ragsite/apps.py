"""App configuration of the site itself: start-up, tokens, health."""

from django.apps import AppConfig


class RagsiteConfig(AppConfig):
    """Registers the system checks of the site."""

    name = "ragsite"

    def ready(self) -> None:
        """Register the system checks."""
        from ragsite.runtime import checks  # noqa: F401
