"""App configuration of the site itself: start-up, tokens, health."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class AdminConfig(DjangoAdminConfig):
    """Django's admin with the site's own `AdminSite`."""

    default = False
    default_site = "ragsite.admin_base.AdminSite"

    def ready(self) -> None:
        """Add missing labels, then discover the apps' admin modules."""
        from ragsite.words import labels

        labels.label()
        super().ready()


class RagsiteConfig(AppConfig):
    """Registers system checks and signal receivers."""

    name = "ragsite"

    def ready(self) -> None:
        """Register the system checks, and connect the receivers of sign-ins and of the audit log."""
        from allauth.account.signals import user_logged_in
        from allauth.socialaccount.signals import social_account_added
        from django.db.models.signals import post_migrate

        from ragsite.accounts.adapters import password_removed, sync_groups, warn_of_removed_password
        from ragsite.audit import watch
        from ragsite.backup import schedules
        from ragsite.models import ApiToken, AuditEntry, Limit
        from ragsite.runtime import checks  # noqa: F401

        user_logged_in.connect(sync_groups, dispatch_uid="ragsite.accounts.groups")
        social_account_added.connect(password_removed, dispatch_uid="ragsite.accounts.password_removed")
        user_logged_in.connect(warn_of_removed_password, dispatch_uid="ragsite.accounts.warn_of_removed_password")
        post_migrate.connect(schedules.register, sender=self, dispatch_uid="ragsite.backup.schedules")
        watch.people()
        watch.model(Limit, AuditEntry.Action.LIMIT)
        watch.model(ApiToken, AuditEntry.Action.TOKEN, ignored=("last_used_at",))
