"""Finding by meaning: cosine similarity of `halfvec`s, exact where few rows are in question, by HNSW where many are."""

from collections.abc import Sequence

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray

from retrieval.models import EmbeddingSpace, IndexEntry

# Up to this many rows are compared one by one: it is quick enough, and misses nothing.
EXACT_ROWS = 4_000
# Visiting a row by the graph costs about this many times as much as by a scan of the knowledge base's rows.
GRAPH_COST = 5

_STORE = """
UPDATE retrieval_indexentry AS entry SET embedding = new.embedding::halfvec({dimension}), space_id = {space}
FROM unnest(%s::bigint[], %s::text[]) AS new (chunk_id, embedding)
WHERE entry.chunk_id = new.chunk_id AND entry.space_id IS DISTINCT FROM {space}
"""
# Without the cast of the index's expression, so that the planner can't take the index.
_EXACT = """
SELECT chunk_id, 1 - (embedding <=> %(vector)s::halfvec({dimension})) FROM retrieval_indexentry
WHERE space_id = {space} AND knowledge_base_id = ANY(%(bases)s)
ORDER BY embedding <=> %(vector)s::halfvec({dimension}), chunk_id LIMIT %(k)s
"""
_GRAPH = """
SELECT chunk_id, 1 - distance FROM (
    SELECT chunk_id, embedding::halfvec({dimension}) <=> %(vector)s::halfvec({dimension}) AS distance
    FROM retrieval_indexentry WHERE space_id = {space} {only}
    ORDER BY embedding::halfvec({dimension}) <=> %(vector)s::halfvec({dimension}) LIMIT %(k)s
) AS nearest ORDER BY distance, chunk_id
"""
_SIZES = """
SELECT coalesce(sum(chunks) FILTER (WHERE knowledge_base_id = ANY(%s)), 0), coalesce(sum(chunks), 0)
FROM retrieval_corpussize
"""


def store(space: EmbeddingSpace, chunk_ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
    """Set the vectors, shape (chunks, dimension), of indexed chunks; those gone meanwhile are passed over."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_fill(_STORE, space), [list(chunk_ids), [literal(vector) for vector in vectors]])


def missing(space: EmbeddingSpace, document_id: int) -> list[int]:
    """Return the ids of a document's indexed chunks that have no vector of this space yet, in order."""
    entries = IndexEntry.objects.filter(document_id=document_id).exclude(space=space)
    return list(entries.order_by("chunk_id").values_list("chunk_id", flat=True))


def search(
    space: EmbeddingSpace, vector: NDArray[np.float32], knowledge_base_ids: Sequence[int], k: int
) -> list[tuple[int, float]]:
    """Return the k nearest chunks of the knowledge bases as (chunk id, cosine similarity), nearest first."""
    if not knowledge_base_ids:
        return []
    parameters: dict[str, str | int | list[int]] = {
        "vector": literal(vector),
        "bases": list(knowledge_base_ids),
        "k": k,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_SIZES, [list(knowledge_base_ids)])
        wanted, total = cursor.fetchone()
        if is_exact(int(wanted), int(total), k):
            cursor.execute(_fill(_EXACT, space), parameters)
        else:
            _prepare_graph(k)
            only = "" if wanted == total else "AND knowledge_base_id = ANY(%(bases)s)"
            cursor.execute(_fill(_GRAPH, space, only=only), parameters)
        return [(chunk_id, float(similarity)) for chunk_id, similarity in cursor.fetchall()]


def is_exact(wanted: int, total: int, k: int) -> bool:
    """Whether comparing all of `wanted` rows is cheaper than walking a graph of `total` until k of them are met."""
    return wanted <= EXACT_ROWS or wanted < GRAPH_COST * k * total / wanted


def literal(vector: NDArray[np.float32]) -> str:
    """Write a vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"


def _prepare_graph(k: int) -> None:
    """Set, for this transaction, how widely the graph is walked, and that it is."""
    options = {
        "hnsw.ef_search": str(min(1000, max(settings.HNSW_EF_SEARCH, k))),
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.max_scan_tuples": str(settings.HNSW_MAX_SCAN_TUPLES),
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "enable_sort": "off",
    }
    with connection.cursor() as cursor:
        calls = ", ".join(["set_config(%s, %s, true)"] * len(options))
        cursor.execute(f"SELECT {calls}", [part for option in options.items() for part in option])


def _fill(statement: str, space: EmbeddingSpace, **parts: str) -> str:
    """Write the space into a statement: a partial index is only taken for a constant."""
    return statement.format(dimension=int(space.dimension), space=int(space.pk), **parts)
