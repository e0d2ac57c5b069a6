"""Writes the index: adds and removes chunks, and updates the document frequencies in the same transaction.

A row's lexemes are `<knowledge base>:<term id>`, so that the GIN index finds the rows of one base without reading
another's, and the number of candidates is known before a query.

All code takes locks in this order: documents, index rows, counts of vectors, term frequencies, corpus size; each by
ascending key. So workers wait for each other for at most one batch, and never deadlock.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db import connection, transaction

from knowledge.models import Chunk
from ragsite.language.analysis import TERM_DIMENSIONS
from retrieval.engine import bm25, vectors
from retrieval.models import CorpusSize

# Chunks per transaction: enough to amortise its cost, few enough that other workers wait less than a second.
BATCH = 500

_LOCK_DOCUMENTS = "SELECT id FROM knowledge_document WHERE id = ANY(%s) ORDER BY id FOR {strength}"

_INSERT = f"""
INSERT INTO retrieval_indexentry (chunk_id, document_id, knowledge_base_id, terms, weights)
SELECT chunk.id, document.id, document.knowledge_base_id,
       array_to_tsvector(ARRAY(SELECT document.knowledge_base_id || ':' || term
                               FROM unnest(string_to_array(new.terms, ' ')) AS term)),
       new.weights::sparsevec({TERM_DIMENSIONS})
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS new (chunk_id, terms, weights)
JOIN knowledge_chunk AS chunk ON chunk.id = new.chunk_id
JOIN knowledge_document AS document ON document.id = chunk.document_id
ORDER BY chunk.id
ON CONFLICT (chunk_id) DO NOTHING
RETURNING chunk_id, knowledge_base_id
"""

_DELETE = """
WITH gone AS (DELETE FROM retrieval_indexentry WHERE document_id = ANY(%s) RETURNING knowledge_base_id, terms)
SELECT gone.knowledge_base_id, split_part(lexeme, ':', 2)::bigint AS term, count(*)
FROM gone, unnest(tsvector_to_array(gone.terms)) AS lexeme GROUP BY 1, 2
UNION ALL
SELECT knowledge_base_id, -1, count(*) FROM gone GROUP BY 1
"""

_RAISE = """
INSERT INTO retrieval_termfrequency AS known (knowledge_base_id, term, document_frequency)
SELECT %s, term, count FROM unnest(%s::bigint[], %s::int[]) AS new (term, count) ORDER BY term
ON CONFLICT (knowledge_base_id, term)
DO UPDATE SET document_frequency = known.document_frequency + EXCLUDED.document_frequency
"""

_LOWER = """
WITH gone AS MATERIALIZED (
    SELECT known.id, new.count
    FROM unnest(%s::bigint[], %s::int[]) AS new (term, count)
    JOIN retrieval_termfrequency AS known ON known.knowledge_base_id = %s AND known.term = new.term
    ORDER BY known.term
    FOR UPDATE OF known
)
UPDATE retrieval_termfrequency AS known SET document_frequency = known.document_frequency - gone.count
FROM gone WHERE known.id = gone.id
"""

_GROW = """
INSERT INTO retrieval_corpussize AS known (knowledge_base_id, chunks) VALUES (%s, %s)
ON CONFLICT (knowledge_base_id) DO UPDATE SET chunks = known.chunks + EXCLUDED.chunks
"""

_SHRINK = "UPDATE retrieval_corpussize SET chunks = chunks - %s WHERE knowledge_base_id = %s"

# Each row's lexemes, as they were and as they become.
_MOVE = """
WITH before AS MATERIALIZED (
    SELECT chunk_id, knowledge_base_id, terms FROM retrieval_indexentry
    WHERE document_id = ANY(%(documents)s) AND knowledge_base_id <> %(base)s
), moved AS (
    UPDATE retrieval_indexentry AS entry
    SET knowledge_base_id = %(base)s,
        terms = array_to_tsvector(ARRAY(SELECT %(base)s || ':' || split_part(lexeme, ':', 2)
                                        FROM unnest(tsvector_to_array(entry.terms)) AS lexeme))
    FROM before WHERE entry.chunk_id = before.chunk_id
)
SELECT knowledge_base_id, split_part(lexeme, ':', 2)::bigint AS term, count(*)
FROM before, unnest(tsvector_to_array(terms)) AS lexeme GROUP BY 1, 2
UNION ALL
SELECT knowledge_base_id, -1, count(*) FROM before GROUP BY 1
"""

# An interrupted re-analysis of a source base is continued in the target base.
_OUTDATE = """
UPDATE retrieval_corpussize AS known SET analysed_to = least(known.analysed_to, source.analysed_to)
FROM (SELECT min(analysed_to) AS analysed_to FROM retrieval_corpussize
      WHERE knowledge_base_id = ANY(%(sources)s)) AS source
