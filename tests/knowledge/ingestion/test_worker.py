"""A worker's round: parallel reading and indexing, and the order of documents."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.tasks import async_task

from knowledge import services
from knowledge.ingestion import claims, fair_order, ingestion, worker
from knowledge.ingestion.claims import Claim
from knowledge.ingestion.fair_order import PER_LOOK, FairQueue
from knowledge.models import Document, KnowledgeBase
from knowledge.parsing.elements import Element, Paragraph
from knowledge.parsing.sandbox.runner import ParseStopped
from tests import factories
from tests.fakes.indexer import FakeIndexer
from tests.knowledge.conftest import add

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("indexer")]


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that replaces the parser's child process."""
    return lambda function: monkeypatch.setattr(ingestion, "parse_file", function)


def test_everything_that_waits_becomes_ready(base: KnowledgeBase) -> None:
    for number in range(3):
        add(base, f"{number}.md", f"# Number {number}".encode())
    bad = add(base, "bad.pdf", b"%PDF-1.7 no")
    OrmQ.objects.all().delete()
    assert worker.work() == 3
    assert sorted(base.documents.values_list("status", flat=True)) == ["failed", "ready", "ready", "ready"]
    bad.refresh_from_db()
    assert bad.error_code == "broken"
    assert not OrmQ.objects.exists()  # no work is left
    assert worker.work() == 0


