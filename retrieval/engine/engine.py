"""What a search engine has to offer, and the first one: PostgreSQL."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ParamSpec, Protocol

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum

from ragsite.db import in_database
from retrieval.engine import fulltext, index, spaces, vectors
from retrieval.engine.index import IndexRow
from retrieval.models import CorpusSize, VectorCount

P = ParamSpec("P")
Hits = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class IndexStats:
    """How many chunks are found by their words, and how many of them by their meaning."""

    chunks: int
    vectors: int


class Engine(Protocol):
    """An index of chunks. Writing blocks and happens in workers; searching is asynchronous."""

    def index(self, rows: Iterable[IndexRow]) -> int:
        """Index chunks by their words and return how many were new; doing it again changes nothing."""

    def delete(self, document_ids: Sequence[int]) -> int:
        """Take documents out and return how many chunks went."""

    def stats(self, knowledge_base_ids: Sequence[int]) -> IndexStats:
        """Return the size of the knowledge bases' index."""

    async def search_fulltext(
        self, text: str, knowledge_base_ids: Sequence[int], k: int, document_ids: Sequence[int] = ()
    ) -> Hits:
        """Return the k best (chunk id, BM25 score), best first; of some documents alone where these are named."""

    async def search_vectors(
        self, text: str, knowledge_base_ids: Sequence[int], k: int, document_ids: Sequence[int] = ()
    ) -> Hits:
        """Return the k nearest (chunk id, cosine similarity), nearest first; likewise."""


class PostgresEngine:
    """GIN and `sparsevec` for words, `halfvec` and HNSW for meaning, in the site's own database."""

    def index(self, rows: Iterable[IndexRow]) -> int:
        """Index chunks by their words and return how many were new."""
        return index.index(rows)

    def delete(self, document_ids: Sequence[int]) -> int:
        """Take documents out and return how many chunks went."""
        return index.delete(document_ids)

    def stats(self, knowledge_base_ids: Sequence[int]) -> IndexStats:
        """Return the size of the knowledge bases' index."""
        chunks = CorpusSize.objects.filter(pk__in=knowledge_base_ids).aggregate(all=Sum("chunks"))["all"]
        counts = VectorCount.objects.filter(knowledge_base_id__in=knowledge_base_ids, space__active=True)
        return IndexStats(chunks or 0, counts.aggregate(all=Sum("vectors"))["all"] or 0)

    async def search_fulltext(
        self, text: str, knowledge_base_ids: Sequence[int], k: int, document_ids: Sequence[int] = ()
    ) -> Hits:
        """Return the k best (chunk id, BM25 score), best first."""
        return await in_database(_in_time, fulltext.search, text, knowledge_base_ids, k, document_ids)

    async def search_vectors(
        self, text: str, knowledge_base_ids: Sequence[int], k: int, document_ids: Sequence[int] = ()
    ) -> Hits:
        """Return the k nearest (chunk id, cosine similarity); no connection is held while the model works.

        When the space goes meanwhile, another one has taken its place, and is asked.
        """
        while True:
            space = spaces.seen()
            if space is None:
                space = await in_database(spaces.active_space)
            vector = await spaces.with_model(spaces.embed_query, space, text)
            try:
                return await in_database(_in_time, vectors.search, space, vector, knowledge_base_ids, k, document_ids)
            except vectors.SpaceChanged:
                if spaces.is_on_trial():
                    raise
            spaces.forget_active_space()


def _in_time(search: Callable[P, Hits], *args: P.args, **kwargs: P.kwargs) -> Hits:
    """Let the server give up when nobody waits any more, and compile nothing: that takes longer than a search."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {int(settings.SEARCH_TIMEOUT * 1000)}; SET LOCAL jit = off")
        return search(*args, **kwargs)


engine: Engine = PostgresEngine()
