"""App configuration of the site itself: start-up, tokens, health."""

from django.apps import AppConfig


class RagsiteConfig(AppConfig):
    """Registers the system checks of the site."""

    name = "ragsite"

    def ready(self) -> None:
        """Register the system checks, and hear of who comes through the provider."""
        from allauth.account.signals import user_logged_in

        from ragsite.accounts.adapters import take_groups
        from ragsite.runtime import checks  # noqa: F401

        user_logged_in.connect(take_groups, dispatch_uid="ragsite.accounts.groups")
