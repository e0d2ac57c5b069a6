"""Who works on a document: claims, heartbeats, and how a worker learns that the document is no longer its own.

A claim is known by the attempt and the moment it began. Every write of a worker is conditional on its claim, so
that a worker that was slow, cancelled or taken for dead can't touch what another has taken up since.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from knowledge.models import Document

HEARTBEAT_SECONDS = 3.0
STALE_AFTER = timedelta(seconds=30)
_REPORT_SECONDS = 0.5


class Lost(Exception):
    """The document was cancelled, deleted or taken up by another worker meanwhile."""


def stale_before() -> datetime:
    """Return the moment before which a working document's last heartbeat means that its worker is gone."""
    return timezone.now() - STALE_AFTER


@dataclass(slots=True)
class Claim:
    """One worker's hold on one document."""

    document_id: int
    attempt: int
    started_at: datetime
    lost: threading.Event = field(default_factory=threading.Event)
    # Small documents are done before anything is due.
    _reported_at: float = field(default_factory=time.monotonic)
    _checked_at: float = field(default_factory=time.monotonic)

    def rows(self) -> QuerySet[Document]:
        """Return the document's row as long as the claim holds, and nothing afterwards."""
        return Document.objects.filter(
            pk=self.document_id, attempt=self.attempt, started_at=self.started_at, status__in=Document.WORKING
        )

    def update(self, **fields: Any) -> None:
        """Write to the document, as a heartbeat too; raises `Lost`."""
        now = timezone.now()
        if not self.rows().update(heartbeat_at=now, updated_at=now, **fields):
            self.lost.set()
        if self.lost.is_set():
            raise Lost

    def report(self, **fields: Any) -> None:
        """Write progress, at most twice a second; raises `Lost`."""
        now = time.monotonic()
        if now - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = now
            self.update(**fields)
        elif self.lost.is_set():
            raise Lost

    def is_lost(self) -> bool:
        """Whether the claim has ended; asks the database at most twice a second."""
        now = time.monotonic()
        if not self.lost.is_set() and now - self._checked_at >= _REPORT_SECONDS:
            self._checked_at = now
            if not self.rows().exists():
                self.lost.set()
        return self.lost.is_set()


def claim(document_id: int) -> Claim | None:
    """Take a waiting document, or one whose worker is gone; None when another has it or there is nothing to do."""
    free = Q(status=Document.Status.QUEUED) | Q(status__in=Document.WORKING, heartbeat_at__lt=stale_before())
    now = timezone.now()
    with transaction.atomic():
        taken = Document.objects.filter(free, pk=document_id).update(
            status=Document.Status.PARSING,
            stage="parsing",
            progress=0,
            error_code="",
            error_message="",
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


@contextmanager
def heartbeat(held: Claim) -> Iterator[None]:
    """Keep the document's heartbeat going from a thread, whatever the worker is busy with.

    Inside a transaction other connections can't see the claim yet, so that the worker's own reports must do.
    """
    if connection.in_atomic_block:
        yield
        return
    finished = threading.Event()
    thread = threading.Thread(target=_beat, args=(held, finished), name=f"heartbeat-{held.document_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def _beat(held: Claim, finished: threading.Event) -> None:
    try:
        while not finished.wait(HEARTBEAT_SECONDS) and not held.lost.is_set():
            try:
                if not held.rows().update(heartbeat_at=timezone.now()):
                    held.lost.set()
            except DatabaseError:  # restarting, perhaps; the next beat tries anew
                close_old_connections()
    finally:
        connection.close()
