"""Ingestion of stored files, and its failures."""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connections
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule
from django_q.tasks import async_task

from knowledge import services
from knowledge.chunking.chunking import ChunkDraft
from knowledge.ingestion import claims, ingestion, passages, schedules
from knowledge.ingestion.claims import Claim
from knowledge.ingestion.fair_order import FairQueue
from knowledge.ingestion.working_folders import working_folder
from knowledge.models import Document, KnowledgeBase
from knowledge.parsing.elements import Element, Heading, Notice, PageBreak, Paragraph, Scanned
from knowledge.parsing.errors import ParseError
from knowledge.parsing.sandbox.runner import Ocr
from ragsite.llm.errors import Unreachable
from tests import factories
from tests.fakes.indexer import FakeIndexer
from tests.knowledge.conftest import add

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("indexer")]

Parse = Callable[..., Iterator[Element]]


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch) -> Callable[[Parse], None]:
    """Return a function that replaces the parser's child process."""
    return lambda function: monkeypatch.setattr(ingestion, "parse_file", function)


def test_a_file_becomes_chunks(base: KnowledgeBase) -> None:
    document = add(base)
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.stage, document.progress, document.attempt) == ("ready", "", 100, 1)
    assert document.language == "en"
    assert document.finished_at is not None
    chunks = list(document.chunks.all())
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert chunks[0].heading_path == ["Tea"]
    assert "80 degrees" in chunks[0].content


def test_the_indexer_leads_from_words_to_vectors(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    document = add(base)
    seen: list[tuple[str, str, int]] = []

    def index_words(document_id: int, go_on: Callable[[], None]) -> None:
        _look(document_id, seen)

    def index(claims: Iterable[Claim]) -> None:
        for held in claims:
            _look(held.document_id, seen)
            time.sleep(0.6)
            ingestion.report_progress(held, 50)
            _look(held.document_id, seen)
            ingestion.finish_indexing(held)

    indexer.index_words = index_words
    indexer.index_meaning = index
    assert ingestion.ingest(document.pk)
    _look(document.pk, seen)
    assert seen == [
        ("parsing", "words", 35),
        ("indexing", "vectors", 35),
        ("indexing", "vectors", 67),
        ("ready", "", 100),
    ]


def test_between_reading_and_indexing_a_document_is_not_claimed(base: KnowledgeBase) -> None:
    document = add(base)
    assert ingestion.parse_and_index_words(document.pk)
    document.refresh_from_db()
    assert (document.status, document.stage, document.progress) == ("chunked", "vectors", 35)
    assert document.heartbeat_at is None
    assert not ingestion.parse_and_index_words(document.pk)
    held = claims.claim_indexing(document.pk)
    assert held is not None
    assert claims.claim_indexing(document.pk) is None
    ingestion.release_claim(held, 50)
    document.refresh_from_db()
    assert (document.status, document.progress, document.heartbeat_at) == ("chunked", 67, None)
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.attempt) == ("ready", 1)


def test_a_files_type_is_detected_by_its_bytes(base: KnowledgeBase) -> None:
    document = add(base, "export.xls", b"<html><body><p>Green tea is steeped.</p></body></html>")
    assert document.media_type == "application/vnd.ms-excel"
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.media_type, document.original_filename) == ("text/html", "export.xls")
    assert "Green tea" in document.chunks.get().content


def _look(document_id: int, seen: list[tuple[str, str, int]]) -> None:
    document = Document.objects.get(pk=document_id)
    seen.append((document.status, document.stage, document.progress))


def _half_scanned(path: Any, *args: Any, ocr: Ocr, **kwargs: Any) -> Iterator[Element]:
    yield PageBreak(page=1, total=2)
    yield Paragraph(page=1, text="Printed words.")
    yield PageBreak(
        page=2, total=2, recognised=() if ocr.mode == "later" else (("Scanned\0 words.", 0.1, 0.2, 0.5, 0.3),)
    )
    yield Scanned(page=2) if ocr.mode == "later" else Paragraph(page=2, text="Scanned words.")


