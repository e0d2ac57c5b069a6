"""The lower limit: everything in this process's memory, words with bm25s, vectors with one NumPy product."""

from importlib import import_module
from typing import Any

import numpy as np
from django.db import connection
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from knowledge.models import KnowledgeBase
from ragsite.language.analysis import terms
from retrieval.engine.bm25 import K1, B
from retrieval.models import IndexEntry, Vector
from tests.benchmarks.retrieval.baselines.base import DEPTH, MissingPackage, Way, fused, vector_of

_ROWS = 20_000


class InMemory(Way):
    """Uses no database while searching; terms are ours, so that words rank alike except for the average length."""

    title = "bm25s + numpy in memory"

    def __init__(self, base: KnowledgeBase) -> None:
        super().__init__(base)
        self._ids = np.array(_chunk_ids(base), dtype=np.int64)
        self._vectors = _vectors(base, len(self._ids))
        self._bm25 = _index(base)

    def words(self, query: str, k: int) -> list[int]:
        """Score every chunk."""
        known = [term for term in terms(query) if term in self._bm25.vocab_dict]
        if not known:
            return []
        found, scores = self._bm25.retrieve([known], k=min(k, len(self._ids)), show_progress=False)
        return [int(self._ids[row]) for row, score in zip(found[0], scores[0], strict=True) if score > 0]

    def hybrid(self, query: str, k: int) -> list[int]:
        """Fuse both lists."""
        depth = min(max(k, DEPTH), len(self._ids))
        similarities = self._vectors @ vector_of(query)
        best = np.argpartition(-similarities, depth - 1)[:depth]
        nearest = self._ids[best[np.argsort(-similarities[best])]]
        return fused(self.words(query, depth), nearest.tolist(), k)


def _chunk_ids(base: KnowledgeBase) -> list[int]:
    return list(IndexEntry.objects.filter(knowledge_base=base).order_by("pk").values_list("pk", flat=True))


def _vectors(base: KnowledgeBase, size: int) -> NDArray[np.float32]:
    """Return the vectors, shape (chunks, dimension), in the order of the chunks."""
    stored = Vector.objects.filter(knowledge_base=base).order_by("entry_id").values_list("embedding", flat=True)
    rows = iter(stored.iterator(chunk_size=_ROWS))
    first = next(rows)
    result = np.empty((size, len(first)), dtype=np.float32)
    result[0] = first
    for number, vector in enumerate(rows, start=1):
        result[number] = vector
    return result


def _index(base: KnowledgeBase) -> Any:
    try:
        bm25s = import_module("bm25s")
    except ImportError as error:
        raise MissingPackage(
            _("This way needs a package that only benchmarks use: pip install %(package)s") % {"package": "bm25s"}
        ) from error
    numbers: dict[str, int] = {}
    passages: list[list[int]] = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT concat_ws(E'\\n', nullif(array_to_string(heading_path, ' › '), ''), nullif(lead, ''), content) "
            "FROM knowledge_chunk ORDER BY id"
        )
        while rows := cursor.fetchmany(_ROWS):
            passages += [[numbers.setdefault(term, len(numbers)) for term in terms(text)] for (text,) in rows]
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index((passages, numbers), show_progress=False)
    return index
