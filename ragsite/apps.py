"""App configuration of the site itself: start-up, tokens, health."""

from django.apps import AppConfig


class RagsiteConfig(AppConfig):
    """Registers the system checks of the site."""

    name = "ragsite"

    def ready(self) -> None:
        """Register the system checks, and have the audit log told of sign-ins, accounts, groups, limits and tokens."""
        from ragsite.audit import watch
        from ragsite.models import ApiToken, AuditEntry, Limit
        from ragsite.runtime import checks  # noqa: F401

        watch.people()
        watch.model(Limit, AuditEntry.Action.LIMIT)
        watch.model(ApiToken, AuditEntry.Action.TOKEN, ignored=("last_used_at",))
