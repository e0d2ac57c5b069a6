"""The schedule of the workers: expired conversations are removed every night."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone
from django_q.models import Schedule

CLEAN_UP = "conversations: remove what has expired"
# In the site's time zone.
HOUR = 3


def register(**kwargs: Any) -> None:
    """Create the schedule if it is missing; called after every `migrate`."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return  # a partial migration; the next one calls this again
    tomorrow = timezone.localtime() + timedelta(days=1)
    Schedule.objects.get_or_create(
        name=CLEAN_UP,
        defaults={
            "func": "conversations.tasks.clean_up",
            "schedule_type": Schedule.DAILY,
            "next_run": tomorrow.replace(hour=HOUR, minute=0, second=0, microsecond=0),
        },
    )
