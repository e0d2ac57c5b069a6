"""App configuration of `retrieval`."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class RetrievalConfig(AppConfig):
    """App configuration: the index, both retrievers and their fusion."""

    name = "retrieval"
    verbose_name = _("Retrieval")

    def ready(self) -> None:
        """Register the system checks, connect signals, and audit changes to embedding models."""
        from django_q.signals import post_spawn

        from ragsite.audit import watch
        from ragsite.models import AuditEntry
        from retrieval import checks  # noqa: F401
        from retrieval.embedding_models import schedules
        from retrieval.embedding_models.models import ModelJob, RegisteredModel

        watch.model(RegisteredModel, AuditEntry.Action.EMBEDDING, only=("base_url", "encrypted_key", "languages"))
        watch.model(ModelJob, AuditEntry.Action.EMBEDDING, only=("kind",))
        post_spawn.connect(_worker_started, dispatch_uid="retrieval.worker_started")
        post_migrate.connect(_drop_orphans, sender=self)
        post_migrate.connect(schedules.register, sender=self, dispatch_uid="retrieval.schedules")


def _drop_orphans(**kwargs: Any) -> None:
    """Drop the tables of embedding spaces that a flush deleted."""
    from retrieval.engine import partitions

    partitions.drop_orphans()


def _worker_started(**kwargs: Any) -> None:
    from django_q.tasks import async_task

    from retrieval.embedding_models import jobs
    from retrieval.evaluation import runs
    from retrieval.models import CorpusSize

    runs.worker_started()
    jobs.worker_started()
    if CorpusSize.objects.filter(analysed_to__isnull=False).exists():  # indexed by an earlier version
        async_task("retrieval.tasks.renew_index")
