"""LlamaIndex's `PGVectorStore(hybrid_search=True)`, as its documentation sets it up."""

from importlib import import_module
from typing import Any
from urllib.parse import quote

from django.db import connection, transaction
from django.utils.translation import gettext as _

from knowledge.models import KnowledgeBase
from retrieval.engine import spaces
from tests.benchmarks.retrieval.baselines.base import DEPTH, MissingPackage, Way, fused, vector_of

_NAME = "bench_llamaindex"
_TABLE = f"data_{_NAME}"
_HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "vector_cosine_ops"}
# The rows that `add()` would write, without sending each text back and forth.
_FILL = f"""
INSERT INTO {_TABLE} (text, metadata_, node_id, embedding)
SELECT chunk.content, '{{{{}}}}', chunk.id::text, vector.embedding::vector({{dimension}})
FROM knowledge_chunk AS chunk JOIN retrieval_vector AS vector ON vector.chunk_id = chunk.id
"""
_INDEXES = f"""
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = '{_TABLE}'::regclass AND NOT indisunique
"""


class LlamaIndex(Way):
    """The two queries of its store, fused like in its `QueryFusionRetriever`."""

    title = "LlamaIndex PGVectorStore"

    def __init__(self, base: KnowledgeBase) -> None:
        super().__init__(base)
        self._types = _import("llama_index.core.vector_stores.types")
        dimension = int(spaces.active_space().dimension)
        if not _is_filled():
            self._make(dimension)
        self._store = _store(dimension, perform_setup=False)

    def words(self, query: str, k: int) -> list[int]:
        """Ask for `ts_rank` of any of the words."""
        return self._ask(mode="SPARSE", query_str=query, sparse_top_k=k, similarity_top_k=k)

    def hybrid(self, query: str, k: int) -> list[int]:
        """Fuse the store's two lists."""
        depth = max(k, DEPTH)
        nearest = self._ask(mode="DEFAULT", query_embedding=vector_of(query).tolist(), similarity_top_k=depth)
        return fused(self.words(query, depth), nearest, k)

    def close(self) -> None:
        """Close the store's own connections."""
        self._store.client.dispose()

    def _ask(self, mode: str, **parts: Any) -> list[int]:
        query = self._types.VectorStoreQuery(mode=self._types.VectorStoreQueryMode[mode], **parts)
        return [int(node_id) for node_id in self._store.query(query).ids or []]

    @staticmethod
    def _make(dimension: int) -> None:
        """Have the store create its table; indexes are built after all rows are there, which is faster."""
        store = _store(dimension, perform_setup=True)
        store._initialize()
        store.client.dispose()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_INDEXES)
            indexes = dict(cursor.fetchall())
            cursor.execute(f"DROP INDEX {', '.join(indexes)}")
            cursor.execute(_FILL.format(dimension=dimension))
            cursor.execute("SET LOCAL maintenance_work_mem = '4GB'")
            cursor.execute("SET LOCAL max_parallel_maintenance_workers = 1")
            for definition in indexes.values():
                cursor.execute(definition)
        with connection.cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {_TABLE}")


def _is_filled() -> bool:
    if _TABLE not in connection.introspection.table_names():
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT FROM {_TABLE})")
        return bool(cursor.fetchone()[0])


def _store(dimension: int, *, perform_setup: bool) -> Any:
    return _import("llama_index.vector_stores.postgres").PGVectorStore(
        connection_string=_url("psycopg2"),
        async_connection_string=_url("asyncpg"),
        table_name=_NAME,
        schema_name="public",
        embed_dim=dimension,
        hybrid_search=True,
        text_search_config="english",
        hnsw_kwargs=dict(_HNSW),
        perform_setup=perform_setup,
    )


def _url(driver: str) -> str:
    """Return the scratch database's URL for SQLAlchemy."""
    where = connection.get_connection_params()
    secret = f":{quote(str(where['password']))}" if where.get("password") else ""
    host, port = quote(str(where.get("host", "")), safe=""), where.get("port", "5432")
    return (
        f"postgresql+{driver}://{quote(str(where.get('user', '')))}{secret}@/{where['dbname']}?host={host}&port={port}"
    )


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackage(
            _("This way needs a package that only benchmarks use: pip install %(package)s")
            % {"package": "llama-index-vector-stores-postgres"}
        ) from error
