"""The site's indexer; see `knowledge.indexer`.

It is created at each start, so the modules that need NumPy and the word lists are imported only when used.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowledge.ingestion.claims import Claim


class Indexer:
    """Indexes words and vectors in PostgreSQL."""

    def index_words(self, document_id: int, go_on: Callable[[], None]) -> None:
        """Index a document's words."""
        from retrieval.engine import indexing

        indexing.index_words(document_id, go_on)

    def index_meaning(self, claims: "Iterable[Claim | None]") -> None:
        """Compute and store the vectors of documents.

        Chunks that have a vector are skipped, so that a killed worker loses no more than a few windows.
        """
        from retrieval.engine import indexing

        indexing.embed_claimed(claims)

    def remove(self, document_ids: list[int]) -> None:
        """Remove documents from the index."""
        from retrieval.engine import index

        index.delete(document_ids)

    def move(self, document_ids: list[int], knowledge_base_id: int) -> None:
        """Move documents' entries and vectors to another base."""
        from retrieval.engine import index

        index.move(document_ids, knowledge_base_id)

    def relabelled(self, knowledge_base_ids: list[int]) -> None:
        """Change the state of the bases' index, so that cached results are no longer used."""
        from retrieval.engine import index

        index.touch(knowledge_base_ids)

    def passages(self, knowledge_base_id: int) -> int:
        """Return the number of indexed passages: the N of BM25."""
        from retrieval.models import CorpusSize

        return CorpusSize.objects.filter(pk=knowledge_base_id).values_list("chunks", flat=True).first() or 0
