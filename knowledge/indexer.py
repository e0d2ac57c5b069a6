"""The interface of the indexer named by the setting `INDEXER`, which is all that this app knows about it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from django.conf import settings
from django.utils.module_loading import import_string

from knowledge.models import Document

if TYPE_CHECKING:
    from knowledge.ingestion.claims import Claim


@runtime_checkable
class Indexer(Protocol):
    """An index of passages."""

    def index_words(self, document_id: int, go_on: Callable[[], None]) -> None:
        """Index the stored chunks of a document by their words, skipping those that are indexed already.

        Call `go_on` from time to time; it raises `ClaimLost` if the worker has lost the document.
        """

    def index_meaning(self, claims: "Iterable[Claim | None]") -> None:
        """Index documents by their meaning, which takes longer, once they are searchable by their words.

        Process each claim within `ingestion.fail_document_on_error`, call `ingestion.report_progress`, and end the
        claim with `finish_indexing` or `release_claim`. The iterable yields None before it waits for the next claim,
        so that documents in progress can be finished. It ends when the worker turns to other work.
        """

    def remove(self, document_ids: list[int]) -> None:
        """Remove documents whose chunks are about to be deleted; called inside the transaction that deletes them."""

    def move(self, document_ids: list[int], knowledge_base_id: int) -> None:
        """Move documents to another base in the index, without reading or embedding them again.

        Called inside the transaction that moves them, which locks their rows, after they were moved.
        """

    def relabelled(self, knowledge_base_ids: list[int]) -> None:
        """Note that tags or fields of documents changed, so that cached search results are discarded."""

    def passages(self, knowledge_base_id: int) -> int:
        """Return the number of passages of a base that are searchable by their words, without counting them."""


def indexer() -> Indexer:
    """Return the site's indexer; raises `ImportError` if there is none."""
    made: Indexer = import_string(settings.INDEXER)()
    return made


def document_deleted(sender: Any, instance: Document, origin: Any, **kwargs: Any) -> None:
    """Remove a document from the index if it was deleted by itself, not with its base, which removes its own counts."""
    by_itself = getattr(origin, "model", type(origin)) is Document
    if by_itself:
        indexer().remove([instance.pk])
