"""The django-q2 cluster, with an end of its own when a worker was killed.

Workers take tasks from one queue between processes, under a lock that the one who waits for a task holds. Kill that
one, and nobody ever gets the lock again: the worker that takes its place waits for good. So the cluster ends
instead, and whoever started it (`manage.py up`, systemd) starts it anew.
"""

import logging
import sys
from multiprocessing.process import BaseProcess

from django.core.management import call_command
from django_q import cluster

logger = logging.getLogger(__name__)


class Sentinel(cluster.Sentinel):  # type: ignore[misc]
    """Watches over the workers."""

    def reincarnate(self, process: BaseProcess) -> None:
        """Put another in the place of a process that ended by itself; end the cluster when a worker was killed."""
        if process in self.pool and (process.exitcode or 0) < 0:
            logger.error("Worker %s was killed by signal %s; the cluster ends", process.pid, -(process.exitcode or 0))
            sys.exit(1)
        super().reincarnate(process)


def run() -> None:
    """Run the cluster until it is asked to stop, or has lost a worker; what the workers did is taken up again."""
    cluster.Sentinel = Sentinel
    call_command("qcluster")
