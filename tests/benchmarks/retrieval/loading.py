"""Filling a scratch database quickly: rows computed by the project's functions are copied, then indexes are built."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from numpy.typing import NDArray
from tqdm import tqdm

from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.language.analysis import TERM_DIMENSIONS
from retrieval.engine import bm25, spaces, vectors
from retrieval.models import CorpusSize, EmbeddingSpace, IndexEntry, TermFrequency, Vector, VectorCount
from tests.benchmarks.retrieval import embeddings
from tests.benchmarks.retrieval.passages import Crossover, crossovers, halves

BATCH = 10_000
CHUNKS_PER_DOCUMENT = 50

_CHUNKS = """
COPY knowledge_chunk (id, document_id, ordinal, kind, content, lead, heading_path, char_start, char_end, token_count)
FROM STDIN
"""
_ENTRIES = "COPY retrieval_indexentry (chunk_id, knowledge_base_id, document_id, terms, weights) FROM STDIN"
_VECTORS = "COPY retrieval_vector (chunk_id, space_id, knowledge_base_id, embedding) FROM STDIN"
# Except for keys and for parts of an index over all partitions.
_INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid
WHERE indrelid IN ('retrieval_indexentry'::regclass, %s::regclass) AND NOT indisunique AND NOT relispartition
"""


