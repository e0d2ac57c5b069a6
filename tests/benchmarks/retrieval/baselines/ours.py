"""The site's own search, and word search without its shortcuts."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence

from django.db import connection

from knowledge.models import KnowledgeBase
from ragsite.language.analysis import TERM_DIMENSIONS
from retrieval.engine import bm25, fulltext
from retrieval.models import CorpusSize, TermFrequency
from retrieval.ranking.fusion import Query
from retrieval.search import SearchRequest, SearchResult, search
from tests.benchmarks.retrieval.baselines.base import Way, vector_of

_SCAN = f"""
SELECT chunk_id FROM retrieval_indexentry WHERE knowledge_base_id = %(base)s
ORDER BY weights <#> %(weights)s::sparsevec({TERM_DIMENSIONS}), chunk_id LIMIT %(k)s
"""


class Ours(Way):
    """`search()` as the site calls it, with all its stages.

    Each time a query is asked, another space is appended to bypass caches, which doesn't change the result.
    """

    title = "Ragsite, search()"

    def __init__(self, base: KnowledgeBase) -> None:
        super().__init__(base)
        self._loop = asyncio.new_event_loop()
        self._asked: Counter[str] = Counter()
        self.stages: list[dict[str, float]] = []

    def words(self, query: str, k: int) -> list[int]:
        """Call `fulltext.search`."""
        return [chunk_id for chunk_id, _score in fulltext.search(query, [self.base.pk], k)]

    def hybrid(self, query: str, k: int) -> list[int]:
        """Call `search()`, and record the time of each stage."""
        self._asked[query] += 1
        request = SearchRequest((Query(query + " " * self._asked[query]),), (self.base.pk,), k=k)
        result = self._loop.run_until_complete(search(request))
        self.stages.append(_stages(result))
        return [hit.chunk_id for hit in result.hits]

    def close(self) -> None:
        """Close the event loop."""
        self._loop.close()


class Exact(Way):
    """BM25 over every row: the reference for word search."""

    title = "every row, BM25"
    has_hybrid = False

    def words(self, query: str, k: int) -> list[int]:
        """Score all chunks that contain a term of the query."""
        weights = self._weights(query)
        if not weights:
            return []
        with connection.cursor() as cursor:
            literal = bm25.sparse_literal(weights, TERM_DIMENSIONS)
            cursor.execute(_SCAN, {"base": self.base.pk, "weights": literal, "k": k})
            return [chunk_id for (chunk_id,) in cursor.fetchall()]

    def hybrid(self, query: str, k: int) -> list[int]:
        """Not supported."""
        raise NotImplementedError

    def _weights(self, query: str) -> dict[int, float]:
        counts = bm25.count_terms(query)
        known = TermFrequency.objects.filter(knowledge_base=self.base, term__in=counts, document_frequency__gt=0)
        frequencies = dict(known.values_list("term", "document_frequency"))
        return bm25.query_weights(counts, CorpusSize.objects.get(pk=self.base.pk).chunks, frequencies)


def embedding_milliseconds(queries: Sequence[str]) -> list[float]:
    """Return the time to compute each query's vector."""
    taken = []
    for query in queries:
        started = time.perf_counter()
        vector_of(query)
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def _stages(result: SearchResult) -> dict[str, float]:
    """Return milliseconds by stage; both retrievers run at the same time."""
    stages = {("words" if ranking.type == "bm25" else "meaning"): ranking.ms for ranking in result.rankings}
    return stages | {stage.name: stage.ms for stage in result.stages}
