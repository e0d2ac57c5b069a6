"""Run the django-q2 cluster, and restart it when one of its processes is killed.

The processes pass tasks and results through queues. The process that waits on a queue holds its lock; if it is killed,
the lock is never released, and its successor waits forever. So when a process is killed, the whole cluster ends and a
new one is started.
"""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

from django.db import connections
from django_q import cluster

logger = logging.getLogger(__name__)

# Seconds for running tasks to finish when the cluster is stopped; less than `up` waits. The next worker takes over
# unfinished tasks.
GRACE = 5.0
PAUSE = 1.0  # seconds before a new cluster is started, and between two checks of its processes


class Sentinel(cluster.Sentinel):  # type: ignore[misc]
    """Supervises the workers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Start the sentinel, and end it with the parent process."""
        end_with_parent()
        super().__init__(*args, **kwargs)

    def spawn_cluster(self) -> None:
        """Start the processes and watch them from a thread, since django-q2's guard may wait for a lost lock."""
        super().spawn_cluster()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def reincarnate(self, process: BaseProcess) -> None:
        """Replace a process that ended by itself; end the cluster if it was killed."""
        _end_with_killed(process)
        super().reincarnate(process)

    def _watch(self) -> None:
        while True:
            for process in (*self.pool, self.monitor, self.pusher):
                _end_with_killed(process)
            time.sleep(PAUSE)


def _end_with_killed(process: BaseProcess) -> None:
    if (process.exitcode or 0) < 0:
        logger.error("Process %s was killed by signal %s; the cluster ends", process.pid, -(process.exitcode or 0))
        os._exit(1)  # immediately: processes that wait for a lost lock end with their parent


def run() -> None:
    """Run a cluster, replacing it whenever one of its processes is killed, until this process is asked to stop."""
    asked_to_stop = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True

    cluster.Sentinel = Sentinel
    for name in ("worker", "pusher", "monitor"):
        setattr(cluster, name, _ends_with_parent(getattr(cluster, name)))
    while not asked_to_stop:
        connections.close_all()  # forked processes must not share them
        running = cluster.Cluster()  # sets signal handlers, which wait for other processes; they are replaced below
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        with suppress(RuntimeError):  # it ended while starting, and has logged that
            running.start()
        while running.sentinel.is_alive() and not asked_to_stop:
            running.sentinel.join(0.2)
        if asked_to_stop:
            running.stop_event.set()
            running.sentinel.join(GRACE)  # tasks that take longer are killed
            running.sentinel.kill()
            running.sentinel.join()
        else:
            logger.error("The cluster has ended; starting a new one")
            time.sleep(PAUSE)


def _ends_with_parent(target: Callable[..., None]) -> Callable[..., None]:
    @wraps(target)
    def run(*args: Any, **kwargs: Any) -> None:
        end_with_parent()
        target(*args, **kwargs)

    return run


def end_with_parent() -> None:
    """Start a thread that kills this process once its parent has ended, even if the parent was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, name="parent", daemon=True).start()