def test_scanned_pages_are_read_once_the_other_text_is_searchable(
    base: KnowledgeBase, parse: Callable[[Parse], None]
) -> None:
    parse(_half_scanned)
    document = add(base)
    assert ingestion.parse_and_index_words(document.pk)
    held = claims.claim_indexing(document.pk)
    assert held is not None
    ingestion.finish_indexing(held)
    document.refresh_from_db()
    assert (document.status, document.scanned_pages, document.reads_scans) == ("queued", 1, True)
    assert [chunk.content for chunk in document.chunks.all()] == ["Printed words."]
    small = add(base, "small.md", b"# Small")
    assert FairQueue(claims.waiting_to_be_read).next() == small.pk  # scanned pages come last

    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.progress, document.attempt) == ("ready", 100, 1)
    assert [chunk.content for chunk in document.chunks.all()] == ["Printed words.\n\nScanned words."]
    page = document.recognised.get()
    assert (page.number, page.lines) == (2, [["Scanned words.", 0.1, 0.2, 0.5, 0.3]])
    assert services.reingest_document(document)
    document.refresh_from_db()
    assert (document.scanned_pages, document.reads_scans) == (0, False)
    assert ingestion.parse_and_index_words(document.pk) and not document.recognised.exists()


def test_a_scanned_document_is_read_at_once_in_a_stage_of_its_own(
    base: KnowledgeBase, parse: Callable[[Parse], None]
) -> None:
    seen: list[tuple[str, str, int]] = []

    def scanned(path: Any, *args: Any, ocr: Ocr, **kwargs: Any) -> Iterator[Element]:
        _look(document.pk, seen)
        yield Scanned(page=1) if ocr.mode == "later" else Paragraph(page=1, text="Scanned words.")

    parse(scanned)
    document = add(base)
    assert ingestion.ingest(document.pk)
    assert seen == [("parsing", "parsing", 0), ("parsing", "scans", 0)]
    assert document.chunks.count() == 1


@pytest.mark.parametrize(("kills", "status", "chunks"), [(1, "ready", 1), (2, "failed", 0)])
def test_a_document_whose_parser_is_killed_is_read_again_once(
    base: KnowledgeBase, parse: Callable[[Parse], None], kills: int, status: str, chunks: int
) -> None:
    reads: list[str] = []

    def killed(path: Any, *args: Any, **kwargs: Any) -> Iterator[Element]:
        reads.append(str(path))
        yield Paragraph(text="Green tea.")
        if len(reads) <= kills:
            raise ParseError("killed", name="SIGKILL")

    parse(killed)
    document = add(base)
    ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (len(reads), document.status, document.chunks.count()) == (2, status, chunks)
    assert document.error_code == ("killed" if status == "failed" else "")


def test_folders_that_killed_workers_left_are_removed_and_those_in_use_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: KnowledgeBase
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, other = tmp_path / "ragsite-ingest-left", tmp_path / "somebody-s"
    for folder in (left, other):
        folder.mkdir()
        (folder / "chunks.jsonl").write_text("{}")
    with working_folder() as used, working_folder() as new:
        for folder in (left, other, used):
            os.utime(folder, (0, 0))
        document = add(base)
        Document.objects.filter(pk=document.pk).update(
            status="parsing", heartbeat_at=timezone.now() - timedelta(days=1), attempt=1
        )
        assert ingestion.requeue_stale_claims() == 1
        assert not left.exists() and other.exists() and used.exists() and new.exists()
    assert not used.exists()


@pytest.mark.parametrize("ends", ["fails", "is cancelled"])
def test_earlier_text_stays_if_reading_the_scanned_pages(
    base: KnowledgeBase, parse: Callable[[Parse], None], ends: str
) -> None:
    def breaks(path: Any, *args: Any, ocr: Ocr, **kwargs: Any) -> Iterator[Element]:
        if ocr.mode == "later":
            yield from _half_scanned(path, ocr=ocr)
            return
        if ends == "fails":
            raise ParseError("memory", memory=3072)
        assert services.cancel_document(document)
        yield Paragraph(page=2, text="Scanned words.")

    parse(breaks)
    document = add(base)
    ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("ready", "")
    assert [chunk.content for chunk in document.chunks.all()] == ["Printed words."]
    assert ("more than 3,072 MB" in document.notice and "scanned pages" in document.notice) == (ends == "fails")


