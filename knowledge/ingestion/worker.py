"""A worker's round: documents are read one after another, and beside it those that were read are indexed.

Reading is the work of the parser's process, of the database and of Python; indexing is that of the embedding model,
which needs neither. Side by side they keep all cores busy, and every document is found by its words long before the
model is through with all. While a document keeps the reading busy, small ones are read beside it: nobody's single page
waits for another's archive. Nor does it wait for other tasks that take long: a round goes on beside them.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self, TypeVar

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection, transaction

from knowledge import services
from knowledge.indexer import indexer
from knowledge.ingestion import claims, ingestion
from knowledge.ingestion.claims import Claim, Heart
from knowledge.ingestion.fair_order import FairQueue

logger = logging.getLogger(__name__)

T = TypeVar("T")

# A document in hand for longer than this holds up the others; the small ones pass it by.
_PATIENCE_SECONDS = 1.0
# A round ends after this time, so that other tasks get their turn; what waits then is left to the next one.
ROUND_SECONDS = 60.0
_LOOK_SECONDS = 0.2
_STALLED_SECONDS = 10.0  # between two looks for what killed workers left behind


def work(seconds: float = ROUND_SECONDS) -> int:
    """Read and index what waits, until nothing does or `seconds` have passed; return how many documents were read.

    Documents begun are ended, or put back where they take too long. Wakes a worker for what is left.
    """
    ingestion.requeue_stalled()
    if settings.INGEST_WORKERS > 1:
        _wake_for_the_rest()
    until = time.monotonic() + seconds
    with _Beside() as beside, _Indexing(until) as indexing:
        beside.announce = indexing.wake
        count = _read(until, indexing, beside)
        beside.busy()  # until the indexing is done, too
    if not indexing.failed:  # else the schedule tries again, in a minute
        _wake_for_the_rest()
    return count + beside.count


def beside(task: Callable[[], T]) -> T:
    """Do another long task in a thread of its own, read and index what waits meanwhile, and return its result."""
    with ThreadPoolExecutor(1, thread_name_prefix="task") as executor:
        doing = executor.submit(_with_own_connection, task)
        while not doing.done():
            try:
                if _something_waits():
                    work()
            except DatabaseError:  # restarting, perhaps
                logger.warning("No documents are read for a moment: the database is away", exc_info=True)
                close_old_connections()
            wait([doing], _PATIENCE_SECONDS)
        return doing.result()


def _with_own_connection(task: Callable[[], T]) -> T:
    try:
        return task()
    finally:
        connection.close()


def _read(until: float, indexing: "_Indexing", beside: "_Beside") -> int:
    count = 0
    turns = FairQueue(claims.waiting_to_be_read)
    while time.monotonic() < until:
        number = turns.next()
        if number is not None:
            beside.busy()
            if ingestion.parse_and_index_words(number):
                count += 1
                indexing.wake()
            beside.free()
        elif indexing.idle:
            break
        else:
            time.sleep(_LOOK_SECONDS)
    return count


def _wake_for_the_rest() -> None:
    """Queue a task for what waits; it costs nothing when another worker is quicker."""
    if _something_waits():
        with transaction.atomic():
            services.wake_worker()


def _something_waits() -> bool:
    return claims.waiting_to_be_read().exists() or claims.waiting_to_be_indexed().exists()


class _Beside:
    """A thread of the `with` block, whose own may be busy with one thing for long.

    Then it reads small files. All the time it looks for what killed workers left behind.
    """

    def __init__(self) -> None:
        self.count = 0  # of those read
        self.announce: Callable[[], None] = lambda: None  # called after each
        self._busy_since = float("inf")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="beside")

    def busy(self) -> None:
        """Tell that the block's thread begins something."""
        self._busy_since = time.monotonic()

    def free(self) -> None:
        """Tell that it looks for documents itself."""
        self._busy_since = float("inf")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        turns = FairQueue(claims.small_waiting_to_be_read)
        looked = time.monotonic()
        try:
            while not self._over.is_set():
                try:
                    if time.monotonic() - looked > _STALLED_SECONDS:
                        looked = time.monotonic()
                        services.tidy_queue()
                        ingestion.take_back_stalled()
                    is_due = time.monotonic() - self._busy_since > _PATIENCE_SECONDS
                    number = turns.next() if is_due else None
                    if number is None:
                        self._over.wait(_LOOK_SECONDS)
                    elif ingestion.parse_and_index_words(number, claims.SMALL_SECONDS):
                        self.count += 1
                        self.announce()
                except DatabaseError:  # restarting, perhaps
                    logger.warning("No small files are read for a moment: the database is away", exc_info=True)
                    close_old_connections()
                    self._over.wait(_PATIENCE_SECONDS)
        finally:
            connection.close()


class _Indexing:
    """Indexes documents in a thread for as long as the `with` block reads others, and then what is left of them."""

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
        """Whether nothing is in hand and nothing was found to be waiting, or all is over since it failed."""
        return self.failed or (self._idle.is_set() and not self._news.is_set())

    def wake(self) -> None:
        """Tell that a document waits to be indexed."""
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
            with Heart() as heart:
                indexer().index_meaning(self._claims(heart))
        except Exception:
            self.failed = True
            logger.exception("Indexing ended; what it had in hand is taken up again")
        finally:
            self._idle.set()
            connection.close()

    def _claims(self, heart: Heart) -> Iterator[Claim | None]:
        """Yield claims as documents come; None before waiting for more of them."""
        turns = FairQueue(claims.waiting_to_be_indexed)
        # Keeps going past the end of the round while a large file is read, so that small ones are indexed meanwhile.
        while not self._stopped.is_set() and (not self._nothing_follows.is_set() or time.monotonic() < self._until):
            nothing_follows = self._nothing_follows.is_set()  # asked before looking, lest the last one be missed
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
