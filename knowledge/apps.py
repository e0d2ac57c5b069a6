"""App configuration of `knowledge`."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_delete
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    """Knowledge bases, documents and how they become chunks."""

    name = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        """Keep the schedules registered, look after stalled documents when a worker starts, and check the indexer."""
        from django_q.signals import post_spawn

        from knowledge import checks, indexer  # noqa: F401
        from knowledge.ingestion import schedules
        from knowledge.models import KnowledgeBase, Membership
        from ragsite.audit import watch
        from ragsite.models import AuditEntry

        action = AuditEntry.Action
        watch.model(Membership, action.SHARED, removed=action.UNSHARED)
        watch.model(KnowledgeBase, action.VISIBILITY, only=("visibility",), added=False, removed=action.DELETED)

        post_migrate.connect(schedules.register, sender=self, dispatch_uid="knowledge.ingestion.schedules")
        post_spawn.connect(schedules.worker_started, dispatch_uid="knowledge.worker_started")
        pre_delete.connect(indexer.document_deleted, sender="knowledge.Document", dispatch_uid="knowledge.indexer")