def test_too_many_scanned_pages_are_not_read_but_reported(
    base: KnowledgeBase, parse: Callable[[Parse], None], settings: Any
) -> None:
    settings.OCR_MAX_PAGES = 1

    def scanned(path: Any, *args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(page=1, text="Printed words.")
        yield from (Scanned(page=2), Scanned(page=3))

    parse(scanned)
    document = add(base)
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.reads_scans) == ("ready", False)
    assert "More than 1 pages are scanned" in document.notice


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.txt", b"", "empty"),
        ("tool.txt", b"MZ\x90\x00 program", "broken"),
        ("x.pdf", b"%PDF-1.7 no", "broken"),
    ],
)
def test_a_bad_file_fails_with_its_reason(base: KnowledgeBase, name: str, content: bytes, code: str) -> None:
    document = add(base, name, content)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("failed", code)
    assert len(document.error_message) > 10
    assert document.finished_at is not None


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ParseError("encrypted.pdf"), "encrypted", "password"),
        (Unreachable("refused", where="http://models"), "unreachable", "can't be reached"),
        (DatabaseError("gone"), "database", "Retry"),
        (ZeroDivisionError("oops"), "internal", "ZeroDivisionError"),
    ],
)
def test_every_failure_is_stored(
    base: KnowledgeBase, parse: Callable[[Parse], None], error: Exception, code: str, words: str
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text="A beginning.")
        raise error

    parse(fail)
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("failed", code)
    assert words in document.error_message and "http://models" not in document.error_message
    assert not document.chunks.exists()


def test_a_document_is_retried_after_the_database_connection_was_lost(
    base: KnowledgeBase, indexer: FakeIndexer
) -> None:
    away = [True]

    def index(claims: Iterable[Claim]) -> None:
        for held in claims:
            with ingestion.fail_document_on_error(held):
                if away.pop():
                    raise OperationalError("server closed the connection unexpectedly") from psycopg.OperationalError()
                ingestion.finish_indexing(held)

    indexer.index_meaning = index
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("indexing", "")
    _let_time_pass(document)
    away.append(False)
    assert ingestion.requeue_stalled() == 1
    assert ingestion.ingest(document.pk)


@pytest.mark.parametrize("refusal", [psycopg.errors.DiskFull, psycopg.errors.ProgramLimitExceeded])
def test_data_that_the_database_rejects_is_not_retried_forever(
    base: KnowledgeBase, parse: Callable[[Parse], None], refusal: type[psycopg.Error]
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text="A beginning.")
        raise OperationalError("no room") from refusal()

    parse(fail)
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("failed", "database")


def test_notices_are_stored_with_the_document(base: KnowledgeBase, parse: Callable[[Parse], None]) -> None:
    def read(*args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text="A beginning.")
        for number in (2000, 3000, 2000):
            yield Notice(key="left_out.columns", params={"columns": number, "most": 1000})

    parse(read)
    document = add(base)
    assert ingestion.parse_and_index_words(document.pk)
    document.refresh_from_db()
    assert [line[:17] for line in document.notice.splitlines()] == ["A table has 2,000", "A table has 3,000"]
    assert document.chunks.get().content == "A beginning."


def test_tasks_that_are_not_needed_are_removed_from_the_queue() -> None:
    now = timezone.now()
    retry = timedelta(seconds=Conf.RETRY)
    for _ in range(3):
        async_task("knowledge.tasks.requeue_stalled")
        async_task("knowledge.tasks.ingest_waiting")
    async_task("retrieval.tasks.run_evaluation", 1)
    killed, running = OrmQ.objects.order_by("pk")[:2]
    OrmQ.objects.filter(pk=killed.pk).update(lock=now + retry - timedelta(minutes=2))
    OrmQ.objects.filter(pk=running.pk).update(lock=now + retry)
    never = OrmQ.objects.get(pk=running.pk)
    never.pk, never.lock = None, None  # never taken by a worker
    never.save()
    schedules.worker_started()
    left = OrmQ.objects.order_by("pk")
    assert not left.filter(lock=None).exists()
    assert [task.func().rpartition(".")[2] for task in left] == [
        "ingest_waiting",  # taken by a worker
        "requeue_stalled",
        "ingest_waiting",
        "run_evaluation",
    ]


