"""Turns a stored file into a searchable document, in two steps.

`parse_and_index_words` parses a document, splits it into passages, stores them and indexes their words; `ingest` does
that and everything else until the document is ready. Both may be called for the same document concurrently: one caller
gets the claim, the others return. Errors are stored with the document: a code, and the parameters of the message shown
to its uploader.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.utils import timezone

from knowledge import services
from knowledge.chunking.chunking import chunk
from knowledge.indexer import indexer
from knowledge.ingestion import attachments, claims, passages
from knowledge.ingestion.claims import Claim, ClaimLost
from knowledge.ingestion.working_folders import remove_leftovers, working_folder
from knowledge.models import Document
from knowledge.parsing.elements import (
    Attachment,
    Code,
    Element,
    FileType,
    Heading,
    Notice,
    PageBreak,
    Paragraph,
    RecognisedLine,
    Scanned,
    Title,
)
from knowledge.parsing.errors import ParseError
from knowledge.parsing.sandbox.runner import Ocr, ParseLimits, parse_file, too_slow
from ragsite.db import is_away
from ragsite.language.detection import language_of
from ragsite.limits import disk
from ragsite.llm.errors import LLMError
from ragsite.llm.passage_tokens import count_tokens
from ragsite.site_settings.config import config, refresh

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
OCR_PAGE_SECONDS = 60  # time limit for a scanned page, on a slow machine
# The length of a scan's turn while others wait, and of any turn, since a worker's other tasks wait for its end.
SCAN_TURN_SECONDS, LONGEST_TURN_SECONDS = 15.0, 600.0
# The progress at the end of each stage, in percent. Computing vectors takes the longest.
PARSED, STORED = 30, 35
_MOST_NOTICES = 5
_LANGUAGE_SAMPLE = 20_000  # characters


def ingest(document_id: int) -> bool:
    """Read and index a document; return whether this call made it ready.

    Return False if the document is deleted, finished, cancelled or claimed by a live worker, or if it failed (the
    reason is then stored with it).
    """
    parse_and_index_words(document_id)
    held = claims.claim_indexing(document_id)
    if held is not None:
        with fail_document_on_error(held), claims.heartbeat(held):
            indexer().index_meaning([held])
    if Document.objects.filter(pk=document_id, status=Document.Status.QUEUED, reads_scans=True).exists():
        return ingest(document_id)
    return (
        held is not None
        and Document.objects.filter(
            pk=document_id, attempt=held.attempt, started_at=held.started_at, status=Document.Status.READY
        ).exists()
    )


def parse_and_index_words(document_id: int, seconds: float = float("inf"), takes_turns: bool = False) -> bool:
    """Make a waiting document searchable by its words; return whether this call did.

    A document that can't be parsed within `seconds` is put back; see `Claim.put_back`. With `takes_turns`, so is a scan
    whose turn is over; its next turn goes on from there.
    """
    held = claims.claim(document_id)
    if held is None:
        return False
    held.gives_up_at = time.monotonic() + seconds
    refresh(older_than=1.0)
    with fail_document_on_error(held), claims.heartbeat(held):
        document = Document.objects.select_related("knowledge_base").get(pk=document_id)
        try:
            has_text = _parse_and_store(document, held, takes_turns)
        except ParseError as error:
            if error.key != "killed":
                raise
            logger.warning("The parser of document %s was killed; the document is read again", document_id)
            has_text = _parse_and_store(document, held, takes_turns)
        if not has_text:
            held.read_scans()  # there is nothing else to read
            return False
        indexer().index_words(document_id, held.report)
        held.hand_on(progress=STORED)
        return True
    return False


def report_progress(held: Claim, percent: float) -> None:
    """Store the progress of indexing a document, 0 to 100, if a report is due; raises `ClaimLost`."""
    held.report(progress=_progress(percent))


def release_claim(held: Claim, percent: float) -> None:
    """Put a document back in the queue for indexing, so that others get a turn; raises `ClaimLost`."""
    held.hand_on(progress=_progress(percent))


def finish_indexing(held: Claim) -> None:
    """Mark a document as ready, or queue it again if its scanned pages are still to be read; raises `ClaimLost`."""
    done = {"finished_at": timezone.now(), "error_code": "", "error": {}}
    if config.OCR != "off" and held.rows().filter(scanned_pages__gt=0, reads_scans=False).exists():
        held.read_scans(**done)
        return
    held.update(status=Document.Status.READY, stage="", progress=100, **done)
    held.lost.set()


def _progress(percent: float) -> int:
    return STORED + round((99 - STORED) * min(max(percent, 0), 100) / 100)


@contextmanager
def fail_document_on_error(held: Claim) -> Iterator[None]:
    """On an exception, end the document's claim and store the reason with it, so that other work continues.

    No `Exception` is raised any further.
    """
    try:
        try:
            yield
        except (OSError, DatabaseError) as error:
            if not disk.is_full(error) or disk.has_room():  # perhaps it is the disk of another server
                raise
            held.put_back()  # until there is space again
            logger.warning("The disk became full while document %s was read", held.document_id)
    except (ClaimLost, Document.DoesNotExist):
        held.lost.set()
        logger.info(
            "This worker has lost document %s: it was cancelled, deleted or claimed by another worker",
            held.document_id,
        )
    except ParseError as error:
        _fail(held, error.key, **error.params)
    except LLMError as error:
        logger.warning("The embedding model failed for document %s: %s %s", held.document_id, error.code, error.details)
        _fail(held, error.code, text=error.message)
    except DatabaseError as error:
        if is_away(error):  # the claim becomes stale, and the document is claimed again
            held.lost.set()
            if not connection.in_atomic_block:
                close_old_connections()
            logger.warning("Lost the database connection while ingesting document %s: %s", held.document_id, error)
            return
        logger.exception("Database error during ingestion of document %s", held.document_id)
        _fail(held, "database")
    except Exception as error:
        logger.exception("Ingestion of document %s failed", held.document_id)
        _fail(held, "internal", error=type(error).__name__, number=str(held.document_id))


def requeue_stalled() -> int:
    """Requeue documents whose worker is dead, and waiting ones whose task was lost; return their number.

    It is cheap if there is nothing to do. A document whose worker died `MAX_ATTEMPTS` times fails instead.
    """
    return requeue_stale_claims() + services.queue_lost()


def requeue_stale_claims() -> int:
    """Requeue documents whose worker is dead, or fail them after `MAX_ATTEMPTS`; return their number.

    What the worker left in temporary folders is removed.
    """
    stalled = Document.objects.filter(status__in=Document.WORKING, heartbeat_at__lt=claims.stale_before())
    stalled = stalled.only("pk", "status", "attempt", "started_at")
    count = sum(services.requeue_or_fail_stale(document, MAX_ATTEMPTS) for document in stalled)
    if count:
        remove_leftovers()
    return count


def _parse_and_store(document: Document, held: Claim, takes_turns: bool) -> bool:
    """Read and store a document; return False if all its text is in pictures, which must be read next."""
    path = Path(document.file.path)
    limits = ParseLimits(
        timeout_s=settings.PARSE_TIMEOUT,
        memory_mb=settings.PARSE_MEMORY_MB,
        max_pages=config.MAX_DOCUMENT_PAGES,
        max_rows=config.MAX_TABLE_ROWS,
        hidden=config.READ_HIDDEN,
    )
    mode = config.OCR
    if document.reads_scans:
        limits = replace(limits, timeout_s=limits.timeout_s + OCR_PAGE_SECONDS * document.scanned_pages)
    elif mode != "off":
        mode = "later"
    reading = _Reading(held, limits.timeout_s)
    kept = Path(default_storage.path(passages.scans_folder(document.pk)))
    if document.reads_scans and takes_turns:
        reading.turn = _ScanTurn(document, kept)
    knowledge_base = document.knowledge_base
    if not path.is_file():
        raise ParseError("missing")
    with working_folder() as folder, (folder / "chunks.jsonl").open("w+", encoding="utf-8") as spool:
        elements = parse_file(
            path,
            document.original_filename,
            folder,
            limits,
            on_progress=reading.progress,
            should_stop=held.is_lost,
            ocr=Ocr(mode, settings.OCR_ENGINE, tuple(settings.OCR_LANGUAGES), str(kept)),
        )
        drafts = chunk(
            reading.follow(elements),
            size=knowledge_base.chunk_size,
            overlap=knowledge_base.chunk_overlap,
            count_tokens=count_tokens,
        )
        spooled, is_cut = passages.spool(drafts, spool, config.MAX_DOCUMENT_PASSAGES)
        if is_cut:
            elements.close()
            reading.notices[Notice(key="left_out.passages", params={"most": config.MAX_DOCUMENT_PASSAGES})] = None
        if reading.scanned > config.OCR_MAX_PAGES:
            reading.notices[Notice(key="left_out.scans", params={"most": config.OCR_MAX_PAGES})] = None
            reading.scanned = 0
        if not spooled and reading.scanned:
            held.update(scanned_pages=reading.scanned, pages=reading.pages)
            return False
        if not spooled:
            raise ParseError("no_text")
        _store(held, passages.Store(document, folder), spool, reading)
    passages.forget_scans(document.pk)
    return True


def _store(held: Claim, store: passages.Store, rows: Iterator[str], reading: "_Reading") -> None:
    """Replace the document's chunks in one transaction, during which it can't be claimed, cancelled or deleted."""
    held.report(stage="storing", progress=PARSED)
    try:
        with transaction.atomic():
            if held.rows().select_for_update().first() is None:
                raise ClaimLost
            store.document.attempt = held.attempt
            store.replace(rows, reading.recognised)
            attachments.replace(store.document, reading.attachments, store.folder, store.written)
            held.update(
                stage="words",
                progress=STORED,
                pages=reading.pages,
                notices=[{"key": notice.key, **notice.params} for notice in islice(reading.notices, _MOST_NOTICES)],
                title=passages.clean(reading.title),
                language=language_of(reading.sample),
                **({} if store.document.reads_scans else {"scanned_pages": reading.scanned}),
                **({"media_type": reading.media_type} if reading.media_type else {}),
            )
    except BaseException:
        store.discard()
        raise


@dataclass(slots=True)
class _ScanTurn:
    """The turn of a scan, which ends at a page if it has made some progress and others wait, or after too long."""

    document: Document
    kept: Path  # the folder of the pages recognised so far
    began: float = field(default_factory=time.monotonic)
    pages: int = -1  # recognised in earlier turns
    _next_look: float = field(default_factory=lambda: time.monotonic() + SCAN_TURN_SECONDS)

    def __post_init__(self) -> None:
        self.pages = self._count()

    def is_over(self) -> bool:
        """Return whether the turn is over; call it at each page."""
        now = time.monotonic()
        if now < self._next_look or self._count() <= self.pages:
            return False
        self._next_look = now + SCAN_TURN_SECONDS / 10
        return now - self.began > LONGEST_TURN_SECONDS or claims.waiting_for_scan(self.document).exists()

    def _count(self) -> int:
        return sum(1 for _ in self.kept.glob("*.json"))


@dataclass(slots=True)
class _Reading:
    """Collects the number of pages, title, notices, a sample of the text and more from the elements of a parse."""

    held: Claim
    timeout_s: float
    began: float = field(default_factory=time.monotonic)
    pages: int | None = None
    title: str = ""
    media_type: str = ""  # if it differs from that of the file name
    turn: _ScanTurn | None = None
    percent: int = 0
    sample: str = ""
    scanned: int = 0  # pages whose text is in pictures that were not read
    recognised: dict[int, tuple[RecognisedLine, ...]] = field(default_factory=dict)  # by page
    attachments: list[Attachment] = field(default_factory=list)
    notices: dict[Notice, None] = field(default_factory=dict)  # each once, in order

    def progress(self, done: int, total: int | None) -> None:
        """Report `done` of `total` pages or rows as read; without a total progress stays 0. Raises `ClaimLost`."""
        self.percent = round(PARSED * min(done, total) / total) if total else 0
        if self.turn is not None and self.turn.is_over():
            self.held.put_back(max(self.percent, 1))
            raise ClaimLost
        self.held.report(progress=self.percent)

    def follow(self, elements: Iterator[Element]) -> Iterator[Element]:
        """Yield the elements with text; raises `ClaimLost`, and `ParseError` if parsing and chunking take too long."""
        for element in elements:
            if self.held.is_lost():
                raise ClaimLost
            if time.monotonic() - self.began > self.timeout_s:
                raise too_slow(self.timeout_s)
            match element:
                case Title():
                    self.title = element.text
                case FileType():
                    self.media_type = element.media_type
                case Attachment():
                    self.attachments.append(element)
                case Notice():
                    self.notices[element] = None
                case Scanned():
                    self.scanned += 1
                case _:
                    if isinstance(element, PageBreak):
                        self.pages = max(self.pages or 0, element.total or 0) or None
                        if element.page and element.recognised:
                            self.recognised[element.page] = element.recognised
                    if element.page:
                        self.pages = max(self.pages or 0, element.page)
                    if isinstance(element, Heading | Paragraph | Code) and len(self.sample) < _LANGUAGE_SAMPLE:
                        self.sample += element.text + "\n"
                    yield element


def _fail(held: Claim, key: str, **params: Any) -> None:
    """End the claim and store the reason (see `explanations.explain`), unless another worker has claimed the document.

    If only reading the scanned pages failed, the document stays ready with its earlier text.
    """
    held.lost.set()
    try:
        now = timezone.now()
        if held.rows().filter(status=Document.Status.PARSING, reads_scans=True, chunks__isnull=False).exists():
            notices = [{"key": "left_out.scans_failed"}, {"key": key, **params}]
            held.rows().update(
                status=Document.Status.READY, stage="", progress=100, notices=notices, finished_at=now, updated_at=now
            )
            return
        held.rows().update(
            status=Document.Status.FAILED,
            error_code=key.partition(".")[0][:40],
            error={"key": key, **params},
            finished_at=now,
            updated_at=now,
        )
    except DatabaseError:  # the document stays claimed, becomes stale, and is claimed again
        logger.exception("The failure of document %s could not be stored", held.document_id)
