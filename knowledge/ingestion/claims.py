"""Claims of workers on documents, their heartbeats, and how a worker learns that it has lost a document.

A document is claimed twice: to be read, until it can be found by its words; and to be indexed by meaning, until it is
ready. In between no worker has it, and it has no heartbeat. A claim is identified by the attempt and its start time.
Every write of a worker is conditional on its claim, so that a worker that was slow, cancelled or presumed dead can't
change a document that another has claimed since.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import Case, DateTimeField, F, Func, Q, QuerySet, Value, When
from django.utils import timezone
from django_q.models import OrmQ

from knowledge.models import Document

HEARTBEAT_SECONDS = 3.0
STALE_AFTER = timedelta(seconds=30)
# The maximum size of a small document, such as a page with a photograph, and the maximum time that a worker's thread
# for small ones may take to read it.
SMALL_BYTES = 2 * 1024 * 1024
SMALL_SECONDS = 4.0
_REPORT_SECONDS = 0.5
# The time when a row is written, even if the statement had to wait for a lock.
_CLOCK = Func(function="clock_timestamp", output_field=DateTimeField())


class ClaimLost(Exception):
    """The document was cancelled, deleted or claimed by another worker in the meantime."""


def stale_before() -> datetime:
    """Return the time before which the last heartbeat of a claimed document means that its worker is dead."""
    return timezone.now() - STALE_AFTER


@dataclass(slots=True)
class Claim:
    """A worker's claim on a document."""

    document_id: int
    attempt: int
    started_at: datetime
    gives_up_at: float = float("inf")  # on the monotonic clock; see `put_back`
    lost: threading.Event = field(default_factory=threading.Event)
    # Both begin now, so that small documents are done before a report or check is due.
    _reported_at: float = field(default_factory=time.monotonic)
    _checked_at: float = field(default_factory=time.monotonic)

    def rows(self) -> QuerySet[Document]:
        """Return the document's row while the claim is valid, an empty queryset afterwards."""
        return Document.objects.filter(
            pk=self.document_id, attempt=self.attempt, started_at=self.started_at, status__in=Document.WORKING
        )

    def update(self, **fields: Any) -> None:
        """Write fields and a heartbeat to the document; raises `ClaimLost`."""
        now = timezone.now()
        if not self.rows().update(heartbeat_at=now, updated_at=now, **fields):
            self.lost.set()
        if self.lost.is_set():
            raise ClaimLost

    def report(self, **fields: Any) -> None:
        """Write progress, at most every `_REPORT_SECONDS`; raises `ClaimLost`."""
        now = time.monotonic()
        if now - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = now
            self.update(**fields)
        elif self.lost.is_set():
            raise ClaimLost

    def hand_on(self, **fields: Any) -> None:
        """End the claim on a document searchable by its words, so that a worker can index it; raises `ClaimLost`."""
        handed = self.rows().update(
            status=Document.Status.CHUNKED,
            stage="vectors",
            started_at=None,
            heartbeat_at=None,
            updated_at=timezone.now(),
            **fields,
        )
        self.lost.set()
        if not handed:
            raise ClaimLost

    def put_back(self, progress: int = 0) -> None:
        """Put back a document that takes too long, as if it had never been started; others get their turn first.

        A scan has `progress`, since its pages read so far are kept.
        """
        now = timezone.now()
        self.rows().update(
            status=Document.Status.QUEUED,
            stage="",
            progress=progress,
            is_slow=True,
            attempt=F("attempt") - 1,
            started_at=None,
            heartbeat_at=now,
            updated_at=now,
        )
        self.lost.set()

    def read_scans(self, **fields: Any) -> None:
        """Queue a document to be read again with its scanned pages, as if it were new; raises `ClaimLost`."""
        self.update(
            status=Document.Status.QUEUED,
            stage="",
            progress=0,
            reads_scans=True,
            is_slow=True,
            attempt=0,
            started_at=None,
            **fields,
        )
        self.lost.set()

    def is_lost(self) -> bool:
        """Return whether the claim has ended, and end it past `gives_up_at`.

        Queries the database at most every `_REPORT_SECONDS`.
        """
        now = time.monotonic()
        if not self.lost.is_set() and now >= self.gives_up_at:
            self.put_back()
        if not self.lost.is_set() and now - self._checked_at >= _REPORT_SECONDS:
            self._checked_at = now
            if not self.rows().exists():
                self.lost.set()
        return self.lost.is_set()


