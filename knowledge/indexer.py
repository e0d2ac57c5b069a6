"""The interface of the indexer that the setting `INDEXER` names; this app knows no more of it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from django.conf import settings
from django.utils.module_loading import import_string

from knowledge.models import Document

if TYPE_CHECKING:
    from knowledge.ingestion.claims import Claim


@runtime_checkable
class Indexer(Protocol):
    """Keeps an index of passages."""

    def index_words(self, document_id: int, go_on: Callable[[], None]) -> None:
        """Index the stored chunks of a document by their words; chunks that are indexed already are skipped.

        Call `go_on` now and then; it raises `ClaimLost` if the worker has lost the document.
        """

    def index_meaning(self, claims: "Iterable[Claim | None]") -> None:
        """Index documents by their meaning, which takes longer, once they are found by their words.

        Works on each claim within `ingestion.fail_document_on_error`, calls `ingestion.report_progress`, and ends it
        with `finish_indexing` or `release_claim`. The iterable gives None before it waits for the next claim: documents
        begun are to be finished then. It ends when the worker turns to something else.
        """

    def remove(self, document_ids: list[int]) -> None:
        """Remove documents whose chunks are about to be deleted; called inside the transaction that deletes them."""

    def move(self, document_ids: list[int], knowledge_base_id: int) -> None:
        """Have documents found in another base, without reading or embedding them anew.

        Called inside the transaction that moves them, which holds their rows, once they are that base's.
        """

    def relabelled(self, knowledge_base_ids: list[int]) -> None:
        """Note that tags or fields of documents changed, so that no kept result of a search stands for them."""

    def passages(self, knowledge_base_id: int) -> int:
        """Return how many passages of a base are found by their words, without counting them."""


def indexer() -> Indexer:
    """Return the site's indexer; raises `ImportError` if there is none."""
    made: Indexer = import_string(settings.INDEXER)()
    return made


def document_deleted(sender: Any, instance: Document, origin: Any, **kwargs: Any) -> None:
    """Remove a document that is deleted in another way, such as by the admin; a deleted base takes its counts along."""
    by_itself = getattr(origin, "model", type(origin)) is Document
    if by_itself:
        indexer().remove([instance.pk])
