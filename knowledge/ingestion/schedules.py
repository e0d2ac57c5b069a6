"""Scheduled tasks of the workers, which requeue the documents of killed workers."""

import logging
from typing import Any

from django.db import DatabaseError, connection
from django_q.models import Schedule

from knowledge import services
from knowledge.ingestion import ingestion
from knowledge.many import bulk
from ragsite.limits import ballast

logger = logging.getLogger(__name__)

REQUEUE = "knowledge: take up stalled documents"


def register(**kwargs: Any) -> None:
    """Create missing schedules; called after every `migrate`."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return  # a partial migration; the next one calls this again
    Schedule.objects.get_or_create(
        name=REQUEUE,
        defaults={"func": "knowledge.tasks.requeue_stalled", "schedule_type": Schedule.MINUTES, "minutes": 1},
    )


def worker_started(**kwargs: Any) -> None:
    """Do the schedule's work when a worker process starts, instead of waiting for it."""
    ballast.keep()
    try:
        services.tidy_queue()
        bulk.resume_stalled()
        ingestion.requeue_stalled()
    except DatabaseError:
        logger.warning("Could not look for stalled documents; the scheduled task will try again", exc_info=True)
