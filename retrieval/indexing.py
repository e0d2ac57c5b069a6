"""Making a document's chunks searchable: by their words, then by their meaning."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from knowledge.models import Chunk
from retrieval import spaces, vectors
from retrieval.engine import engine
from retrieval.index import IndexRow
from retrieval.models import EmbeddingSpace, IndexEntry

# Chunks embedded between two reports of progress: a cancel waits for no more than two windows. Chunks of one document
# are of much the same length, so that larger windows would save little padding.
WINDOW = 32


def index_words(document_id: int) -> None:
    """Index those chunks of a document by their words that are not indexed yet."""
    engine.index(_rows(document_id))


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
