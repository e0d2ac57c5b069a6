"""An indexer that stores nothing, and that tests can customise."""

from collections.abc import Callable, Iterable

from knowledge.ingestion import ingestion
from knowledge.ingestion.claims import Claim


class FakeIndexer:
    """Declares documents ready; tests may replace its methods."""

    def __init__(self) -> None:
        self.removed: list[list[int]] = []

    def index_words(self, document_id: int, go_on: Callable[[], None]) -> None:
        """Index nothing."""

    def index_meaning(self, claims: Iterable[Claim | None]) -> None:
        """Index nothing."""
        for held in claims:
            if held is not None:
                with ingestion.fail_document_on_error(held):
                    ingestion.finish_indexing(held)

    def passages(self, knowledge_base_id: int) -> int:
        """Return 0."""
        return 0

    def remove(self, document_ids: list[int]) -> None:
        """Record the removed documents."""
        self.removed.append(document_ids)