def test_a_task_without_a_lock_time_is_removed_from_the_queue() -> None:
    async_task("knowledge.tasks.ingest_waiting")
    async_task("retrieval.tasks.run_evaluation", 1)
    OrmQ.objects.update(lock=None)
    assert services.tidy_queue() == 1
    assert OrmQ.objects.get().func() == "retrieval.tasks.run_evaluation", "a task of another app"


def test_a_failure_while_indexing_keeps_the_passages(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    def refuse(claims: Iterable[Claim]) -> None:
        for held in claims:
            with ingestion.fail_document_on_error(held):
                raise Unreachable(where="http://models")

    indexer.index_meaning = refuse
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("failed", "unreachable")
    assert document.chunks.exists()


def test_nothing_to_read_is_a_failure(base: KnowledgeBase, parse: Callable[[Parse], None]) -> None:
    parse(lambda *args, **kwargs: iter([PageBreak(page=1, total=1)]))
    document = add(base)
    ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.error_code == "no_text"


def test_a_missing_file_is_a_failure(base: KnowledgeBase) -> None:
    document = add(base)
    Path(document.file.path).unlink()
    ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.error_code == "missing"


def test_reading_again_replaces_the_passages(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    document = add(base)
    ingestion.ingest(document.pk)
    before = {chunk.pk for chunk in document.chunks.all()}
    services.reingest_document(document)
    assert document.chunks.exists()  # searchable until the new ones are stored
    assert indexer.removed == []
    assert ingestion.ingest(document.pk)
    assert indexer.removed == [[document.pk]]
    assert document.chunks.count() == len(before)
    assert before.isdisjoint(chunk.pk for chunk in document.chunks.all())


def test_a_finished_document_is_left_alone(base: KnowledgeBase) -> None:
    document = factories.make_document(base)
    assert not ingestion.ingest(document.pk)
    assert not ingestion.ingest(0)


def test_cancelling_in_the_middle_stops_the_work(base: KnowledgeBase, parse: Callable[[Parse], None]) -> None:
    def slow(*args: Any, on_progress: Callable[[int, int], None], **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text="The first page.", page=1)
        services.cancel_document(document)
        time.sleep(0.6)
        on_progress(2, 3)
        raise AssertionError("It went on reading.")

    parse(slow)
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.status == "cancelled"
    assert not document.chunks.exists()


def test_cancelling_while_indexing_stops_the_work(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    def index(claims: Iterable[Claim]) -> None:
        for held in claims:
            services.cancel_document(document)
            time.sleep(0.6)
            ingestion.report_progress(held, 50)
            raise AssertionError("It went on indexing.")

    indexer.index_meaning = index
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.status == "cancelled"
    assert not document.chunks.exists()


def test_a_document_that_waits_for_indexing_can_be_cancelled(base: KnowledgeBase) -> None:
    document = add(base)
    ingestion.parse_and_index_words(document.pk)
    assert services.cancel_document(document)
    assert claims.claim_indexing(document.pk) is None
    assert not document.chunks.exists()


def test_deleting_in_the_middle_stops_the_work(base: KnowledgeBase, parse: Callable[[Parse], None]) -> None:
    def slow(*args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text="The first page.", page=1)
        services.delete_document(Document.objects.get(pk=document.pk))

    parse(slow)
    document = add(base)
    assert not ingestion.ingest(document.pk)
    assert not Document.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_read_a_document_once(base: KnowledgeBase, parse: Callable[[Parse], None]) -> None:
    started = threading.Barrier(2, timeout=30)
    runs: list[int] = []

    def once(*args: Any, **kwargs: Any) -> Iterator[Element]:
        runs.append(1)
        time.sleep(0.3)
        yield Paragraph(text="Only once.")

    def work() -> None:
        started.wait()
        results.append(ingestion.ingest(document.pk))
        connections.close_all()

    parse(once)
    document = add(base)
    results: list[bool] = []
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, True]
    assert len(runs) == 1
    assert document.chunks.count() == 1


def test_a_killed_workers_document_is_claimed_again(base: KnowledgeBase) -> None:
    document = add(base)
    held = claims.claim(document.pk)
    assert held is not None
    assert claims.claim(document.pk) is None  # its worker is alive
    OrmQ.objects.all().delete()
    assert ingestion.requeue_stalled() == 0
    _let_time_pass(document)
    assert ingestion.requeue_stalled() == 1
    assert ingestion.requeue_stalled() == 0
    document.refresh_from_db()
    assert document.status == "queued"
    assert OrmQ.objects.count() == 1
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.attempt) == ("ready", 2)
    with pytest.raises(claims.ClaimLost):  # the dead worker's claim, if it woke up
        held.update(progress=99)
    document.refresh_from_db()
    assert document.progress == 100


def test_a_document_whose_indexing_was_killed_is_not_read_again(base: KnowledgeBase) -> None:
    document = add(base)
    ingestion.parse_and_index_words(document.pk)
    held = claims.claim_indexing(document.pk)
    assert held is not None
    chunks = set(document.chunks.values_list("pk", flat=True))
    _let_time_pass(document)
    OrmQ.objects.all().delete()
    assert ingestion.requeue_stalled() == 1
    assert OrmQ.objects.count() == 1
    document.refresh_from_db()
    assert (document.status, document.attempt) == ("chunked", 2)
    with pytest.raises(claims.ClaimLost):  # the dead worker's claim, if it woke up
        ingestion.finish_indexing(held)
    assert ingestion.ingest(document.pk)
    assert set(document.chunks.values_list("pk", flat=True)) == chunks


def test_a_document_that_kills_its_worker_while_indexed_fails_too(base: KnowledgeBase) -> None:
    document = add(base)
    ingestion.parse_and_index_words(document.pk)
    for _ in range(ingestion.MAX_ATTEMPTS):
        assert claims.claim_indexing(document.pk) is not None
        _let_time_pass(document)
        ingestion.requeue_stalled()
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("failed", "worker_lost")
    assert document.chunks.exists()


def test_a_stale_indexing_claim_is_taken_over_without_being_requeued(base: KnowledgeBase) -> None:
    document = add(base)
    ingestion.parse_and_index_words(document.pk)
    claims.claim_indexing(document.pk)
    _let_time_pass(document)
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.attempt == 2


def test_a_stale_claim_is_taken_over_without_being_queued(base: KnowledgeBase) -> None:
    document = add(base)
    claims.claim(document.pk)
    _let_time_pass(document)
    assert ingestion.ingest(document.pk)


def test_a_slow_worker_can_not_store_after_another_took_over(base: KnowledgeBase, tmp_path: Path) -> None:
    document = add(base)
    held = claims.claim(document.pk)
    assert held is not None
    _let_time_pass(document)
    assert ingestion.ingest(document.pk)
    ids = set(document.chunks.values_list("pk", flat=True))
    reading = ingestion._Reading(held, timeout_s=900)
    with pytest.raises(claims.ClaimLost):
        ingestion._store(held, passages.Store(document, tmp_path, []), iter([]), reading)
    assert set(document.chunks.values_list("pk", flat=True)) == ids


def test_a_document_that_kills_its_worker_repeatedly_fails(base: KnowledgeBase) -> None:
    document = add(base)
    for _ in range(ingestion.MAX_ATTEMPTS):
        assert claims.claim(document.pk) is not None
        _let_time_pass(document)
        ingestion.requeue_stalled()
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("failed", "worker_lost")
    assert "3" in document.error_message


def test_a_waiting_document_whose_task_was_lost_is_queued_again(base: KnowledgeBase) -> None:
    document = add(base)
    _let_time_pass(document)
    assert ingestion.requeue_stalled() == 0  # its task is still queued
    OrmQ.objects.all().delete()
    assert ingestion.requeue_stalled() == 1
    assert OrmQ.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_is_independent_of_the_workers_thread(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "HEARTBEAT_SECONDS", 0.05)
    document = add(base)
    held = claims.claim(document.pk)
    assert held is not None
    with claims.heartbeat(held):
        Document.objects.filter(pk=document.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=5))
        _until(lambda: Document.objects.get(pk=document.pk).heartbeat_at > timezone.now() - timedelta(seconds=5))
        services.cancel_document(document)
        assert held.lost.wait(30)


