"""App configuration of `knowledge`."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_delete
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    """Knowledge bases, documents and their ingestion."""

    name = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        """Register system checks, audited models and signal handlers."""
        from allauth.account.signals import user_signed_up
        from django_q.signals import post_spawn

        from knowledge import checks, indexer  # noqa: F401
        from knowledge.ingestion import schedules
        from knowledge.invitations import invitations
        from knowledge.models import KnowledgeBase, Membership
        from ragsite.audit import watch
        from ragsite.models import AuditEntry

        action = AuditEntry.Action
        watch.model(Membership, action.SHARED, removed=action.UNSHARED)
        watch.model(KnowledgeBase, action.VISIBILITY, only=("visibility",), added=False, removed=action.DELETED)

        user_signed_up.connect(invitations.accept_held, dispatch_uid="knowledge.invitations")
        post_migrate.connect(schedules.register, sender=self, dispatch_uid="knowledge.ingestion.schedules")
        post_spawn.connect(schedules.worker_started, dispatch_uid="knowledge.worker_started")
        pre_delete.connect(indexer.document_deleted, sender="knowledge.Document", dispatch_uid="knowledge.indexer")
