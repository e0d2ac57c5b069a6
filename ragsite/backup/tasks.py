"""Tasks of the workers."""

from django.conf import settings
from django.utils.module_loading import import_string

from ragsite.backup import runs


def make(run_id: int) -> bool:
    """Make a queued backup while other work goes on; see `runs.make_queued`."""
    return bool(import_string(settings.LONG_TASKS)(lambda: runs.make_queued(run_id)))


def start_if_due() -> bool:
    """Queue a backup if the schedule says so; see `runs.start_if_due`."""
    return runs.start_if_due()
