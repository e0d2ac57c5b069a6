"""The tables that hold the vectors: one partition of `retrieval_vector` per embedding space, and its HNSW index.

Making and dropping a partition takes locks that searches hold for moments, too. They are asked for with little
patience and often, so that no search ever queues behind a change that itself has to wait.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg.errors
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import Sum

from retrieval.models import EmbeddingSpace

# Milliseconds that a change of tables waits for its locks, and searches behind it, before it makes room and tries anew.
LOCK_PATIENCE_MS = 200
LOCK_ATTEMPTS = 150
_PAUSE = 0.2
# What pgvector keeps in memory of a node besides its vector, and of a link, as it builds a graph.
_NODE_BYTES, _LINK_BYTES = 200, 40

_CREATE = """
CREATE TABLE {table} PARTITION OF retrieval_vector
(CONSTRAINT {table}_dimension CHECK (vector_dims(embedding) = {dimension})) FOR VALUES IN ({space})
"""
_INDEX = """
CREATE INDEX {concurrently} {index} ON {table} USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops)
WITH (m = {m}, ef_construction = {ef})
"""
_CHECK_PENDING = ("SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED")
_PARTITIONS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass('retrieval_vector')"
_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


class Busy(Exception):
    """The tables stayed in use for as long as was waited."""


def create(space: EmbeddingSpace) -> None:
    """Make the table of a new space, without its HNSW index. Raises `Busy`."""
    dropped = f"DROP TABLE IF EXISTS {space.table_name}"
    created = _CREATE.format(table=space.table_name, dimension=int(space.dimension), space=int(space.pk))
    retry_until_unlocked(lambda: _run(dropped, created))


def drop(space: EmbeddingSpace) -> None:
    """Drop a space's table with all its vectors, in a moment however many they are, and the space. Raises `Busy`."""

    def work() -> None:
        _run(f"DROP TABLE IF EXISTS {space.table_name}")
        EmbeddingSpace.objects.filter(pk=space.pk).delete()

    retry_until_unlocked(work)


def drop_orphans() -> int:
    """Drop the tables of spaces that are gone without `drop`, as `manage.py flush` leaves them; return how many."""
    known = {space.table_name for space in EmbeddingSpace.objects.all()}
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS)
        orphans = [name for (name,) in cursor.fetchall() if name not in known]
    if orphans:
        retry_until_unlocked(lambda: _run(*(f"DROP TABLE IF EXISTS {name}" for name in orphans)))
    return len(orphans)


def has_index(space: EmbeddingSpace) -> bool:
    """Whether the space's HNSW index is there and whole: one whose building was cut off is not."""
    with connection.cursor() as cursor:
        cursor.execute(_VALID, [space.index_name])
        row = cursor.fetchone()
    return bool(row and row[0])


def build_index(space: EmbeddingSpace) -> None:
    """Build the space's HNSW index over the vectors that are there.

    At once is several times faster than vector by vector: the graph is built in memory, by several processes. Outside
    of a transaction nobody who reads or deletes meanwhile is locked out.
    """
    concurrently = "" if connection.in_atomic_block else "CONCURRENTLY"
    statement = _INDEX.format(
        concurrently=concurrently,
        index=space.index_name,
        table=space.table_name,
        dimension=int(space.dimension),
        m=int(settings.HNSW_M),
        ef=int(settings.HNSW_EF_CONSTRUCTION),
    )
    dropped = f"DROP INDEX {concurrently} IF EXISTS {space.index_name}"
    with _memory_to_build(space):
        try:
            _run(dropped, statement)
        except OperationalError as error:
            # Processes share the graph in shared memory, of which containers have little.
            if not isinstance(error.__cause__, psycopg.errors.DiskFull) or not concurrently:
                raise
            _run("SET max_parallel_maintenance_workers = 0", dropped, statement)


def analyse(space: EmbeddingSpace) -> None:
    """Let the server count what the table holds."""
    _run(f"ANALYZE {space.table_name}")


def retry_until_unlocked(work: Callable[[], None]) -> None:
    """Do something in a transaction as soon as its locks are free. Raises `Busy` after `LOCK_ATTEMPTS`."""
    for _attempt in range(LOCK_ATTEMPTS):
        try:
            with transaction.atomic():
                # Checks that wait for a transaction's end keep their tables from being referred to anew.
                _run(f"SET LOCAL lock_timeout = {LOCK_PATIENCE_MS}", *_CHECK_PENDING)
                work()
                _run("SET LOCAL lock_timeout = DEFAULT")
        except OperationalError as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise
        else:
            return
        time.sleep(_PAUSE)
    raise Busy


@contextmanager
def _memory_to_build(space: EmbeddingSpace) -> Iterator[None]:
    """Let the session's next index take the memory that its graph needs, within the setting."""
    rows = space.counts.aggregate(all=Sum("vectors"))["all"] or 0
    row_bytes = 2 * space.dimension + _NODE_BYTES + _LINK_BYTES * settings.HNSW_M
    megabytes = min(settings.HNSW_BUILD_MEMORY_MB, max(64, rows * row_bytes * 5 // 4 // 2**20))
    _run(f"SET maintenance_work_mem = '{megabytes}MB'")
    try:
        yield
    finally:
        with suppress(DatabaseError):  # the session may be what has failed
            _run("RESET maintenance_work_mem", "RESET max_parallel_maintenance_workers")


def _run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
