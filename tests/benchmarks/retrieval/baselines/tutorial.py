"""The usual tutorial's approach: a generated `tsvector`, `ts_rank_cd`, a `vector` with HNSW, and RRF.

Based on pgvector's example of hybrid search, but matching any of the words instead of all, so that questions find
something.
"""

from django.db import connection, transaction

from knowledge.models import KnowledgeBase
from retrieval.engine import spaces, vectors
from tests.benchmarks.retrieval.baselines.base import DEPTH, Way, fused, vector_of

_TABLE = "bench_tutorial"
_MAKE: tuple[str, ...] = (
    f"CREATE TABLE {_TABLE} (id bigint PRIMARY KEY, content text NOT NULL, embedding vector(%(dimension)s), "
    "tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED)",
    f"INSERT INTO {_TABLE} SELECT chunk.id, chunk.content, vector.embedding::vector(%(dimension)s) "
    "FROM knowledge_chunk AS chunk JOIN retrieval_vector AS vector ON vector.chunk_id = chunk.id",
    f"CREATE INDEX ON {_TABLE} USING gin (tsv)",
    "SET LOCAL maintenance_work_mem = '4GB'",
    "SET LOCAL max_parallel_maintenance_workers = 1",
    f"CREATE INDEX ON {_TABLE} USING hnsw (embedding vector_cosine_ops)",
)
_WORDS = f"""
WITH asked AS (SELECT replace(plainto_tsquery('english', %(query)s)::text, ' & ', ' | ')::tsquery AS query)
SELECT id FROM {_TABLE}, asked WHERE tsv @@ asked.query
ORDER BY ts_rank_cd(tsv, asked.query) DESC LIMIT %(k)s
"""
_NEAREST = f"SELECT id FROM {_TABLE} ORDER BY embedding <=> %(vector)s::vector LIMIT %(k)s"


class Tutorial(Way):
    """`ts_rank_cd` and pgvector."""

    title = "ts_rank_cd + pgvector"

    def __init__(self, base: KnowledgeBase) -> None:
        super().__init__(base)
        if _TABLE in connection.introspection.table_names():
            return
        dimension = int(spaces.active_space().dimension)
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in _MAKE:
                cursor.execute(statement % {"dimension": dimension})
        with connection.cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {_TABLE}")

    def words(self, query: str, k: int) -> list[int]:
        """Rank the rows with any of the words by `ts_rank_cd`."""
        return self._ids(_WORDS, {"query": query, "k": k})

    def hybrid(self, query: str, k: int) -> list[int]:
        """Fuse two lists of the usual depth."""
        nearest = self._ids(_NEAREST, {"vector": vectors.literal(vector_of(query)), "k": max(k, DEPTH)})
        return fused(self.words(query, max(k, DEPTH)), nearest, k)

    @staticmethod
    def _ids(statement: str, parameters: dict[str, str | int]) -> list[int]:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return [row_id for (row_id,) in cursor.fetchall()]
