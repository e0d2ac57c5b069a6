"""Document frequencies under parallel workers that index, delete and die, with real processes and connections."""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction

from knowledge.models import Chunk, Document, KnowledgeBase
from retrieval.engine import bm25, fulltext, index
from retrieval.engine.index import IndexRow
from tests import factories
from tests.retrieval.engine.test_index import ENGLISH, assert_counts_are_right, assert_same, reference, text_of

pytestmark = pytest.mark.django_db(transaction=True)

# Counts that differ from the rows, in one snapshot, so that it can run at any moment.
_WRONG = """
WITH rows AS (
    SELECT knowledge_base_id, split_part(lexeme, ':', 2)::bigint AS term, count(*) AS frequency
    FROM retrieval_indexentry, unnest(tsvector_to_array(terms)) AS lexeme GROUP BY 1, 2
), sizes AS (SELECT knowledge_base_id, count(*) AS chunks FROM retrieval_indexentry GROUP BY 1)
SELECT 'term', known.term FROM retrieval_termfrequency AS known FULL JOIN rows USING (knowledge_base_id, term)
WHERE coalesce(known.document_frequency, 0) <> coalesce(rows.frequency, 0)
UNION ALL
SELECT 'size', known.knowledge_base_id FROM retrieval_corpussize AS known FULL JOIN sizes USING (knowledge_base_id)
WHERE coalesce(known.chunks, 0) <> coalesce(sizes.chunks, 0)
"""


def assert_consistent() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_WRONG)
        assert cursor.fetchall() == []


@contextmanager
def worker(work: Callable[[Connection], None]) -> Iterator[tuple[ForkProcess, Connection]]:
    """Run `work` in a process with its own connections; kill it at the end if it is still alive."""
    ours, theirs = multiprocessing.Pipe()

    def run() -> None:
        for name in connections:
            connections[name].connection = None  # the parent's, which psycopg doesn't close in another process
        code = 1
        try:
            work(theirs)
            code = 0
        finally:
            os._exit(code)  # without the cleanup of pytest and the server

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    try:
        yield process, ours
    finally:
        if process.is_alive():
            os.kill(process.pid or 0, signal.SIGKILL)
        process.join()


def rows_of(document: Document) -> list[IndexRow]:
    chunks = Chunk.objects.filter(document_id=document.pk).order_by("pk")
    return [IndexRow(chunk.pk, document.pk, chunk.searchable_text) for chunk in chunks]


def make_documents(base: KnowledgeBase, documents: int, chunks: int, seed: int) -> list[Document]:
    rng = random.Random(seed)
    made = [factories.make_document(base) for _ in range(documents)]
    Chunk.objects.bulk_create(
        Chunk(document=document, ordinal=number, content=text_of(rng, ENGLISH))
        for document in made
        for number in range(chunks)
    )
    return made


def corpus_of(base: KnowledgeBase) -> dict[int, str]:
    return dict(Chunk.objects.filter(document__knowledge_base=base).values_list("pk", "content"))


def test_a_worker_killed_in_a_transaction_leaves_nothing(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 10)
    base = factories.make_knowledge_base(owner)
    (document,) = make_documents(base, 1, 25, seed=1)
    batches = 0
    raise_frequencies = index._add

    def work(pipe: Connection) -> None:
        def blocked(knowledge_base_id: int, frequencies: dict[int, int], chunks: int) -> None:
            nonlocal batches
            raise_frequencies(knowledge_base_id, frequencies, chunks)
            batches += 1
            if batches == 2:  # rows and counts are written but not committed
                pipe.send("blocked")
                time.sleep(300)

        index._add = blocked
        index.index(rows_of(document))

    with worker(work) as (process, pipe):
        assert pipe.poll(60) and pipe.recv() == "blocked"
        assert_consistent()
        os.kill(process.pid or 0, signal.SIGKILL)
    assert index.index(rows_of(document)) == 15  # waits only until the dead worker's locks are released
    assert_counts_are_right(base, corpus_of(base))


