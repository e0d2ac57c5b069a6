"""Hears what `knowledge` announces, and indexes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from numpy.typing import NDArray

from knowledge.models import Chunk, Document
from knowledge.signals import document_chunked, documents_unindexed
from retrieval import spaces, vectors
from retrieval.engine import engine
from retrieval.index import IndexRow
from retrieval.models import EmbeddingSpace, IndexEntry

# Chunks embedded between two reports of progress: many enough to sort them by length, few enough to hold.
WINDOW = 256


@receiver(document_chunked, dispatch_uid="retrieval")
def index_document(sender: Any, document_id: int, progress: Callable[[float], None], **kwargs: Any) -> None:
    """Make a document searchable: by its words at once, then by its meaning, with progress in percent.

    What is indexed already is passed over, so that a worker killed in between costs at most a window of vectors.
    Raises `LLMError` when the embedding model fails; the words stay searchable.
    """
    engine.index(_rows(document_id))
    progress(0)
    embed_document(document_id, progress)


@receiver(documents_unindexed, dispatch_uid="retrieval")
def unindex_documents(sender: Any, document_ids: list[int], **kwargs: Any) -> None:
    """Take documents out of the index."""
    engine.delete(document_ids)


@receiver(pre_delete, sender=Document, dispatch_uid="retrieval")
def unindex_document(sender: Any, instance: Document, origin: Any, **kwargs: Any) -> None:
    """Take out a document that is deleted by another way, such as the admin; a whole base takes its counts along."""
    by_itself = getattr(origin, "model", type(origin)) is Document
    if by_itself:
        engine.delete([instance.pk])


def embed_document(document_id: int, progress: Callable[[float], None]) -> None:
    """Compute and store the vectors that a document's chunks lack, and report progress in percent after each window.

    While one window is stored the next one is computed already; no more than two are held.
    """
    space = spaces.active_space()
    chunk_ids = vectors.missing(space, document_id)
    total = Chunk.objects.filter(document_id=document_id).count()
    done = total - len(chunk_ids)
    for window, computed in _computed(space, chunk_ids):
        vectors.store(space, window, computed)
        done += len(window)
        progress(100 * done / total)


def _computed(space: EmbeddingSpace, chunk_ids: Sequence[int]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Yield windows of chunk ids with their vectors, one window ahead of the caller."""
    embedder = spaces.embedder_of(space)
    ahead: tuple[list[int], Future[NDArray[np.float32]]] | None = None
    with ThreadPoolExecutor(1, thread_name_prefix="embedding") as executor:
        for start in range(0, len(chunk_ids), WINDOW):
            window, texts = _texts(chunk_ids[start : start + WINDOW])
            current = (window, executor.submit(embedder.embed_documents, texts))
            if ahead is not None:
                yield ahead[0], ahead[1].result()
            ahead = current
        if ahead is not None:
            yield ahead[0], ahead[1].result()


def _texts(chunk_ids: Sequence[int]) -> tuple[list[int], list[str]]:
    """Return the ids that still exist and their texts."""
    chunks = list(Chunk.objects.filter(pk__in=chunk_ids).order_by("pk"))
    return [chunk.pk for chunk in chunks], [chunk.searchable_text for chunk in chunks]


def _rows(document_id: int) -> Iterator[IndexRow]:
    """Yield the document's chunks that are not indexed yet."""
    indexed = IndexEntry.objects.filter(chunk_id=OuterRef("pk"))
    chunks = Chunk.objects.filter(~Exists(indexed), document_id=document_id).order_by("pk")
    for chunk in chunks.iterator(chunk_size=500):
        yield IndexRow(chunk.pk, document_id, chunk.searchable_text)
