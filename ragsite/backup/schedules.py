"""The schedule of the workers, which look whether a backup is due."""

from typing import Any

from django.db import connection
from django_q.models import Schedule

NAME = "ragsite: backups"
MINUTES = 5


def register(**kwargs: Any) -> None:
    """Create the schedule if it is missing; called after every `migrate`."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return  # a partial migration; the next one calls this again
    Schedule.objects.get_or_create(
        name=NAME,
        defaults={
            "func": "ragsite.backup.tasks.start_if_due",
            "schedule_type": Schedule.MINUTES,
            "minutes": MINUTES,
        },
    )
