"""App configuration of `retrieval`."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class RetrievalConfig(AppConfig):
    """The index, both retrievers and their fusion."""

    name = "retrieval"
    verbose_name = _("Retrieval")

    def ready(self) -> None:
        """Listen to workers that start, and register the system checks."""
        from django_q.signals import post_spawn

        from retrieval import checks  # noqa: F401

        post_spawn.connect(_worker_started, dispatch_uid="retrieval.worker_started")
        post_migrate.connect(_drop_orphans, sender=self)


def _drop_orphans(**kwargs: Any) -> None:
    """After a flush: the tables of the spaces that it emptied go, too."""
    from retrieval.engine import partitions

    partitions.drop_orphans()


def _worker_started(**kwargs: Any) -> None:
    from django_q.tasks import async_task

    from retrieval.embedding_models import jobs
    from retrieval.evaluation import runs
    from retrieval.models import CorpusSize

    runs.worker_started()
    jobs.worker_started()
    if CorpusSize.objects.filter(analysed_to__isnull=False).exists():  # an earlier version indexed them
        async_task("retrieval.tasks.renew_index")