def test_a_worker_killed_between_batches_is_taken_over(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 10)
    base = factories.make_knowledge_base(owner)
    (document,) = make_documents(base, 1, 25, seed=2)

    def work(pipe: Connection) -> None:
        analyse, seen = bm25.count_terms, 0

        def blocked(text: str) -> object:
            nonlocal seen
            seen += 1
            if seen == 11:  # the first of the second batch
                pipe.send("blocked")
                time.sleep(300)
            return analyse(text)

        bm25.count_terms = blocked  # type: ignore[assignment]
        index.index(rows_of(document))

    with worker(work) as (process, pipe):
        assert pipe.poll(60) and pipe.recv() == "blocked"
        os.kill(process.pid or 0, signal.SIGKILL)
    assert_consistent()
    assert index.index(rows_of(document)) == 15
    assert_counts_are_right(base, corpus_of(base))


def test_counts_stay_right_while_workers_die(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three processes index and delete the same documents in all orders; two of them are killed repeatedly."""
    monkeypatch.setattr(index, "BATCH", 7)
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    documents = [*make_documents(base, 4, 20, seed=3), *make_documents(other, 2, 20, seed=4)]
    rng = random.Random(5)

    def busy(seed: int, seconds: float) -> Callable[[Connection], None]:
        def work(pipe: Connection) -> None:
            mine, end = random.Random(seed), time.monotonic() + seconds
            while time.monotonic() < end:
                if mine.random() < 0.4:
                    index.delete([document.pk for document in mine.sample(documents, mine.randint(1, 3))])
                else:
                    index.index(row for document in mine.sample(documents, 2) for row in rows_of(document))

        return work

    with worker(busy(0, 2.5)) as (steady, _pipe):
        for seed in range(1, 13, 2):
            with worker(busy(seed, 300)) as (first, _one), worker(busy(seed + 1, 300)) as (second, _two):
                time.sleep(rng.uniform(0.05, 0.35))
                assert_consistent()
                for process in (first, second):
                    os.kill(process.pid or 0, signal.SIGKILL)
            assert_consistent()
        steady.join(120)
        assert steady.exitcode == 0  # no deadlock, no count below zero
    index.index(row for document in documents for row in rows_of(document))
    for searched in (base, other):
        assert_counts_are_right(searched, corpus_of(searched))


def test_deleting_a_document_while_it_is_indexed(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 5)
    base = factories.make_knowledge_base(owner)
    kept, gone = make_documents(base, 2, 40, seed=6)

    def work(pipe: Connection) -> None:
        pipe.send("begun")
        index.index([*rows_of(kept), *rows_of(gone)])

    with worker(work) as (process, pipe):
        assert pipe.poll(60)
        time.sleep(0.05)
        with transaction.atomic():
            index.delete([gone.pk])
            gone.delete()
        process.join(120)
        assert process.exitcode == 0
    assert_consistent()
    assert_counts_are_right(base, corpus_of(base))


def test_scores_stay_exact_while_others_write(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches in one base are unaffected by writes to another."""
    monkeypatch.setattr(index, "BATCH", 5)
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    documents, busy = make_documents(base, 2, 20, seed=7), make_documents(other, 2, 20, seed=8)
    index.index(row for document in documents for row in rows_of(document))
    corpus = corpus_of(base)

    def work(pipe: Connection) -> None:
        for _ in range(200):
            index.index(row for document in busy for row in rows_of(document))
            index.delete([document.pk for document in busy])

    rng = random.Random(9)
    with worker(work):
        for _ in range(25):
            query = text_of(rng, ENGLISH, 6)
            assert_same(fulltext.search(query, [base.pk], 10), reference(corpus, query, 10))


def test_workers_never_deadlock(owner: User) -> None:
    """Each worker repeatedly writes and deletes its own document, all with the same words."""
    base = factories.make_knowledge_base(owner)
    text = " ".join(f"word{number}" for number in range(1_500))
    documents = [factories.make_document(base) for _ in range(2)]
    for document in documents:
        factories.make_chunk(document, text)

    def busy(document: Document) -> Callable[[Connection], None]:
        def work(pipe: Connection) -> None:
            for _ in range(12):
                index.index(rows_of(document))
                index.delete([document.pk])

        return work

    with worker(busy(documents[0])) as (first, _one), worker(busy(documents[1])) as (second, _two):
        first.join(120)
        second.join(120)
        assert (first.exitcode, second.exitcode) == (0, 0)
    assert_consistent()
