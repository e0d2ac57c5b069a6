"""Search by meaning: cosine similarity of `halfvec`s, exact for few rows, by HNSW for many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg.errors
from django.conf import settings
from django.db import ProgrammingError, connection, transaction
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from knowledge.labels import LabelFilter
from knowledge.models import Chunk
from ragsite.language.detection import language_of
from retrieval.models import EmbeddingSpace, IndexEntry, Vector

# Measured on 100,000 vectors of real sentences, see `manage.py bench recall`.
# Up to this many rows of a larger graph are compared one by one: that takes some milliseconds and misses nothing.
EXACT_ROWS = 20_000
# A row visited in the graph costs as much as comparing this many rows one by one, which are stored side by side.
GRAPH_COST = 40
# Hits that a filtered graph search must find per hit wanted, since the first ones found need not be the nearest. With
# fewer, some are missed if the filtered rows are similar: docs/decisions/vectors.md.
OVERFETCH = 8

# A switch to another space and transactions that store vectors wait for each other.
_HOLD_ACTIVE = "SELECT id FROM retrieval_embeddingspace WHERE id = %s AND active FOR SHARE"
# The entries are locked, so that none is deleted before its vector is stored; missing ones are skipped.
_STORE = """
WITH entry AS MATERIALIZED (
    SELECT chunk_id, knowledge_base_id FROM retrieval_indexentry WHERE chunk_id = ANY(%(chunks)s)
    ORDER BY chunk_id FOR KEY SHARE
), stored AS (
    INSERT INTO {table} (chunk_id, space_id, knowledge_base_id, embedding, language)
    SELECT entry.chunk_id, {space}, entry.knowledge_base_id, new.embedding::halfvec({dimension}), new.language
    FROM unnest(%(chunks)s::bigint[], %(vectors)s::text[], %(languages)s::text[]) AS new (chunk_id, embedding, language)
    JOIN entry USING (chunk_id)
    ON CONFLICT DO NOTHING RETURNING knowledge_base_id
)
INSERT INTO retrieval_vectorcount AS known (space_id, knowledge_base_id, vectors)
SELECT {space}, knowledge_base_id, count(*) FROM stored GROUP BY knowledge_base_id ORDER BY knowledge_base_id
ON CONFLICT (space_id, knowledge_base_id) DO UPDATE SET vectors = known.vectors + EXCLUDED.vectors
"""
_LOCK_ENTRIES = "SELECT chunk_id FROM retrieval_indexentry WHERE document_id = ANY(%s) ORDER BY chunk_id FOR UPDATE"
_UNCOUNT = """
WITH gone AS MATERIALIZED (
    SELECT known.id, counted.vectors
    FROM (SELECT space_id, knowledge_base_id, count(*) AS vectors FROM retrieval_vector
          WHERE chunk_id = ANY(%s) GROUP BY 1, 2) AS counted
    JOIN retrieval_vectorcount AS known USING (space_id, knowledge_base_id)
    ORDER BY known.knowledge_base_id, known.space_id FOR UPDATE OF known
)
UPDATE retrieval_vectorcount AS known SET vectors = known.vectors - gone.vectors FROM gone WHERE known.id = gone.id
"""
# The counts change in the order of bases, as everywhere that locks are taken.
_MOVE = """
WITH moving AS MATERIALIZED (
    SELECT entry.chunk_id, vector.space_id, vector.knowledge_base_id
    FROM retrieval_indexentry AS entry JOIN retrieval_vector AS vector USING (chunk_id)
    WHERE entry.document_id = ANY(%(documents)s) AND vector.knowledge_base_id <> %(base)s
), moved AS (
    UPDATE retrieval_vector AS vector SET knowledge_base_id = %(base)s FROM moving
    WHERE vector.chunk_id = moving.chunk_id AND vector.space_id = moving.space_id
)
SELECT space_id, knowledge_base_id, -count(*) FROM moving GROUP BY 1, 2
UNION ALL SELECT space_id, %(base)s, count(*) FROM moving GROUP BY 1
ORDER BY 2, 1
"""
_COUNT = """
INSERT INTO retrieval_vectorcount AS known (space_id, knowledge_base_id, vectors) VALUES (%s, %s, %s)
ON CONFLICT (space_id, knowledge_base_id) DO UPDATE SET vectors = known.vectors + EXCLUDED.vectors
"""
_LESS = "UPDATE retrieval_vectorcount SET vectors = vectors + %s WHERE space_id = %s AND knowledge_base_id = %s"
_SIZES = """
SELECT coalesce(sum(vectors) FILTER (WHERE knowledge_base_id = ANY(%s)), 0), coalesce(sum(vectors), 0)
FROM retrieval_embeddingspace AS space LEFT JOIN retrieval_vectorcount AS known ON known.space_id = space.id
WHERE space.id = %s GROUP BY space.id
"""
# Without the cast in the index's expression, so that the planner can't use the index; ordered by the selected value, so
# that it is computed once.
_EXACT = """
SELECT chunk_id, 1 - (embedding <=> %(vector)s::halfvec({dimension})) AS similarity, language FROM {table}
WHERE knowledge_base_id = ANY(%(bases)s) {only}
ORDER BY similarity DESC, chunk_id LIMIT %(k)s
"""
_SPOKEN = "AND language = ANY(%(languages)s)"
_OF_DOCUMENTS = """
AND chunk_id IN (SELECT chunk_id FROM retrieval_indexentry WHERE document_id = ANY(%(documents)s))
"""
_LABELLED = """
AND chunk_id IN (
    SELECT chunk_id FROM retrieval_indexentry WHERE document_id IN (
        SELECT id FROM knowledge_document WHERE knowledge_base_id = ANY(%(bases)s) AND {where}
    )
)
"""
# Looked up for each row met in the graph: these are few if many rows match.
_IS_LABELLED = """
AND (SELECT {where} FROM knowledge_document
     WHERE id = (SELECT document_id FROM retrieval_indexentry AS entry WHERE entry.chunk_id = {table}.chunk_id))
