"""Changes the embedding model while search continues: a new space is filled beside the old one, then replaces it.

Search and ingestion use the active space throughout. Documents ingested meanwhile get vectors of the old model from the
worker and of the new one here; the last of these are added while workers that store vectors wait for a moment. So
everything found by meaning before the switch is found after it. When interrupted, it can be run again and continues
where it was.

If an update removed the old model, the new space is active from the beginning but not `filled`: documents get their
vectors in it, and search uses only words until it is filled in the same way.
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

# Passages embedded and stored together: enough that batches of similar length need little padding.
WINDOW = 256
# Passages looked up at a time.
PAGE = 4096
# Workers wait while at most this many passages are embedded, unless this many rounds can't catch up with them.
TAIL = 64
ROUNDS = 8
_LOCK = 0x7261677369746532  # any number not used for another advisory lock

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

# Called with the number of passages that have a vector, and the total.
Progress = Callable[[int, int], None]


class AlreadyRunning(Exception):
    """Another process is changing the model of this database."""


def reembed(model: EmbeddingModel, progress: Progress, say: Callable[[str], None]) -> EmbeddingSpace:
    """Fill the space of a model, make it the active one, and return it; other spaces stay (see `drop_others`).

    If it is active and filled already, only its missing vectors are added. `say` gets a line as each step begins.
    Raises `LLMError` if the model fails, `AlreadyRunning`, and `Busy` if tables can't be created.
    """
    dimension = get_embedder(model).dimension
    with _alone():
        space = spaces.find_or_create(model, dimension)
        _fill(space, progress)
        partitions.analyse(space)
        if not partitions.has_index(space):
            say("Building the index …")
            partitions.build_index(space)
        if not (space.active and space.filled):
            for rounds_left in range(ROUNDS, -1, -1):
                if _switched(space, TAIL if rounds_left else None):
                    break
                _fill(space, progress)
    return space


@contextmanager
def trial_space(
    model: EmbeddingModel, knowledge_base_ids: Sequence[int], progress: Progress
) -> Iterator[EmbeddingSpace]:
    """Context manager: fill a model's space with the vectors of some knowledge bases, and protect it from changes.

    Only the caller searches it. Raises what `reembed` raises.
    """
    dimension = get_embedder(model).dimension
    with _alone():
        space = spaces.find_or_create(model, dimension)
        _fill(space, progress, list(knowledge_base_ids))
        partitions.analyse(space)
        space.filled = True  # for these bases, the only ones that the caller searches
        yield space


def drop(chosen: QuerySet[EmbeddingSpace]) -> list[str]:
    """Drop inactive spaces with their vectors; return their names. Raises `AlreadyRunning` or `Busy`."""
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
    """Compute and store the missing vectors of a space until at most `TAIL` are left.

    `bases` are the knowledge bases to fill it for, None for all.
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
    """Make the space active, in a transaction that first adds the vectors it lacks compared with the old space.

    The old space is the active one; if that is this space, the missing vectors are those of passages indexed meanwhile.
    Returns False without any change if more than `most` passages would have to be embedded.
    """
    with transaction.atomic():
        # Waits for workers that are storing; later ones find the space inactive and use the new one.
        old = EmbeddingSpace.objects.select_for_update(no_key=True).filter(active=True).first()
        if old is not None:
            if old.pk == space.pk:
                tail = _ids(_MISSING.format(table=space.table_name), {"after": 0, "limit": None, "bases": None})
            else:
                tail = _ids(_TAIL.format(old=old.table_name, new=space.table_name), {})
            if most is not None and len(tail) > most:
                return False
            for window, computed in indexing.embedded(space, tail, WINDOW):
                vectors.insert(space, window, computed)
            if old.pk != space.pk:
                EmbeddingSpace.objects.filter(pk=old.pk).update(active=False, left_at=timezone.now())
        EmbeddingSpace.objects.filter(pk=space.pk).update(active=True, filled=True)
    space.active = space.filled = True
    return True


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock that only one process can have; released if the process dies. Raises `AlreadyRunning`."""
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
