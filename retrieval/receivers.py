"""Hears what `knowledge` announces, and indexes.

This is loaded with the apps; what does the work, with NumPy and the word lists, is loaded when there is some.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from django.db.models.signals import pre_delete
from django.dispatch import receiver

from knowledge.models import Document
from knowledge.signals import document_chunked, documents_unindexed, indexing_due

if TYPE_CHECKING:
    from knowledge.ingestion.claims import Claim


@receiver(document_chunked, dispatch_uid="retrieval")
def index_words(sender: Any, document_id: int, go_on: Callable[[], None], **kwargs: Any) -> None:
    """Make a document findable by its words; what is indexed already is passed over."""
    from retrieval.engine import indexing

    indexing.index_words(document_id, go_on)


@receiver(indexing_due, dispatch_uid="retrieval")
def embed_claimed(sender: Any, claims: "Iterable[Claim | None]", **kwargs: Any) -> None:
    """Make documents findable by their meaning.

    What has a vector is passed over, so that a worker killed in between costs no more than a few windows.
    """
    from retrieval.engine import indexing

    indexing.embed_claimed(claims)


@receiver(documents_unindexed, dispatch_uid="retrieval")
def unindex_documents(sender: Any, document_ids: list[int], **kwargs: Any) -> None:
    """Take documents out of the index."""
    from retrieval.engine.engine import engine

    engine.delete(document_ids)


@receiver(pre_delete, sender=Document, dispatch_uid="retrieval")
def unindex_document(sender: Any, instance: Document, origin: Any, **kwargs: Any) -> None:
    """Take out a document that is deleted by another way, such as the admin; a whole base takes its counts along."""
    by_itself = getattr(origin, "model", type(origin)) is Document
    if by_itself:
        unindex_documents(sender, [instance.pk])