def test_reading_continues_while_another_document_is_indexed(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    first, second = add(base, "1.md", b"# One"), add(base, "2.md", b"# Two")
    read = threading.Event()

    def index(claims: Iterable[Claim | None]) -> None:
        for held in claims:
            if held is not None and held.document_id == first.pk:
                _until(lambda: Document.objects.get(pk=second.pk).status == "chunked")
                read.set()
            if held is not None:
                ingestion.finish_indexing(held)

    indexer.index_meaning = index
    worker.work()
    assert read.is_set()
    assert set(base.documents.values_list("status", flat=True)) == {"ready"}


def test_files_uploaded_during_indexing_are_read_at_once(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    first = add(base, "1.md", b"# One")
    late: list[Document] = []

    def index(claims: Iterable[Claim | None]) -> None:
        for held in claims:
            if held is not None and held.document_id == first.pk:
                time.sleep(0.3)  # reading has found nothing more to do by now
                late.append(add(base, "late.md", b"# Late"))
                _until(lambda: Document.objects.get(pk=late[0].pk).status == "chunked")
            if held is not None:
                ingestion.finish_indexing(held)

    indexer.index_meaning = index
    assert worker.work() == 2


def test_the_indexer_gets_none_before_it_has_to_wait(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    add(base)
    heard: list[bool] = []

    def index(claims: Iterable[Claim | None]) -> None:
        for held in claims:
            heard.append(held is not None)
            if held is not None:
                ingestion.finish_indexing(held)

    indexer.index_meaning = index
    worker.work()
    assert heard.count(True) == 1
    assert False in heard


def test_a_finished_round_leaves_the_rest_to_the_next(base: KnowledgeBase) -> None:
    add(base, "1.md", b"# One")
    add(base, "2.md", b"# Two")
    OrmQ.objects.all().delete()
    assert worker.work(seconds=0) == 0
    (task,) = OrmQ.objects.all()
    assert task.func() == "knowledge.tasks.ingest_waiting"
    assert worker.work() == 2


def test_failed_indexing_is_not_retried_at_once(base: KnowledgeBase, indexer: FakeIndexer) -> None:
    def broken(claims: Iterable[Claim | None]) -> None:
        raise ZeroDivisionError

    indexer.index_meaning = broken
    document = add(base)
    OrmQ.objects.all().delete()
    assert worker.work() == 1
    document.refresh_from_db()
    assert document.status == "chunked"
    assert not OrmQ.objects.exists()
    assert ingestion.requeue_stalled() == 1  # like the scheduled task, a minute later
    assert OrmQ.objects.count() == 1


def test_the_heartbeats_of_all_claims_are_updated(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "HEARTBEAT_SECONDS", 0.05)
    kept = []
    with claims.HeartbeatThread() as heart:
        for number in range(2):
            document = add(base, f"{number}.md", f"# {number}".encode())
            ingestion.parse_and_index_words(document.pk)
            held = claims.claim_indexing(document.pk)
            assert held is not None
            heart.keep(held)
            kept.append(held)
        begun = [Document.objects.get(pk=held.document_id).heartbeat_at for held in kept]
        for held, before in zip(kept, begun, strict=True):
            _until(lambda held=held, before=before: Document.objects.get(pk=held.document_id).heartbeat_at > before)
        ingestion.release_claim(kept[0], 10)
        time.sleep(0.15)
        assert Document.objects.get(pk=kept[0].document_id).heartbeat_at is None  # no longer updated
        services.cancel_document(Document.objects.get(pk=kept[1].document_id))
        assert kept[1].lost.wait(30)


def test_uploaders_take_turns(base: KnowledgeBase, stranger: User) -> None:
    many = [factories.make_document(base, status="queued") for _ in range(2 * PER_LOOK)]
    turns = FairQueue(claims.waiting_to_be_read)
    served = [_take(turns) for _ in range(2)]
    other = factories.make_knowledge_base(stranger)
    few = [factories.make_document(other, status="queued") for _ in range(2)]
    served += list(_all(turns))
    assert sorted(served) == sorted(document.pk for document in many + few)
    assert [number for number in served if number in {document.pk for document in many}] == [d.pk for d in many]
    assert served.index(few[0].pk) <= PER_LOOK
    assert served.index(few[1].pk) <= PER_LOOK + 2


def test_the_queue_is_queried_once_for_many_documents(base: KnowledgeBase) -> None:
    waiting = [factories.make_document(base, status="queued").pk for _ in range(20)]
    turns = FairQueue(claims.waiting_to_be_read)
    looked: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        looked.append(sql)
        return execute(sql, *given)

    turns.next()
    with connection.execute_wrapper(note):
        assert [turns.next() for _ in range(19)] == waiting[1:]
    assert len(looked) <= 1  # one more if the machine is busy for a second


def test_a_new_uploader_waits_for_one_slow_document_only(
    base: KnowledgeBase, stranger: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_order, "LOOK_SECONDS", 0.0)
    for _ in range(9):
        factories.make_document(base, status="queued")
    in_turn = FairQueue(claims.small_waiting_to_be_read)
    _take(in_turn)
    late = factories.make_document(factories.make_knowledge_base(stranger), status="queued")
    assert _take(in_turn) == late.pk


def test_the_bases_of_one_uploader_take_turns_within_theirs(base: KnowledgeBase, owner: User, stranger: User) -> None:
    def waiting(knowledge_base: KnowledgeBase, count: int) -> list[int]:
        return [factories.make_document(knowledge_base, status="queued").pk for _ in range(count)]

    folder = waiting(base, 12)
    dropped = waiting(factories.make_knowledge_base(owner, "Dropped"), 2)
    others = waiting(factories.make_knowledge_base(stranger), 3)
    served = list(_all(FairQueue(claims.waiting_to_be_read)))
    assert served[:6] == [folder[0], others[0], dropped[0], others[1], folder[1], others[2]]
    assert served[6:8] == [dropped[1], folder[2]]


def test_a_large_document_lets_others_of_its_uploader_overtake(base: KnowledgeBase) -> None:
    giant = factories.make_document(base, status="chunked", progress=60, heartbeat_at=None)
    small = factories.make_document(base, status="chunked", progress=35, heartbeat_at=None)
    assert FairQueue(claims.waiting_to_be_indexed).next() == small.pk
    assert list(_all(FairQueue(claims.waiting_to_be_indexed))) == [small.pk, giant.pk]


def _take(turns: FairQueue) -> int:
    number = turns.next()
    assert number is not None
    Document.objects.filter(pk=number).update(status="parsing")
    return number


def _all(turns: FairQueue) -> Iterator[int]:
    while (number := turns.next()) is not None:
        Document.objects.filter(pk=number).update(status="parsing")
        yield number


def _until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_small_file_overtakes_a_slow_one(base: KnowledgeBase, stranger: User, parse: Any) -> None:
    theirs = factories.make_knowledge_base(stranger)
    late: list[Document] = []

    def read(path: Any, filename: str, *args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text=filename)
        if filename == "giant.md":
            late.extend(add(theirs, f"{number}.md", f"# {number}".encode()) for number in range(3))
            _until(lambda: theirs.documents.filter(status__in=("chunked", "indexing", "ready")).count() == 3)
            yield Paragraph(text="The end.")

    parse(read)
    giant = add(base, "giant.md", b"# Giant")
    assert worker.work() == 4
    giant.refresh_from_db()
    assert giant.status == "ready"
    assert all(Document.objects.get(pk=one.pk).finished_at < giant.finished_at for one in late)


def test_a_small_file_becomes_ready_while_another_outlasts_the_round(
    base: KnowledgeBase, stranger: User, parse: Any
) -> None:
    theirs = factories.make_knowledge_base(stranger)
    seconds = 1.0

    def read(path: Any, filename: str, *args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text=filename)
        if filename == "giant.md":
            time.sleep(seconds)  # longer than the round
            late = add(theirs, "late.md", b"# Late")
            _until(lambda: Document.objects.get(pk=late.pk).status == "ready")

    parse(read)
    add(base, "giant.md", b"# Giant")
    assert worker.work(seconds) == 2


def test_a_small_file_overtakes_documents_indexed_after_a_rounds_end(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, indexer: FakeIndexer
) -> None:
    begun = threading.Event()
    read = worker._read

    def read_until_indexing_begins(until: float, *rest: Any) -> int:
        assert begun.wait(60)
        return read(time.monotonic(), *rest)

    def index(claims: Iterable[Claim | None]) -> None:
        for held in claims:
            if held is not None and not begun.is_set():
                begun.set()
                add(base, "late.md", b"# Late")
                _until(lambda: base.documents.get(original_filename="late.md").status == "chunked")
            if held is not None:
                ingestion.finish_indexing(held)

    monkeypatch.setattr(worker, "_read", read_until_indexing_begins)
    indexer.index_meaning = index
    ingestion.parse_and_index_words(add(base, "1.md", b"# One").pk)
    assert worker.work() == 1
    assert set(base.documents.values_list("status", flat=True)) == {"ready"}


def test_a_slow_file_is_no_longer_treated_as_small(
    base: KnowledgeBase, parse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "SMALL_SECONDS", 0.2)
    bomb: list[Document] = []
    ends: list[str] = []

    def read(path: Any, filename: str, *args: Any, should_stop: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text=filename)
        if filename == "giant.md":
            bomb.append(add(base, "bomb.md", b"# Bomb"))
            _until(lambda: Document.objects.get(pk=bomb[0].pk).is_slow)
            late = add(base, "late.md", b"# Late")
            _until(lambda: Document.objects.get(pk=late.pk).status not in ("queued", "parsing"))
        elif filename == "bomb.md" and not ends:
            _until(should_stop)
            ends.append("stopped")
            raise ParseStopped

    parse(read)
    add(base, "giant.md", b"# Giant")
    assert worker.work() == 3
    assert ends == ["stopped"]
    bomb[0].refresh_from_db()
    assert (bomb[0].status, bomb[0].attempt, bomb[0].error_code) == ("ready", 1, "")


def test_large_and_slow_files_are_not_treated_as_small(base: KnowledgeBase) -> None:
    small, large, slow = (factories.make_document(base, status="queued") for _ in range(3))
    Document.objects.filter(pk=small.pk).update(size=claims.SMALL_BYTES)
    Document.objects.filter(pk=large.pk).update(size=claims.SMALL_BYTES + 1)
    Document.objects.filter(pk=slow.pk).update(is_slow=True)
    assert list(_all(FairQueue(claims.small_waiting_to_be_read))) == [small.pk]


def test_small_files_are_read_again_after_the_database_was_unavailable(
    base: KnowledgeBase, parse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([OperationalError("the connection is closed")])
    looked = claims.small_waiting_to_be_read

    def waiting() -> Any:
        for error in failures:
            raise error
        return looked()

    def read(path: Any, filename: str, *args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text=filename)
        if filename == "giant.md":
            small = add(base, "small.md", b"# Small")
            _until(lambda: Document.objects.get(pk=small.pk).status not in ("queued", "parsing"))

    monkeypatch.setattr(claims, "small_waiting_to_be_read", waiting)
    parse(read)
    add(base, "giant.md", b"# Giant")
    assert worker.work() == 2


def test_documents_are_read_during_another_long_task(base: KnowledgeBase) -> None:
    def evaluate() -> str:
        for number in range(2):
            late = add(base, f"{number}.md", f"# {number}".encode())
            _until(lambda late=late: Document.objects.get(pk=late.pk).status == "ready")
        return "done"

    assert worker.run_while_ingesting(evaluate) == "done"


def test_a_task_continues_if_documents_can_not_be_read(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Event()

    def away() -> bool:
        looked.set()
        raise OperationalError("the connection is closed")

    def fail() -> None:
        assert looked.wait(60)
        raise ZeroDivisionError

    monkeypatch.setattr(worker, "_something_waits", away)
    with pytest.raises(ZeroDivisionError):
        worker.run_while_ingesting(fail)


def test_a_killed_workers_queued_task_is_removed_while_another_is_busy(
    base: KnowledgeBase, parse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_STALLED_SECONDS", 0.0)

    def read(path: Any, filename: str, *args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text=filename)
        async_task("knowledge.tasks.requeue_stalled")
        OrmQ.objects.update(lock=timezone.now() + timedelta(seconds=Conf.RETRY - 120))  # taken two minutes ago
        _until(lambda: not OrmQ.objects.filter(lock__gt=timezone.now()).exists())

    parse(read)
    add(base, "1.md", b"# One")
    assert worker.work() == 1


def test_documents_of_killed_workers_are_requeued_while_another_file_is_read(
    base: KnowledgeBase, parse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_STALLED_SECONDS", 0.0)

    def read(path: Any, filename: str, *args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text=filename)
        if filename == "giant.md":
            left = add(base, "left.md", b"# Left")
            gone = timezone.now() - timedelta(minutes=2)
            Document.objects.filter(pk=left.pk).update(status="parsing", started_at=gone, heartbeat_at=gone)
            _until(lambda: Document.objects.get(pk=left.pk).status == "ready")

    parse(read)
    add(base, "giant.md", b"# Giant")
    assert worker.work() == 2