def claim(document_id: int) -> Claim | None:
    """Claim a document to read it: a waiting one, or one whose worker is dead.

    Returns None if another worker has it or there is nothing to do.
    """
    free = Q(status=Document.Status.QUEUED) | Q(status=Document.Status.PARSING, heartbeat_at__lt=stale_before())
    now = timezone.now()
    with transaction.atomic():
        taken = Document.objects.filter(free, pk=document_id).update(
            status=Document.Status.PARSING,
            stage=Case(When(reads_scans=True, then=Value("scans")), default=Value("parsing")),
            progress=0,
            error_code="",
            error={},
            attempt=F("attempt") + 1,
            started_at=now,
            heartbeat_at=now,
            finished_at=None,
            updated_at=now,
        )
        if taken != 1:
            return None
        attempt = Document.objects.values_list("attempt", flat=True).get(pk=document_id)
    return Claim(document_id, attempt, now)


def waiting_to_be_read() -> QuerySet[Document]:
    """Return the documents that wait to be read."""
    return Document.objects.filter(status=Document.Status.QUEUED)


def small_waiting_to_be_read() -> QuerySet[Document]:
    """Return the small documents that wait to be read."""
    return waiting_to_be_read().filter(size__lte=SMALL_BYTES, is_slow=False)


def waiting_for_scan(document: Document) -> QuerySet[Document]:
    """Return the documents that wait to be read while a scan is: other people's, and its uploader's without scans."""
    return waiting_to_be_read().filter(~Q(uploaded_by_id=document.uploaded_by_id) | Q(reads_scans=False))


def waiting_to_be_indexed() -> QuerySet[Document]:
    """Return the documents that are searchable by their words and not claimed."""
    return Document.objects.filter(status=Document.Status.CHUNKED, heartbeat_at=None)


def claim_indexing(document_id: int) -> Claim | None:
    """Claim a document that is searchable by its words, to index it by meaning; None as for `claim`.

    If its worker is dead, this counts as another attempt; the document isn't read again.
    """
    now = timezone.now()
    stale = Q(status__in=(Document.Status.CHUNKED, Document.Status.INDEXING), heartbeat_at__lt=stale_before())
    taking: dict[str, Any] = {
        "status": Document.Status.INDEXING,
        "stage": "vectors",
        "started_at": now,
        "heartbeat_at": now,
        "updated_at": now,
    }
    with transaction.atomic():
        taken = waiting_to_be_indexed().filter(pk=document_id).update(**taking) or (
            Document.objects.filter(stale, pk=document_id).update(**taking, attempt=F("attempt") + 1)
        )
        if taken != 1:
            return None
        attempt = Document.objects.values_list("attempt", flat=True).get(pk=document_id)
    return Claim(document_id, attempt, now)


@dataclass(frozen=True, slots=True)
class Work:
    """Other work whose heartbeat is kept while `found` matches it; `lost` is set when it no longer does."""

    found: QuerySet[Any]
    lost: threading.Event = field(default_factory=threading.Event)

    def rows(self) -> QuerySet[Any]:
        """Return the rows being worked on, none once the work has ended."""
        return self.found.all()


def release_tasks(call: str, waiting: QuerySet[Any]) -> None:
    """Release the tasks for waiting work that a worker has locked.

    A killed worker would keep them locked for as long as a task may take. If the worker is alive, this does no harm,
    provided that the work can be started only once.
    """
    ids = set(waiting.values_list("pk", flat=True))
    now = timezone.now()
    held = OrmQ.objects.filter(lock__gt=now) if ids else ()
    ours = [row.pk for row in held if row.func() == call and row.task["args"][0] in ids]
    OrmQ.objects.filter(pk__in=ours).update(lock=now)


class HeartbeatThread:
    """A thread that updates the heartbeats of claimed documents, and of other work, whatever the worker does.

    Inside a transaction other connections can't see the claims yet; then the worker's own reports must suffice.
    """

    def __init__(self) -> None:
        self._held: list[Claim | Work] = []
        self._finished = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if not connection.in_atomic_block:
            self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._finished.set()
        if self._thread is not None:
            self._thread.join()

    def keep(self, held: Claim | Work) -> None:
        """Update the heartbeat of a claim or of other work while it is valid."""
        self._held = [*(one for one in self._held if not one.lost.is_set()), held]

    def _beat(self) -> None:
        try:
            while not self._finished.wait(HEARTBEAT_SECONDS):
                for held in self._held:
                    try:
                        if not held.lost.is_set() and not held.rows().update(heartbeat_at=_CLOCK):
                            held.lost.set()
                    except DatabaseError:  # perhaps it is restarting; the next beat tries again
                        close_old_connections()
        finally:
            connection.close()


@contextmanager
def heartbeat(held: Claim | Work) -> Iterator[None]:
    """Update the heartbeat of one document, or other work, within the `with` block."""
    with HeartbeatThread() as heart:
        heart.keep(held)
        yield