WHERE known.knowledge_base_id = %(base)s AND source.analysed_to IS NOT NULL
"""

_TOUCH = """
WITH held AS (SELECT knowledge_base_id FROM retrieval_corpussize WHERE knowledge_base_id = ANY(%s)
              ORDER BY knowledge_base_id FOR NO KEY UPDATE)
UPDATE retrieval_corpussize AS known SET chunks = chunks FROM held
WHERE known.knowledge_base_id = held.knowledge_base_id
"""

_OUTDATED = """
SELECT chunk_id FROM retrieval_indexentry WHERE knowledge_base_id = %s AND chunk_id > %s ORDER BY chunk_id LIMIT %s
"""

_LOCK_ROWS = "SELECT chunk_id FROM retrieval_indexentry WHERE chunk_id = ANY(%s) ORDER BY chunk_id FOR UPDATE"

# Each row's terms are read before and after the update: only new and dropped ones are counted.
_RENEW = f"""
WITH before AS MATERIALIZED (SELECT chunk_id, terms FROM retrieval_indexentry WHERE chunk_id = ANY(%(chunk_ids)s)),
after AS (
    UPDATE retrieval_indexentry AS entry
    SET terms = array_to_tsvector(ARRAY(SELECT entry.knowledge_base_id || ':' || term
                                        FROM unnest(string_to_array(new.terms, ' ')) AS term)),
        weights = new.weights::sparsevec({TERM_DIMENSIONS})
    FROM unnest(%(chunk_ids)s::bigint[], %(terms)s::text[], %(weights)s::text[]) AS new (chunk_id, terms, weights)
    WHERE entry.chunk_id = new.chunk_id
    RETURNING entry.terms
)
SELECT split_part(lexeme, ':', 2)::bigint AS term, sum(change)::int FROM (
    SELECT unnest(tsvector_to_array(terms)) AS lexeme, -1 AS change FROM before
    UNION ALL SELECT unnest(tsvector_to_array(terms)), 1 FROM after
) AS changes GROUP BY 1 HAVING sum(change) <> 0
"""
_RENEWING = 0x7261677369746541  # any number not used for another advisory lock


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A chunk to index by its words: its ids and its searchable text."""

    chunk_id: int
    document_id: int
    text: str

    @classmethod
    def of(cls, chunk: Chunk) -> "IndexRow":
        """Return the row of a stored chunk. Its headings count twice, since they say what it is about.

        Figures: docs/decisions/terms.md.
        """
        return cls(chunk.pk, chunk.document_id, f"{chunk.heading}\n{chunk.searchable_text}")


def index(rows: Iterable[IndexRow]) -> int:
    """Index chunks by their words and return how many were new.

    Each batch is one transaction. Chunks that are already indexed, or were deleted meanwhile, are skipped, so that
    interrupted work can simply be repeated.
    """
    remaining = iter(rows)
    indexed = 0
    while batch := list(islice(remaining, BATCH)):
        weights = {row.chunk_id: bm25.weights_of(row.text) for row in batch}
        columns = _columns(weights)  # outside the transaction: it takes long
        with transaction.atomic(), connection.cursor() as cursor:
            # This and the deletion of a document wait for each other.
            cursor.execute(_LOCK_DOCUMENTS.format(strength="KEY SHARE"), [sorted({row.document_id for row in batch})])
            cursor.execute(_INSERT, columns)
            inserted: dict[int, list[int]] = defaultdict(list)
            for chunk_id, knowledge_base_id in cursor.fetchall():
                inserted[knowledge_base_id].append(chunk_id)
            for knowledge_base_id, chunk_ids in sorted(inserted.items()):
                frequencies = Counter(term for chunk_id in chunk_ids for term in weights[chunk_id])
                _add(knowledge_base_id, frequencies, len(chunk_ids))
        indexed += sum(map(len, inserted.values()))
    return indexed


def _columns(weights: Mapping[int, Mapping[int, float]]) -> tuple[list[int], list[str], list[str]]:
    """Return chunks, by their ids, as the statements take them: ids, terms, weights."""
    literals = [bm25.sparse_literal(weight, TERM_DIMENSIONS) for weight in weights.values()]
    return list(weights), [" ".join(map(str, weight)) for weight in weights.values()], literals


def _add(knowledge_base_id: int, frequencies: Mapping[int, int], chunks: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_RAISE, [knowledge_base_id, list(frequencies), list(frequencies.values())])
        cursor.execute(_GROW, [knowledge_base_id, chunks])


