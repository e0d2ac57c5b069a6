"""The schedule for filling the active embedding space."""

from typing import Any

from django.db import connection
from django_q.models import Schedule

FILL = "retrieval: fill the embedding space in use"


def register(**kwargs: Any) -> None:
    """Create the schedule if it is missing; called after every `migrate`."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return  # a partial migration; the next one calls this again
    Schedule.objects.get_or_create(
        name=FILL,
        defaults={"func": "retrieval.tasks.fill_active_space", "schedule_type": Schedule.MINUTES, "minutes": 1},
    )
