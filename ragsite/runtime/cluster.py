"""The django-q2 cluster, kept running.

Its processes pass tasks and results through queues, under locks that the one who waits for something holds. Kill that
one, and nobody ever gets the lock again: its successor waits for good. So the cluster ends with each of
its processes that is killed, and another is started in its place.
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

# Seconds for which the work in hand may come to its end once the cluster is asked to stop; less than `up` waits. What a
# worker could not finish is taken up again by the next one.
GRACE = 5.0
PAUSE = 1.0  # seconds before another cluster is started, and between two looks at its processes


class Sentinel(cluster.Sentinel):  # type: ignore[misc]
    """Watches over the workers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Begin, and end with the process that started this one."""
        end_with_parent()
        super().__init__(*args, **kwargs)

    def spawn_cluster(self) -> None:
        """Start the processes, and watch them from a thread too: the guard waits for locks that one may have held."""
        super().spawn_cluster()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def reincarnate(self, process: BaseProcess) -> None:
        """Put another in the place of a process that ended by itself; end the cluster when one was killed."""
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
        os._exit(1)  # at once: what else waits for a lock that was lost goes with its parent


def run() -> None:
    """Run a cluster, and another when it has lost a process, until this process is asked to stop."""
    asked_to_stop = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True

    cluster.Sentinel = Sentinel
    for name in ("worker", "pusher", "monitor"):
        setattr(cluster, name, _ends_with_parent(getattr(cluster, name)))
    while not asked_to_stop:
        connections.close_all()  # none is shared with what is forked
        running = cluster.Cluster()  # which takes the signals; its handler waits for other processes
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        with suppress(RuntimeError):  # it ended while it was starting, and has logged that
            running.start()
        while running.sentinel.is_alive() and not asked_to_stop:
            running.sentinel.join(0.2)
        if asked_to_stop:
            running.stop_event.set()
            running.sentinel.join(GRACE)  # an end is put to what takes longer
            running.sentinel.kill()
            running.sentinel.join()
        else:
            logger.error("The cluster has ended; another is started")
            time.sleep(PAUSE)


def _ends_with_parent(target: Callable[..., None]) -> Callable[..., None]:
    @wraps(target)
    def run(*args: Any, **kwargs: Any) -> None:
        end_with_parent()
        target(*args, **kwargs)

    return run


def end_with_parent() -> None:
    """Have this process killed once its parent is gone, which may have had no time to say so."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, name="parent", daemon=True).start()
