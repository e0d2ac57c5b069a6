"""`bench contention`: lock contention between workers that index words."""

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

from django.contrib.auth import get_user_model
from django.db import connection, connections

from knowledge.models import Chunk, Document, KnowledgeBase
from retrieval.engine import index
from retrieval.engine.index import IndexRow
from tests.benchmarks.retrieval import passages, scratch
from tests.benchmarks.retrieval.measuring import table

WORKERS = (1, 2, 4)
CHUNKS_PER_DOCUMENT = 100
_LOOK_SECONDS = 0.02
_fork = multiprocessing.get_context("fork")

_WAITING = """
SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'), count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


@dataclass(frozen=True)
class Outcome:
    """The combined speed of workers, and the share of their time that they waited for each other."""

    chunks_per_second: float
    waiting: float


def run(texts: Sequence[Path], chunks: int, say: Callable[[str], None]) -> None:
    """Index the same passages with one, two and four workers, into one base and into one each, and print the speeds."""
    read = [text for _name, text in passages.read(texts, chunks)]
    lines: list[list[str]] = []
    with scratch.database("ragsite_bench_contention", keep=False):
        alone = _measure(read, workers=1, bases=1)  # warm-up, not counted
        for workers in WORKERS:
            for bases in sorted({1, workers}):
                outcome = _measure(read, workers, bases)
                alone = outcome if workers == 1 else alone
                ratio = outcome.chunks_per_second / alone.chunks_per_second
                into = "one base" if bases == 1 else "one base each"
                figures = f"{outcome.chunks_per_second:.0f}", f"{ratio:.2f}", f"{outcome.waiting:.0%}"
                lines.append([str(workers), into, *figures])
    say(f"\n## Indexing {len(read):,} passages by words, {os.cpu_count()} cores")
    say(table(["workers", "into", "chunks/s", "× one worker", "time waiting for locks"], lines))


def _measure(texts: Sequence[str], workers: int, bases: int) -> Outcome:
    scratch.empty()
    shares = _shares(texts, workers, bases)
    barrier = _fork.Barrier(workers + 1)
    connections.close_all()
    processes = [_fork.Process(target=_work, args=(share, barrier), daemon=True) for share in shares]
    for process in processes:
        process.start()
    barrier.wait()
    started = time.perf_counter()
    waiting = _waiting(processes)
    taken = time.perf_counter() - started
    if any(process.exitcode for process in processes):
        raise RuntimeError("A worker failed; its error stands above.")
    return Outcome(len(texts) / taken, waiting)


def _shares(texts: Sequence[str], workers: int, bases: int) -> list[list[IndexRow]]:
    """Store the texts as chunks and return each worker's rows; neighbouring documents go to different workers."""
    owner = get_user_model().objects.create(username="bench")
    made = [KnowledgeBase.objects.create(owner=owner, name=f"bench {number}") for number in range(bases)]
    shares: list[list[IndexRow]] = [[] for _ in range(workers)]
    for number, start in enumerate(range(0, len(texts), CHUNKS_PER_DOCUMENT)):
        worker = number % workers
        document = Document.objects.create(
            knowledge_base=made[worker % bases], original_filename=f"{number}.txt", sha256=f"{number:064x}", size=0
        )
        chunks = Chunk.objects.bulk_create(
            Chunk(document=document, ordinal=ordinal, content=text)
            for ordinal, text in enumerate(texts[start : start + CHUNKS_PER_DOCUMENT])
        )
        shares[worker] += [IndexRow(chunk.pk, document.pk, chunk.content) for chunk in chunks]
    return shares


def _work(rows: Sequence[IndexRow], barrier: Barrier) -> None:
    """Index rows, in a separate process, as soon as all workers are ready."""
    connection.ensure_connection()
    barrier.wait()
    index.index(rows)


def _waiting(processes: Sequence[ForkProcess]) -> float:
    """Wait for the workers to end; return the share of their time that they waited for a lock."""
    waited = seen = 0
    while any(process.is_alive() for process in processes):
        with connection.cursor() as cursor:
            cursor.execute(_WAITING)
            waiting, all_of_them = cursor.fetchone()
        waited += waiting
        seen += all_of_them
        time.sleep(_LOOK_SECONDS)
    return waited / seen if seen else 0.0