"""
# Whether the matching documents have more passages than are compared one by one.
_MANY = """
SELECT count(*) > {most} FROM (
    SELECT 1 FROM retrieval_indexentry WHERE document_id IN (
        SELECT id FROM knowledge_document WHERE knowledge_base_id = ANY(%(bases)s) AND {where}
    ) LIMIT {most} + 1
) AS labelled
"""
_GRAPH = """
SELECT chunk_id, 1 - distance, language FROM (
    SELECT chunk_id, language, embedding::halfvec({dimension}) <=> %(vector)s::halfvec({dimension}) AS distance
    FROM {table} {only}
    ORDER BY embedding::halfvec({dimension}) <=> %(vector)s::halfvec({dimension}) LIMIT %(k)s
) AS nearest ORDER BY distance, chunk_id
"""
_ONLY = "WHERE knowledge_base_id = ANY(%(bases)s) "
# Makes the planner use the graph.
_PLANNING: dict[str, str | None] = {"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off"}


# A chunk's id, its cosine similarity, and its language.
Nearest = tuple[int, float, str]


class SpaceChanged(Exception):
    """The space is no longer in use: retry with the active one."""


def insert_into_active(space: EmbeddingSpace, chunk_ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
    """Store the vectors, shape (chunks, dimension), of indexed chunks; chunks deleted meanwhile are skipped.

    Raises `SpaceChanged` if the space is no longer active; it stays active while this runs.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_HOLD_ACTIVE, [space.pk])
        if cursor.fetchone() is None:
            raise SpaceChanged
        insert(space, chunk_ids, vectors)


