"""Hears what `knowledge` announces, and indexes.

This is loaded with the apps; what does the work, with NumPy and the word lists, is loaded when there is some.
"""

from collections.abc import Callable
from typing import Any

from django.db.models.signals import pre_delete
from django.dispatch import receiver

from knowledge.models import Document
from knowledge.signals import document_chunked, documents_unindexed


@receiver(document_chunked, dispatch_uid="retrieval")
def index_document(sender: Any, document_id: int, progress: Callable[[float], None], **kwargs: Any) -> None:
    """Make a document searchable: by its words at once, then by its meaning, with progress in percent.

    What is indexed already is passed over, so that a worker killed in between costs at most a window of vectors.
    Raises `LLMError` when the embedding model fails; the words stay searchable.
    """
    from retrieval import indexing

    indexing.index_words(document_id)
    progress(0)
    indexing.embed_document(document_id, progress)


@receiver(documents_unindexed, dispatch_uid="retrieval")
def unindex_documents(sender: Any, document_ids: list[int], **kwargs: Any) -> None:
    """Take documents out of the index."""
    from retrieval.engine import engine

    engine.delete(document_ids)


@receiver(pre_delete, sender=Document, dispatch_uid="retrieval")
def unindex_document(sender: Any, instance: Document, origin: Any, **kwargs: Any) -> None:
    """Take out a document that is deleted by another way, such as the admin; a whole base takes its counts along."""
    by_itself = getattr(origin, "model", type(origin)) is Document
    if by_itself:
        unindex_documents(sender, [instance.pk])