def delete(document_ids: Sequence[int]) -> int:
    """Remove documents from the index, lower the frequencies of their terms, and return how many chunks were removed.

    The documents stay locked until the caller's transaction ends, so that no other process indexes them meanwhile.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK_DOCUMENTS.format(strength="UPDATE"), [list(document_ids)])
        if not vectors.decrement_counts(document_ids):  # vectors are deleted with their entries
            return 0
        cursor.execute(_DELETE, [list(document_ids)])
        gone: dict[int, dict[int, int]] = defaultdict(dict)
        for knowledge_base_id, term, count in cursor.fetchall():
            gone[knowledge_base_id][term] = count
        chunks = {knowledge_base_id: frequencies.pop(-1) for knowledge_base_id, frequencies in gone.items()}
        for knowledge_base_id in sorted(gone):
            frequencies = gone[knowledge_base_id]
            cursor.execute(_LOWER, [list(frequencies), list(frequencies.values()), knowledge_base_id])
            cursor.execute(_SHRINK, [chunks[knowledge_base_id], knowledge_base_id])
    return sum(chunks.values())


def move(document_ids: Sequence[int], knowledge_base_id: int) -> None:
    """Move the entries and vectors of documents to another base, with the frequencies of their terms.

    The documents stay locked until the caller's transaction ends.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK_DOCUMENTS.format(strength="UPDATE"), [list(document_ids)])
        vectors.move(document_ids, knowledge_base_id)  # which locks the entries
        cursor.execute(_MOVE, {"documents": list(document_ids), "base": knowledge_base_id})
        gone: dict[int, Counter[int]] = defaultdict(Counter)
        for base_id, term, count in cursor.fetchall():
            gone[base_id][term] = count
        if not gone:
            return
        added = Counter[int]()
        for frequencies in gone.values():
            added.update(frequencies)
        for base_id in sorted([*gone, knowledge_base_id]):
            frequencies = gone.get(base_id, added)
            chunks = frequencies.pop(-1)
            if base_id == knowledge_base_id:
                _add(base_id, frequencies, chunks)
            else:
                cursor.execute(_LOWER, [list(frequencies), list(frequencies.values()), base_id])
                cursor.execute(_SHRINK, [chunks, base_id])
        cursor.execute(_OUTDATE, {"sources": list(gone), "base": knowledge_base_id})


def touch(knowledge_base_ids: Sequence[int]) -> None:
    """Change the state of some bases' index as a write does, without changing its content."""
    with connection.cursor() as cursor:
        cursor.execute(_TOUCH, [list(knowledge_base_ids)])


def renew() -> int:
    """Re-analyse chunks that were indexed before the analysis changed; return their number.

    Vectors are kept, and searches find all chunks meanwhile. One process at a time does it, a batch per transaction;
    when interrupted, it continues where it was.
    """
    renewed = 0
    while (batch := _renew_batch()) is not None:
        renewed += batch
    return renewed


def _renew_batch() -> int | None:
    """Re-analyse the next chunks of a base; return their number, or None if none is left or another process does it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_RENEWING])
        (is_locked,) = cursor.fetchone()
        base = CorpusSize.objects.filter(analysed_to__isnull=False).order_by("pk").first() if is_locked else None
        if base is None:
            return None
        cursor.execute(_OUTDATED, [base.pk, base.analysed_to, BATCH])
        rows = [IndexRow.of(chunk) for chunk in Chunk.objects.filter(pk__in=[pk for (pk,) in cursor.fetchall()])]
        weights = {row.chunk_id: bm25.weights_of(row.text) for row in rows}
        cursor.execute(_LOCK_DOCUMENTS.format(strength="KEY SHARE"), [sorted({row.document_id for row in rows})])
        cursor.execute(_LOCK_ROWS, [list(weights)])
        kept = {chunk_id: weights[chunk_id] for (chunk_id,) in cursor.fetchall()}
        cursor.execute(_RENEW, dict(zip(("chunk_ids", "terms", "weights"), _columns(kept), strict=True)))
        changes = dict(cursor.fetchall())
        # All rows are locked in order; only then are the frequencies of dropped terms lowered.
        cursor.execute(_RAISE, [base.pk, list(changes), [max(change, 0) for change in changes.values()]])
        dropped = {term: -change for term, change in changes.items() if change < 0}
        cursor.execute(_LOWER, [list(dropped), list(dropped.values()), base.pk])
        CorpusSize.objects.filter(pk=base.pk).update(analysed_to=max(weights, default=None))
        return len(kept)