@dataclass
class Corpus:
    """The content of a database: passages by id, the vectors of the first ones, and the number of chunks.

    Passage `n` (from 0) becomes the chunk with the id `n + 1`; further chunks are combined from halves of passages.
    """

    passages: Sequence[tuple[str, str]]
    vectors: NDArray[np.float32]
    size: int
    _counts: dict[int, tuple[Counter[int], Counter[int]]] = field(default_factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the corpus and of how its rows are computed."""
        sample = [self.row(Crossover(number, number))[1] for number in range(0, self.sources, 1 + self.sources // 50)]
        return f"{self.size} {self.sources} {len(self.vectors)} {hash_of(sample)}"

    @property
    def sources(self) -> int:
        """The number of passages used unchanged."""
        return min(self.size, len(self.passages))

    def row(self, passage: Crossover) -> tuple[str, Counter[int]]:
        """Return a chunk's text and the counts of its terms."""
        if passage.first == passage.second:
            return self.passages[passage.first][1], self._half(passage.first, 0) + self._half(passage.second, 1)
        text = halves(self.passages[passage.first][1])[0] + "\n" + halves(self.passages[passage.second][1])[1]
        return text, self._half(passage.first, 0) + self._half(passage.second, 1)

    def _half(self, source: int, which: int) -> Counter[int]:
        """Return the cached counts of half a passage; no term crosses the border between sentences."""
        if source not in self._counts:
            first, second = halves(self.passages[source][1])
            self._counts[source] = bm25.count_terms(first), bm25.count_terms(second)
        return self._counts[source][which]


def hash_of(rows: Sequence[Counter[int]]) -> str:
    """Return a short hash of counts of terms and of the constants of their weights."""
    weights = [sorted(bm25.passage_weights(row).items()) for row in rows]
    return blake2b(repr(weights).encode(), digest_size=8).hexdigest()


def fill(corpus: Corpus) -> KnowledgeBase:
    """Fill an empty scratch database and return its one knowledge base."""
    owner = get_user_model().objects.create(username="bench")
    base = KnowledgeBase.objects.create(owner=owner, name="bench")
    space = spaces.active_space()
    with _indexes_built_after(space):
        _Filling(corpus, base, space).run()
    _analyse()
    return base


class _Filling:
    """Copies in batches, counting the terms."""

    def __init__(self, corpus: Corpus, base: KnowledgeBase, space: EmbeddingSpace) -> None:
        self.corpus, self.base, self.space = corpus, base, space
        self.frequencies: Counter[int] = Counter()

    def run(self) -> None:
        start = 0
        with tqdm(total=self.corpus.size, desc="Loading", unit="chunk", file=sys.stderr) as bar:
            made = crossovers(self.corpus.sources, self.corpus.size)
            for batch in embeddings.batches(made, BATCH):
                with transaction.atomic():
                    self._copy(batch, start)
                start += len(batch)
                bar.update(len(batch))
        self._count()

    def _copy(self, batch: Sequence[Crossover], start: int) -> None:
        documents = self._documents(start, len(batch))
        rows = [self.corpus.row(passage) for passage in batch]
        drawn = embeddings.drawn(self.corpus.vectors, batch, seed=start)
        with connection.cursor() as cursor:
            with cursor.copy(_CHUNKS) as copy:
                for number, (text, _counts) in enumerate(rows):
                    document, ordinal = documents[number // CHUNKS_PER_DOCUMENT], number % CHUNKS_PER_DOCUMENT
                    copy.write_row(_chunk(start + number + 1, document, ordinal, text))
            with cursor.copy(_ENTRIES) as copy:
                for number, (_text, counts) in enumerate(rows):
                    document = documents[number // CHUNKS_PER_DOCUMENT]
                    copy.write_row(self._entry(start + number + 1, document, counts))
            with cursor.copy(_VECTORS) as copy:
                for chunk_id, vector in enumerate(drawn, start=start + 1):
                    copy.write_row((chunk_id, self.space.pk, self.base.pk, vectors.literal(vector)))

    def _entry(self, chunk_id: int, document_id: int, counts: Counter[int]) -> tuple[Any, ...]:
        weights = bm25.passage_weights(counts)
        self.frequencies.update(weights.keys())
        lexemes = " ".join(f"'{self.base.pk}:{term}'" for term in weights)
        literal = bm25.sparse_literal(weights, TERM_DIMENSIONS)
        return chunk_id, self.base.pk, document_id, lexemes, literal

    def _documents(self, start: int, chunks: int) -> list[int]:
        made = Document.objects.bulk_create(
            Document(
                knowledge_base=self.base,
                original_filename=f"{start + number}.txt",
                media_type="text/plain",
                sha256=f"{start + number:064x}",
                size=0,
                status=Document.Status.READY,
                progress=100,
            )
            for number in range(0, chunks, CHUNKS_PER_DOCUMENT)
        )
        return [document.pk for document in made]

    def _count(self) -> None:
        """Store the frequencies that indexing would have counted."""
        CorpusSize.objects.update_or_create(pk=self.base.pk, defaults={"chunks": self.corpus.size})
        counts = VectorCount.objects.filter(space=self.space, knowledge_base=self.base)
        counts.delete()
        counts.create(space=self.space, knowledge_base=self.base, vectors=self.corpus.size)
        counted = iter(self.frequencies.items())
        while batch := list(islice(counted, BATCH)):
            TermFrequency.objects.bulk_create(
                TermFrequency(knowledge_base=self.base, term=term, document_frequency=count) for term, count in batch
            )
        with connection.cursor() as cursor:
            cursor.execute("SELECT setval('knowledge_chunk_id_seq', %s)", [self.corpus.size])


def _chunk(chunk_id: int, document_id: int, ordinal: int, text: str) -> tuple[Any, ...]:
    return chunk_id, document_id, ordinal, "text", text, "", [], 0, len(text), len(text) // 4


@contextmanager
def _indexes_built_after(space: EmbeddingSpace) -> Iterator[None]:
    """Context manager: drop the index entries' search indexes while rows are copied; rebuilding them is faster."""
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES, [space.table_name])
        definitions = dict(cursor.fetchall())
        for name in definitions:
            cursor.execute(f"DROP INDEX {name}")
    yield
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL maintenance_work_mem = '4GB'")
        cursor.execute("SET LOCAL max_parallel_maintenance_workers = 1")
        for name, definition in tqdm(definitions.items(), desc="Indexing", unit="index", file=sys.stderr):
            tqdm.write(f"Building {name}", file=sys.stderr)
            cursor.execute(definition)


def _analyse() -> None:
    """Update the server's statistics and visibility map."""
    with connection.cursor() as cursor:
        for model in (Chunk, Document, IndexEntry, Vector, TermFrequency, CorpusSize, VectorCount):
            cursor.execute(f"VACUUM ANALYZE {model._meta.db_table}")
