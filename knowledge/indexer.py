"""What makes documents findable: the indexer that the setting `INDEXER` names. This room knows no more of it."""

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
        """Make a document, whose chunks are stored, findable by its words; what is indexed already is passed over.

        `go_on` is to be called now and then; it raises `ClaimLost` when the document is no longer this worker's.
        """

    def index_meaning(self, claims: "Iterable[Claim | None]") -> None:
        """Do what takes longer, for documents that are found by their words.

        Works on each claim under `ingestion.guarded`, tells `ingestion.report` how far it is, and ends it with `finish`
        or `pause`. The iterable gives None before it waits for the next claim: what is in hand is to be finished then.
        It ends when the worker turns to something else.
        """

    def remove(self, document_ids: list[int]) -> None:
        """Take out documents whose chunks are about to be deleted; called inside the transaction that deletes them."""


def indexer() -> Indexer:
    """Return the site's indexer; raises `ImportError` where there is none."""
    made: Indexer = import_string(settings.INDEXER)()
    return made


def document_deleted(sender: Any, instance: Document, origin: Any, **kwargs: Any) -> None:
    """Take out a document that is deleted by another way, such as the admin; a whole base takes its counts along."""
    by_itself = getattr(origin, "model", type(origin)) is Document
    if by_itself:
        indexer().remove([instance.pk])
