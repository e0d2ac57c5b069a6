"""What the workers do without being asked: conversations that have outlived their time are removed every night."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone
from django_q.models import Schedule

CLEAN_UP = "conversations: remove what has expired"
# Of the site's time zone.
HOUR = 3


def register(**kwargs: Any) -> None:
    """Make the schedule when it is missing; called after every `migrate`."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return  # a partial migration; the next one comes by here again
    tomorrow = timezone.localtime() + timedelta(days=1)
    Schedule.objects.get_or_create(
        name=CLEAN_UP,
        defaults={
            "func": "conversations.tasks.clean_up",
            "schedule_type": Schedule.DAILY,
            "next_run": tomorrow.replace(hour=HOUR, minute=0, second=0, microsecond=0),
        },
    )
