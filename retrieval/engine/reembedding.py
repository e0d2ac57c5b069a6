"""Changing the embedding model while search goes on: a new space is filled beside the old one, then takes its place.

Search and ingestion keep to the active space all along. What is ingested meanwhile gets its vectors of the old model
from the worker, and those of the new one here, the last of them while workers that want to store are held up for a
moment; so whatever could be found by meaning before the switch can be found after it. Cut off anywhere, it is run again
and goes on where it was.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from ragsite.llm.embedding.embedding import EmbeddingModel, get_embedder
from retrieval.engine import indexing, partitions, spaces, vectors
from retrieval.models import EmbeddingSpace, IndexEntry

# Passages that are embedded and stored together; among this many there are enough of each length to pad little.
WINDOW = 256
# Passages that are looked up at a time.
PAGE = 4096
# Workers are held up for this many passages at most, unless they add them faster than this many rounds catch up with.
TAIL = 64
ROUNDS = 8
_LOCK = 0x7261677369746532  # any number that no other use of advisory locks takes

_MISSING = """
SELECT chunk_id FROM retrieval_indexentry AS entry
WHERE chunk_id > %(after)s AND (%(bases)s::bigint[] IS NULL OR knowledge_base_id = ANY(%(bases)s))
AND NOT EXISTS (SELECT FROM {table} AS known WHERE known.chunk_id = entry.chunk_id)
ORDER BY chunk_id LIMIT %(limit)s
"""
_TAIL = """
SELECT chunk_id FROM {old} AS old
WHERE NOT EXISTS (SELECT FROM {new} AS new WHERE new.chunk_id = old.chunk_id) ORDER BY chunk_id
"""

# Takes how many passages have their vector by now, and how many there are.
Progress = Callable[[int, int], None]


class AlreadyRunning(Exception):
    """Another process is changing the model of this database."""


def reembed(model: EmbeddingModel, progress: Progress, say: Callable[[str], None]) -> EmbeddingSpace:
    """Make the space of a model the one that is searched, and return it; other spaces stay (see `drop_others`).

    Also when it is the active one already: then it gets the vectors that it lacks. `say` gets a line as each step
    begins. Raises `LLMError` when the model fails, `AlreadyRunning`, and `Busy` when tables can't be made.
    """
    dimension = get_embedder(model).dimension
    with _alone():
        space = spaces.find_or_create(model, dimension)
        _fill(space, progress)
        partitions.analyse(space)
        if not partitions.has_index(space):
            say("Building the index …")
            partitions.build_index(space)
        if not space.active:
            for rounds_left in range(ROUNDS, -1, -1):
                if _switched(space, TAIL if rounds_left else None):
                    break
                _fill(space, progress)
    return space


@contextmanager
def tried(model: EmbeddingModel, knowledge_base_ids: Sequence[int], progress: Progress) -> Iterator[EmbeddingSpace]:
    """Give a model's space the vectors of some knowledge bases, and keep it from being changed meanwhile.

    Nothing but the caller searches it. Raises what `reembed` does.
    """
    dimension = get_embedder(model).dimension
    with _alone():
        space = spaces.find_or_create(model, dimension)
        _fill(space, progress, list(knowledge_base_ids))
        partitions.analyse(space)
        yield space


def drop(chosen: QuerySet[EmbeddingSpace]) -> list[str]:
    """Drop those that are not searched, with their vectors; return their names. Raises `AlreadyRunning` or `Busy`."""
    dropped = []
    with _alone():
        for space in chosen.filter(active=False).order_by("pk"):
            partitions.drop(space)
            dropped.append(str(space))
    return dropped


def drop_others() -> list[str]:
    """Drop every space but the active one; see `drop`."""
    return drop(EmbeddingSpace.objects.all())


def _fill(space: EmbeddingSpace, progress: Progress, bases: list[int] | None = None) -> None:
    """Compute and store the vectors that indexed passages lack in a space, until no more than a tail is left.

    Those of some knowledge bases, or of all when None.
    """
    entries = IndexEntry.objects.all()
    total = (entries if bases is None else entries.filter(knowledge_base__in=bases)).count()
    missing = _MISSING.format(table=space.table_name)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({missing}) AS missing", {"after": 0, "limit": None, "bases": bases})
        done = total - int(cursor.fetchone()[0])
    progress(done, total)
    added = TAIL + 1
    while added > TAIL:  # each round goes through all passages
        added = after = 0
        while page := _ids(missing, {"after": after, "limit": PAGE, "bases": bases}):
            for window, computed in indexing.embedded(space, page, WINDOW):
                vectors.insert(space, window, computed)
                added += len(window)
                progress(min(total, done + added), total)
            after = page[-1]
        done += added


def _switched(space: EmbeddingSpace, most: int | None) -> bool:
    """Have the space searched in the old one's place, once it has a vector for everything that has one there.

    In one transaction, unless more than `most` passages are to be embedded in it; return whether it did.
    """
    with transaction.atomic():
        # Waits for workers that are storing; those who come later find the space inactive, and take the new one.
        old = EmbeddingSpace.objects.select_for_update(no_key=True).filter(active=True).first()
        if old is not None:
            tail = _ids(_TAIL.format(old=old.table_name, new=space.table_name), {})
            if most is not None and len(tail) > most:
                return False
            for window, computed in indexing.embedded(space, tail, WINDOW):
                vectors.insert(space, window, computed)
            EmbeddingSpace.objects.filter(pk=old.pk).update(active=False, left_at=timezone.now())
        EmbeddingSpace.objects.filter(pk=space.pk).update(active=True)
    space.active = True
    return True


@contextmanager
def _alone() -> Iterator[None]:
    """Hold, on this connection, what one process at a time can hold; a process that dies lets go of it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        if not cursor.fetchone()[0]:
            raise AlreadyRunning
    try:
        yield
    finally:
        if not connection.needs_rollback and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _ids(statement: str, parameters: dict[str, Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [chunk_id for (chunk_id,) in cursor.fetchall()]
