"""A worker's round: one thread reads documents, one after another, while another indexes those that were read.

Reading uses the parser's process, the database and Python; indexing uses the embedding model. Running in parallel they
keep all cores busy, and every document is searchable by its words long before the model has processed all. While a
large document is read, another thread reads small ones, so that a single page doesn't wait for an archive. Nor does it
wait for other long tasks, since rounds run beside them. With enough cores, a second thread reads documents of any size,
but not of a person whose document is being read, so that nobody takes both; on a smaller machine, scans are read in
turns of some seconds.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection, transaction

from knowledge import services
from knowledge.indexer import indexer
from knowledge.ingestion import claims, ingestion
from knowledge.ingestion.claims import Claim, HeartbeatThread
from knowledge.ingestion.fair_order import FairQueue, Turns
from ragsite.limits import disk

logger = logging.getLogger(__name__)

T = TypeVar("T")

# If reading a document takes longer than this, small ones are read in parallel.
_PATIENCE_SECONDS = 1.0
# A round ends after this time, so that other tasks get their turn; documents still waiting are left to the next round.
ROUND_SECONDS = 60.0
_LOOK_SECONDS = 0.2
_STALLED_SECONDS = 10.0  # between checks for documents of killed workers
_CORES_FOR_TWO = 4  # cores of a worker with a second reader
# The turns of the threads that read any files, and of the one that reads small ones, in this and in earlier rounds.
_turns, _small_turns = Turns(), Turns()


def work(seconds: float = ROUND_SECONDS) -> int:
    """Read and index waiting documents until none are left or `seconds` have passed; return how many were read.

    Documents in progress are finished, or put back if they take too long. Wakes a worker if some are left.
    """
    ingestion.requeue_stalled()
    if not disk.has_room():
        logger.warning("Reading documents waits for space on the disk: less than DISK_RESERVE_MB is free")
        return 0
    if settings.INGEST_WORKERS > 1:
        _wake_for_the_rest()
    until = time.monotonic() + seconds
    with _SmallFileThread() as small_files, _Indexing(until) as indexing:
        small_files.announce = indexing.wake
        desk = _Desk()
        with ThreadPoolExecutor(1, thread_name_prefix="reader") as second:
            others = [second.submit(_read_beside, until, indexing, small_files, desk)] if readers() > 1 else []
            count = _read(until, indexing, small_files, desk) + sum(other.result() for other in others)
        small_files.begin_work()  # also until the indexing is done
    if not indexing.failed:  # else the schedule retries, in a minute
        _wake_for_the_rest()
    return count + small_files.count


def run_while_ingesting(task: Callable[[], T]) -> T:
    """Run another long task in its own thread, reading and indexing waiting documents meanwhile; return its result."""

    def with_own_connection() -> T:
        try:
            return task()
        finally:
            connection.close()

    with ThreadPoolExecutor(1, thread_name_prefix="task") as executor:
        doing = executor.submit(with_own_connection)
        while not doing.done():
            try:
                if _something_waits():
                    work()
            except DatabaseError:  # perhaps it is restarting
                logger.warning("Reading documents is paused: the database is unavailable", exc_info=True)
                close_old_connections()
            wait([doing], _PATIENCE_SECONDS)
        return doing.result()


def readers() -> int:
    """Return the number of threads that read documents of any size: `INGEST_READERS`, or by the worker's cores."""
    if settings.INGEST_READERS != "auto":
        return int(settings.INGEST_READERS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 2 if cores >= _CORES_FOR_TWO * settings.INGEST_WORKERS else 1


def _read(until: float, indexing: "_Indexing", small_files: "_SmallFileThread", desk: "_Desk") -> int:
    """Read documents until `until`, and after it while another thread reads one that it began before."""
    count = 0
    while time.monotonic() < until or desk.is_another_busy(until):
        number = desk.take()
        if number is not None:
            small_files.begin_work()
            try:
                if ingestion.parse_and_index_words(number, takes_turns=True):
                    count += 1
                    indexing.wake()
            finally:
                desk.put_down()
                small_files.end_work()
        elif indexing.idle and not desk.is_another_busy():
            break
        else:
            time.sleep(_LOOK_SECONDS)
    return count


def _read_beside(*given: Any) -> int:
    """Read documents in another thread."""
    try:
        return _read(*given)
    finally:
        connection.close()


class _Desk:
    """What the threads that read documents of any size have in common: the queue, and whose documents are read."""

    def __init__(self) -> None:
        self._queue = FairQueue(claims.waiting_to_be_read, _turns)
        self._reading: dict[int, tuple[int | None, float]] = {}  # by thread: the uploader, and since when
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """Return the id of the next document to read, None if none waits of people whose documents aren't read."""
        with self._lock:
            number = self._queue.next({uploader for uploader, _ in self._reading.values()})
            if number is not None and self._queue.line is not None:
                self._reading[threading.get_ident()] = self._queue.line[0], time.monotonic()
            return number

    def put_down(self) -> None:
        """Note that this thread's document has been read."""
        with self._lock:
            self._reading.pop(threading.get_ident(), None)

    def is_another_busy(self, since: float = float("inf")) -> bool:
        """Return whether another thread reads a document that it began before `since`."""
        with self._lock:
            own = threading.get_ident()
            return any(begun < since for thread, (_, begun) in self._reading.items() if thread != own)


def _wake_for_the_rest() -> None:
    """Queue a task if documents are waiting; it costs nothing if another worker takes them first."""
    if _something_waits():
        with transaction.atomic():
            services.wake_worker()


def _something_waits() -> bool:
    return claims.waiting_to_be_read().exists() or claims.waiting_to_be_indexed().exists()


class _SmallFileThread:
    """A thread that reads small files while another is busy with one document for long.

    It also checks regularly for documents of killed workers.
    """

    def __init__(self) -> None:
        self.count = 0  # files read
        self.announce: Callable[[], None] = lambda: None  # called after each file
        self._busy_since: dict[int, float] = {}  # by thread
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="small-files")

    def begin_work(self) -> None:
        """Note that this thread is starting work that may take long."""
        self._busy_since[threading.get_ident()] = time.monotonic()

    def end_work(self) -> None:
        """Note that this thread is looking for documents again."""
        self._busy_since.pop(threading.get_ident(), None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        turns = FairQueue(claims.small_waiting_to_be_read, _small_turns)
        looked = time.monotonic()
        try:
            while not self._over.is_set():
                try:
                    if time.monotonic() - looked > _STALLED_SECONDS:
                        looked = time.monotonic()
                        services.tidy_queue()
                        ingestion.requeue_stale_claims()
                    began = min([*self._busy_since.values()], default=float("inf"))
                    is_due = time.monotonic() - began > _PATIENCE_SECONDS
                    number = turns.next() if is_due else None
                    if number is None:
                        self._over.wait(_LOOK_SECONDS)
                    elif ingestion.parse_and_index_words(number, claims.SMALL_SECONDS):
                        self.count += 1
                        self.announce()
                except DatabaseError:  # perhaps it is restarting
                    logger.warning("Reading small files is paused: the database is unavailable", exc_info=True)
                    close_old_connections()
                    self._over.wait(_PATIENCE_SECONDS)
        finally:
            connection.close()


class _Indexing:
    """A thread that indexes documents while the `with` block reads others, and then those that are left."""

    def __init__(self, until: float) -> None:
        self.failed = False
        self._until = until
        self._news = threading.Event()
        self._idle = threading.Event()
        self._nothing_follows = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="indexing")

    @property
    def idle(self) -> bool:
        """Whether no document is being indexed and none is waiting, or the thread has failed."""
        return self.failed or (self._idle.is_set() and not self._news.is_set())

    def wake(self) -> None:
        """Note that a document is waiting to be indexed."""
        self._news.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stopped.set()
        self._nothing_follows.set()
        self._news.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            with HeartbeatThread() as heart:
                indexer().index_meaning(self._claims(heart))
        except Exception:
            self.failed = True
            logger.exception("Indexing failed; its documents will be indexed again")
        finally:
            self._idle.set()
            connection.close()

    def _claims(self, heart: HeartbeatThread) -> Iterator[Claim | None]:
        """Yield claims as documents become ready to be indexed, and None before waiting for more of them."""
        turns = FairQueue(claims.waiting_to_be_indexed)
        # Keeps going past the end of the round while a large file is read, so that small ones are indexed meanwhile.
        while not self._stopped.is_set() and (not self._nothing_follows.is_set() or time.monotonic() < self._until):
            nothing_follows = self._nothing_follows.is_set()  # read before the queue, so that no document is missed
            self._idle.clear()
            self._news.clear()
            number = turns.next()
            if number is not None:
                held = claims.claim_indexing(number)
                if held is not None:
                    heart.keep(held)
                    yield held
            elif nothing_follows:
                return
            else:
                yield None
                self._idle.set()
                self._news.wait(_LOOK_SECONDS)
