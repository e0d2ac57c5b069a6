"""The tables of vectors: one partition of `retrieval_vector` per embedding space, with its HNSW index.

Creating and dropping a partition needs locks that conflict with those of searches. They are requested with a short
timeout and retried, so that no search queues for long behind a change that itself has to wait.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg.errors
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import Sum

from retrieval.models import EmbeddingSpace

# Milliseconds that a change of tables waits for its locks, with searches queued behind it, before it retries.
LOCK_PATIENCE_MS = 200
LOCK_ATTEMPTS = 150
_PAUSE = 0.2
# Bytes of memory that pgvector uses for a node besides its vector, and for a link, while it builds a graph.
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
_SIZES = """
SELECT inhrelid::regclass::text, pg_total_relation_size(inhrelid)
FROM pg_inherits WHERE inhparent = to_regclass('retrieval_vector')
"""
_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


class Busy(Exception):
    """The tables stayed locked during all attempts."""


def create(space: EmbeddingSpace) -> None:
    """Create the table of a new space, without its HNSW index. Raises `Busy`."""
    dropped = f"DROP TABLE IF EXISTS {space.table_name}"
    created = _CREATE.format(table=space.table_name, dimension=int(space.dimension), space=int(space.pk))
    retry_until_unlocked(lambda: _run(dropped, created))


def drop(space: EmbeddingSpace) -> None:
    """Drop a space and its table with all vectors, in constant time. Raises `Busy`."""

    def work() -> None:
        _run(f"DROP TABLE IF EXISTS {space.table_name}")
        EmbeddingSpace.objects.filter(pk=space.pk).delete()

    retry_until_unlocked(work)


def drop_orphans() -> int:
    """Drop the tables of spaces that no longer exist, which `manage.py flush` leaves behind; return how many."""
    known = {space.table_name for space in EmbeddingSpace.objects.only("pk")}
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS)
        orphans = [name for (name,) in cursor.fetchall() if name not in known]
    if orphans:
        retry_until_unlocked(lambda: _run(*(f"DROP TABLE IF EXISTS {name}" for name in orphans)))
    return len(orphans)


def sizes() -> dict[str, int]:
    """Return the size of each space's table with its indexes, in bytes, by table name."""
    with connection.cursor() as cursor:
        cursor.execute(_SIZES)
        return dict(cursor.fetchall())


def has_index(space: EmbeddingSpace) -> bool:
    """Whether the space's HNSW index exists and is valid: one whose build was interrupted is not."""
    with connection.cursor() as cursor:
        cursor.execute(_VALID, [space.index_name])
        row = cursor.fetchone()
    return bool(row and row[0])


def build_index(space: EmbeddingSpace) -> None:
    """Build the space's HNSW index over its vectors.

    Building it at once is several times faster than adding vectors one by one: the graph is built in memory, by several
    processes. Outside a transaction it is built concurrently, which doesn't block reads and deletes.
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
            # Parallel workers share the graph in shared memory, of which containers have little.
            if not isinstance(error.__cause__, psycopg.errors.DiskFull) or not concurrently:
                raise
            _run("SET max_parallel_maintenance_workers = 0", dropped, statement)


def analyse(space: EmbeddingSpace) -> None:
    """Update the planner's statistics of the table."""
    _run(f"ANALYZE {space.table_name}")


def retry_until_unlocked(work: Callable[[], None]) -> None:
    """Run `work` in a transaction once its locks are free. Raises `Busy` after `LOCK_ATTEMPTS`."""
    for _attempt in range(LOCK_ATTEMPTS):
        try:
            with transaction.atomic():
                # Tables with pending deferred checks can't be altered.
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
    """Let the session's next index build use the memory that its graph needs, up to `HNSW_BUILD_MEMORY_MB`."""
    rows = space.counts.aggregate(all=Sum("vectors"))["all"] or 0
    row_bytes = 2 * space.dimension + _NODE_BYTES + _LINK_BYTES * settings.HNSW_M
    megabytes = min(settings.HNSW_BUILD_MEMORY_MB, max(64, rows * row_bytes * 5 // 4 // 2**20))
    _run(f"SET maintenance_work_mem = '{megabytes}MB'")
    try:
        yield
    finally:
        with suppress(DatabaseError):  # the session itself may have failed
            _run("RESET maintenance_work_mem", "RESET max_parallel_maintenance_workers")


def _run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
