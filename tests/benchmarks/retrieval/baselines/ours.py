"""The site's own search, and the same words without its short cuts."""

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

    A query gets one more space behind it each time it is asked, which changes no result, so that no cache knows it.
    """

    title = "Ragsite, search()"

    def __init__(self, base: KnowledgeBase) -> None:
        super().__init__(base)
        self._loop = asyncio.new_event_loop()
        self._asked: Counter[str] = Counter()
        self.stages: list[dict[str, float]] = []

    def words(self, query: str, k: int) -> list[int]:
        """Ask `fulltext.search`."""
        return [chunk_id for chunk_id, _score in fulltext.search(query, [self.base.pk], k)]

    def hybrid(self, query: str, k: int) -> list[int]:
        """Ask `search()`, and keep what each of its stages took."""
        self._asked[query] += 1
        request = SearchRequest((Query(query + " " * self._asked[query]),), (self.base.pk,), k=k)
        result = self._loop.run_until_complete(search(request))
        self.stages.append(_stages(result))
        return [hit.chunk_id for hit in result.hits]

    def close(self) -> None:
        """Close the event loop."""
        self._loop.close()


class Exact(Way):
    """BM25 by reading every row: what the words ought to find."""

    title = "every row, BM25"
    has_hybrid = False

    def words(self, query: str, k: int) -> list[int]:
        """Score all chunks that hold a term of the query."""
        weights = self._weights(query)
        if not weights:
            return []
        with connection.cursor() as cursor:
            literal = bm25.sparse_literal(weights, TERM_DIMENSIONS)
            cursor.execute(_SCAN, {"base": self.base.pk, "weights": literal, "k": k})
            return [chunk_id for (chunk_id,) in cursor.fetchall()]

    def hybrid(self, query: str, k: int) -> list[int]:
        """Not offered."""
        raise NotImplementedError

    def _weights(self, query: str) -> dict[int, float]:
        counts = bm25.count_terms(query)
        known = TermFrequency.objects.filter(knowledge_base=self.base, term__in=counts, document_frequency__gt=0)
        frequencies = dict(known.values_list("term", "document_frequency"))
        return bm25.query_weights(counts, CorpusSize.objects.get(pk=self.base.pk).chunks, frequencies)


def embedding_milliseconds(queries: Sequence[str]) -> list[float]:
    """Return what computing each query's vector takes."""
    taken = []
    for query in queries:
        started = time.perf_counter()
        vector_of(query)
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def _stages(result: SearchResult) -> dict[str, float]:
    """Return milliseconds by stage; both sides are asked at the same time."""
    stages = {("words" if ranking.type == "bm25" else "meaning"): ranking.ms for ranking in result.rankings}
    return stages | {stage.name: stage.ms for stage in result.stages}