def insert(space: EmbeddingSpace, chunk_ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
    """Store vectors like `insert_into_active`, in a space that need not be active; and the languages of the chunks."""
    contents = dict(Chunk.objects.filter(pk__in=chunk_ids).values_list("pk", "content"))
    parameters: dict[str, list[int] | list[str]] = {
        "chunks": list(chunk_ids),
        "languages": [language_of(contents.get(chunk_id, "")) for chunk_id in chunk_ids],
        "vectors": [literal(vector) for vector in vectors],
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_fill(_STORE, space), parameters)


def missing(space: EmbeddingSpace, document_id: int) -> list[int]:
    """Return the ids of a document's indexed chunks that have no vector in this space yet, in order."""
    stored = Vector.objects.filter(space_id=space.pk, entry_id=OuterRef("pk"))
    entries = IndexEntry.objects.filter(~Exists(stored), document_id=document_id)
    return list(entries.order_by("chunk_id").values_list("chunk_id", flat=True))


def decrement_counts(document_ids: Sequence[int]) -> int:
    """Subtract the vectors of documents from the counts; the caller deletes the entries in the same transaction.

    Locks the entries and returns their number.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_ENTRIES, [list(document_ids)])
        chunk_ids = [chunk_id for (chunk_id,) in cursor.fetchall()]
        if chunk_ids:
            cursor.execute(_UNCOUNT, [chunk_ids])
    return len(chunk_ids)


def move(document_ids: Sequence[int], knowledge_base_id: int) -> None:
    """Move the vectors of documents to another base, in every space; the caller moves their entries."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_ENTRIES, [list(document_ids)])
        cursor.execute(_MOVE, {"documents": list(document_ids), "base": knowledge_base_id})
        for space_id, base_id, change in cursor.fetchall():
            if change > 0:
                cursor.execute(_COUNT, [space_id, base_id, change])
            else:
                cursor.execute(_LESS, [change, space_id, base_id])


def search(
    space: EmbeddingSpace,
    vector: NDArray[np.float32],
    knowledge_base_ids: Sequence[int],
    k: int,
    document_ids: Sequence[int] = (),
    labels: LabelFilter | None = None,
    languages: Sequence[str] = (),
) -> list[Nearest]:
    """Return the k nearest chunks of the knowledge bases, nearest first.

    With `document_ids`, all vectors of these documents are compared, and no others. With `labels`, only documents with
    these tags and fields are searched: one by one if they have few passages, otherwise by the graph. With `languages`,
    only chunks in these languages are searched; "" means an unknown language. Raises `SpaceChanged` if the space is
    gone.
    """
    if not knowledge_base_ids:
        return []
    bases, documents = list(knowledge_base_ids), list(document_ids)
    try:
        with transaction.atomic(savepoint=False):
            with connection.cursor() as cursor:
                cursor.execute(_SIZES, [bases, space.pk])
                row = cursor.fetchone()
            if row is None:
                raise SpaceChanged
            wanted, total = int(row[0]), int(row[1])
            if not wanted:
                return []
            asked = _Question(space, literal(vector), bases, k, documents, labels or LabelFilter(), list(languages))
            if documents or is_exact(wanted, total, k) or not asked.is_labelled_widely(wanted):
                return asked.compare()
            if wanted == total and not labels and not languages:
                return asked.walk(k, settings.HNSW_MAX_SCAN_TUPLES, filtered=False)
            # If the bases' vectors are unlike the query, a graph search meets none of them for long. When it takes
            # twice as long as comparing all of them, it is abandoned for that.
            most = min(settings.HNSW_MAX_SCAN_TUPLES, 2 * wanted // GRAPH_COST)
            hits = asked.walk(OVERFETCH * k, most, filtered=True)
            return hits[:k] if len(hits) == OVERFETCH * k else asked.compare(after_a_walk=True)
    except ProgrammingError as error:
        if isinstance(error.__cause__, psycopg.errors.UndefinedTable):
            raise SpaceChanged from error
        raise


def is_exact(wanted: int, total: int, k: int) -> bool:
    """Return whether comparing all `wanted` rows is cheap, or cheaper than a graph search among `total` rows."""
    if wanted == total:
        return wanted < GRAPH_COST * k
    return wanted <= EXACT_ROWS or wanted < GRAPH_COST * OVERFETCH * k * total / wanted


@dataclass(frozen=True, slots=True)
class _Question:
    """A query and the two ways to search for it, inside a transaction."""

    space: EmbeddingSpace
    vector: str
    bases: list[int]
    k: int
    documents: list[int]
    labels: LabelFilter = LabelFilter()  # noqa: RUF009 - it can't be changed
    languages: list[str] = field(default_factory=list)

    def is_labelled_widely(self, wanted: int) -> bool:
        """Return whether too many rows match the labels to compare them one by one; True without labels."""
        if not self.labels:
            return True
        if wanted <= EXACT_ROWS:
            return False
        with connection.cursor() as cursor:
            parameters = {"bases": self.bases} | self.labels.parameters
            cursor.execute(_MANY.format(most=EXACT_ROWS, where=self.labels.where), parameters)
            return bool(cursor.fetchone()[0])

    def compare(self, *, after_a_walk: bool = False) -> list[Nearest]:
        """Compare all vectors of the bases, or of the documents."""
        options = dict.fromkeys(_PLANNING) if after_a_walk else {}
        only = _OF_DOCUMENTS if self.documents else ""
        only += _LABELLED.format(where=self.labels.where) if self.labels else ""
        only += _SPOKEN if self.languages else ""
        return self._ask(_EXACT, options, self.k, only=only)

    def walk(self, limit: int, most: int, *, filtered: bool) -> list[Nearest]:
        """Search the graph until `limit` hits are found, or about `most` vectors were visited."""
        options = _PLANNING | {
            "hnsw.iterative_scan": "relaxed_order",
            "hnsw.ef_search": str(min(1000, max(settings.HNSW_EF_SEARCH, limit))),
            "hnsw.max_scan_tuples": str(max(1, most)),
        }
        only = _ONLY if filtered else ""
        only += _SPOKEN if filtered and self.languages else ""
        only += _IS_LABELLED.format(where=self.labels.where, table=self.space.table_name) if self.labels else ""
        return self._ask(_GRAPH, options, limit, only=only)

    def _ask(self, statement: str, options: Mapping[str, str | None], limit: int, only: str = "") -> list[Nearest]:
        """Run a statement with server options set for this transaction; None resets one to its default."""
        parameters: dict[str, Any] = {
            "vector": self.vector, "bases": self.bases, "documents": self.documents, "k": limit,
            "languages": self.languages,
        } | self.labels.parameters  # fmt: skip
        with connection.cursor() as cursor:
            if options:
                calls = ", ".join(["set_config(%s, %s, true)"] * len(options))
                cursor.execute(f"SELECT {calls}", [part for option in options.items() for part in option])
            cursor.execute(_fill(statement, self.space, only=only), parameters)
            return [(chunk_id, float(similarity), language) for chunk_id, similarity, language in cursor.fetchall()]


def literal(vector: NDArray[np.float32]) -> str:
    """Return a vector in pgvector's text format."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"


def _fill(statement: str, space: EmbeddingSpace, **parts: str) -> str:
    """Insert the space into a statement, since names of tables and types can't be parameters."""
    return statement.format(table=space.table_name, dimension=int(space.dimension), space=int(space.pk), **parts)
