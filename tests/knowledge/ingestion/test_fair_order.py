"""Whose document is next: simulations in which every turn serves one document, over many rounds and uploaders."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.db import connection

from knowledge import services
from knowledge.ingestion import claims, fair_order, ingestion, passages, worker
from knowledge.ingestion.fair_order import AGEING, FairQueue, Turns
from knowledge.models import Document, KnowledgeBase
from knowledge.parsing.elements import Element, PageBreak, Paragraph
from tests import factories
from tests.knowledge.conftest import add

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_order, "LOOK_SECONDS", -1.0)


@pytest.fixture
def theirs(stranger: User) -> KnowledgeBase:
    return factories.make_knowledge_base(stranger)


def waiting(base: KnowledgeBase, count: int = 1, **fields: Any) -> list[int]:
    fields = {"status": "queued", "progress": 0} | fields
    return [factories.make_document(base, **fields).pk for _ in range(count)]


def serve(queue: FairQueue) -> int:
    number = queue.next()
    assert number is not None
    Document.objects.filter(pk=number).update(status="parsing")
    return number


@pytest.mark.parametrize("kind", [{"is_slow": True}, {"is_slow": True, "reads_scans": True}])
def test_slow_files_of_two_people_alternate_over_rounds_of_one_file(
    base: KnowledgeBase, theirs: KnowledgeBase, kind: dict[str, bool]
) -> None:
    many, few = waiting(base, 20, **kind), waiting(theirs, 3, **kind)
    turns = Turns()
    served = [serve(FairQueue(claims.waiting_to_be_read, turns)) for _ in range(6)]
    assert served == [many[0], few[0], many[1], few[1], many[2], few[2]]


def test_nobody_waits_behind_files_that_another_adds_one_by_one(base: KnowledgeBase, theirs: KnowledgeBase) -> None:
    queue = FairQueue(claims.waiting_to_be_read)
    mine = waiting(base, 10)
    served = []
    for _ in range(20):
        if not theirs.documents.filter(status="queued").exists():
            waiting(theirs)
        served.append(serve(queue))
    assert set(mine) <= set(served)


def test_the_oldest_is_served_in_spite_of_newer_ones(base: KnowledgeBase) -> None:
    (scan, other), turns = waiting(base, 2, reads_scans=True), Turns()
    queue = FairQueue(claims.waiting_to_be_read, turns)
    served = []
    for _ in range(2 * AGEING):
        waiting(base, 3)
        served.append(serve(queue))
    assert [served.index(scan), served.index(other)] == [AGEING - 1, 2 * AGEING - 1]


def test_turns_of_people_who_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_order, "_MOST_LINES", 2)
    turns = Turns()
    for person in (1, 2, 1, 3):
        turns.give((person, 1))
    assert set(turns.last) == set(turns.count) == {(1, 1), (3, 1)}


def test_a_scan_that_was_begun_is_finished_before_others_of_its_uploader(base: KnowledgeBase) -> None:
    waiting(base, 2, reads_scans=True)
    (begun,) = waiting(base, reads_scans=True, progress=12)
    assert serve(FairQueue(claims.waiting_to_be_read)) == begun


@pytest.mark.django_db(transaction=True)
def test_two_readers_never_read_files_of_one_person(base: KnowledgeBase, theirs: KnowledgeBase) -> None:
    mine, others = waiting(base, 3), waiting(theirs)
    desk = worker._Desk()
    found: list[int | None] = []
    first = _take(desk)
    for _ in range(2):  # of another thread, like the second reader's
        reader = threading.Thread(target=lambda: found.append(_in_thread(desk)))
        reader.start()
        reader.join()
    assert {first, found[0]} == {mine[0], others[0]} and found[1] is None
    assert desk.is_another_busy() and not desk.is_another_busy(since=0.0)
    desk.put_down()
    assert (_take(desk) == mine[1]) is (first == mine[0])


def _take(desk: worker._Desk) -> int | None:
    number = desk.take()
    Document.objects.filter(pk=number).update(status="parsing")
    return number


def _in_thread(desk: worker._Desk) -> int | None:
    try:
        return _take(desk)
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("value", "cores", "workers", "count"), [("auto", 3, 1, 1), ("auto", 4, 1, 2), ("auto", 4, 2, 1), ("1", 8, 1, 1)]
)
def test_a_second_reader_needs_four_cores(
    value: str, cores: int, workers: int, count: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.INGEST_READERS, settings.INGEST_WORKERS = value, workers
    monkeypatch.setattr(worker.os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert worker.readers() == count


@pytest.fixture
def scan(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, indexer: Any) -> Document:
    """Return a scan of four pages, each of which is recognised and kept when it is read."""
    monkeypatch.setattr(ingestion, "SCAN_TURN_SECONDS", 0.0)
    document = add(base, "scan.pdf", b"%PDF-1.7 scan")
    Document.objects.filter(pk=document.pk).update(reads_scans=True, scanned_pages=4)
    folder = Path(default_storage.path(passages.scans_folder(document.pk)))

    def read(path: Any, filename: str, *args: Any, on_progress: Any, **kwargs: Any) -> Iterator[Element]:
        for number in range(1, 5):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"rapidocr-{number}.json").touch()
            on_progress(number, 4)
            yield PageBreak(page=number, total=4)
            yield Paragraph(text=f"Page {number}.")

    monkeypatch.setattr(ingestion, "parse_file", read)
    return document


def test_a_scan_goes_on_after_the_turns_of_others(scan: Document, theirs: KnowledgeBase) -> None:
    folder = Path(default_storage.path(passages.scans_folder(scan.pk)))
    waiting(theirs)
    seen = []
    for _ in range(4):
        assert not ingestion.parse_and_index_words(scan.pk, takes_turns=True)
        scan.refresh_from_db()
        seen.append((scan.status, scan.attempt, scan.progress, len(list(folder.iterdir()))))
    assert seen == [("queued", 0, 8, 1), ("queued", 0, 15, 2), ("queued", 0, 22, 3), ("queued", 0, 30, 4)]
    assert ingestion.parse_and_index_words(scan.pk, takes_turns=True)
    scan.refresh_from_db()
    assert scan.status == "chunked" and not folder.exists()


def test_a_scan_keeps_its_turn_before_others_of_its_uploader(scan: Document, base: KnowledgeBase) -> None:
    waiting(base, reads_scans=True)
    assert ingestion.parse_and_index_words(scan.pk, takes_turns=True)


def test_a_scans_turn_ends_at_last(
    scan: Document, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(ingestion, "LONGEST_TURN_SECONDS", 0.0)
    assert not ingestion.parse_and_index_words(scan.pk, takes_turns=True)
    folder = Path(default_storage.path(passages.scans_folder(scan.pk)))
    assert folder.exists()
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_document(scan)
    assert not folder.exists()