@pytest.mark.django_db(transaction=True)
def test_a_document_that_takes_long_to_store_stays_claimed(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its heartbeat can't be seen during the storing transaction, and one that waited for its end isn't stale."""
    monkeypatch.setattr(claims, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(claims, "STALE_AFTER", timedelta(seconds=0.4))
    replace = passages.Store.replace
    begun, ended = threading.Event(), threading.Event()
    looks: list[int] = []

    def slow(store: passages.Store, *given: Any) -> None:
        replace(store, *given)
        time.sleep(0.8)
        begun.set()
        _until(lambda: len(looks) > 2)

    def take_back() -> None:
        begun.wait(60)
        while not ended.is_set():
            looks.append(ingestion.requeue_stale_claims())
        connections.close_all()

    monkeypatch.setattr(passages.Store, "replace", slow)
    document = add(base)
    other = threading.Thread(target=take_back)
    other.start()
    try:
        assert ingestion.ingest(document.pk)
    finally:
        ended.set()
        other.join()
    document.refresh_from_db()
    assert (document.status, document.attempt, set(looks)) == ("ready", 1, {0})


def test_the_rest_of_a_document_with_too_many_passages_is_left_out(
    base: KnowledgeBase, parse: Callable[[Parse], None], settings: Any
) -> None:
    settings.MAX_DOCUMENT_PASSAGES = 3
    read: list[int] = []

    def endless(*args: Any, **kwargs: Any) -> Iterator[Element]:
        for number in count():
            read.append(number)
            yield Heading(text=f"Part {number}", level=1)
            yield Paragraph(text="Green tea is picked early in the year. " * 40)

    parse(endless)
    document = add(base)
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.chunks.count() == 3 and len(read) < 10
    assert document.notices == [{"key": "left_out.passages", "most": 3}]
    assert "Only the first 3 passages" in document.notice
    settings.MAX_DOCUMENT_PASSAGES = 1000  # not more than it has
    document = add(base, "few.md", b"# One\n\nText.")
    parse(lambda *args, **kwargs: iter_of(Heading(text="One", level=1), Paragraph(text="Text.")))
    ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.notices == []


def iter_of(*elements: Element) -> Iterator[Element]:
    yield from elements


def test_chunking_counts_as_reading(
    base: KnowledgeBase, parse: Callable[[Parse], None], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PARSE_TIMEOUT = 0.2

    def read(*args: Any, **kwargs: Any) -> Iterator[Element]:
        for number in range(3):
            yield Paragraph(text=f"Paragraph {number}.")

    def count(text: str) -> int:
        time.sleep(0.3)
        return len(text)

    parse(read)
    monkeypatch.setattr(ingestion, "count_tokens", count)
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("failed", "timeout")


def test_cancelling_while_words_are_indexed_stops_the_work(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    def index_words(document_id: int, go_on: Callable[[], None]) -> None:
        services.cancel_document(document)
        time.sleep(0.6)
        go_on()
        raise AssertionError("It went on indexing.")

    indexer.index_words = index_words
    document = add(base)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.status == "cancelled"


def test_chunks_are_stored_without_characters_that_the_database_rejects(base: KnowledgeBase, tmp_path: Path) -> None:
    document = factories.make_document(base)
    draft = ChunkDraft("table", "a\x00b \ud800", columns=["x\x00"], rows=[["1", "\x002"]], heading_path=["\x00H"])
    with (tmp_path / "spool").open("w+", encoding="utf-8") as file:
        assert passages.spool([draft], file, 1) == (1, False)
        passages.Store(document, tmp_path, []).replace(file, {})
    chunk = document.chunks.get()
    assert (chunk.content, chunk.table_columns, chunk.table_rows) == ("ab ", ["x"], [["1", "2"]])
    assert chunk.heading_path == ["H"]


def test_schedules_are_registered_once() -> None:
    schedules.register()
    schedules.register()
    schedule = Schedule.objects.get(name=schedules.REQUEUE)
    assert (schedule.func, schedule.minutes) == ("knowledge.tasks.requeue_stalled", 1)


def _let_time_pass(document: Document) -> None:
    Document.objects.filter(pk=document.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=31))


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
