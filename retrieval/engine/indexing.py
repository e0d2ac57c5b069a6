"""Makes a document's chunks searchable: first by their words, then by their meaning."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from knowledge.ingestion.claims import Claim, ClaimLost, waiting_to_be_indexed
from knowledge.ingestion.ingestion import fail_document_on_error, finish_indexing, release_claim, report_progress
from knowledge.models import Chunk
from retrieval.engine import index, spaces, vectors
from retrieval.engine.index import IndexRow
from retrieval.models import EmbeddingSpace, IndexEntry

# Chunks embedded between two reports of progress. Chunks of one document have similar lengths, so that larger windows
# would save little padding.
WINDOW = 32
# A document's turn ends after this many chunks; or after this many seconds, if other documents wait to be indexed.
TURN, TURN_SECONDS = 64 * WINDOW, 4.0


def index_words(document_id: int, go_on: Callable[[], None] = lambda: None) -> None:
    """Index a document's chunks by their words, unless they are indexed already; raises what `go_on` raises."""
    indexed = IndexEntry.objects.filter(chunk_id=OuterRef("pk"))
    chunks = Chunk.objects.filter(~Exists(indexed), document_id=document_id).order_by("pk")

    def rows() -> Iterator[IndexRow]:
        for chunk in chunks.iterator(chunk_size=500):
            go_on()
            yield IndexRow.of(chunk)

    index.index(rows())


def embedded(
    space: EmbeddingSpace, chunk_ids: Sequence[int], size: int = WINDOW
) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Yield chunks in windows of `size` with their vectors, shape (chunks, dimension), computed ahead on all cores.

    Chunks deleted meanwhile are skipped. Raises `LLMError` if the model fails.
    """
    embedder = spaces.embedder_of(space)
    threads = _threads()
    ahead: deque[tuple[list[int], Future[NDArray[np.float32]]]] = deque()
    executor = ThreadPoolExecutor(threads, thread_name_prefix="embedding")
    try:
        for start in range(0, len(chunk_ids), size):
            window, texts = _texts(chunk_ids[start : start + size])
            ahead.append((window, executor.submit(embedder.embed_documents, texts)))
            if len(ahead) > 2 * threads:
                first, computed = ahead.popleft()
                yield first, computed.result()
        for first, computed in ahead:
            yield first, computed.result()
    finally:  # what waits need not be computed when this was interrupted
        executor.shutdown(cancel_futures=True)


def embed_claimed(claims: Iterable[Claim | None]) -> None:
    """Compute and store the missing vectors of claimed documents, and end their claims; see `knowledge.indexer`.

    Windows of chunks are computed ahead on all cores, also those of the next documents.
    """
    executor = ThreadPoolExecutor(_threads(), thread_name_prefix="embedding")
    try:
        pipeline = _Pipeline(executor)
        for held in claims:
            if held is None:
                pipeline.settle()
            else:
                pipeline.add(held)
        pipeline.settle()
    finally:
        executor.shutdown(cancel_futures=True)


@dataclass(slots=True)
class _Window:
    """Chunks of one document that are embedded together."""

    held: Claim
    space: EmbeddingSpace
    chunk_ids: list[int]
    vectors: Future[NDArray[np.float32]]
    left: int  # chunks of the document that lack vectors once these are stored
    total: int  # chunks of the document
    last: bool  # of the document's turn

    @property
    def percent(self) -> float:
        """The percentage of the document's chunks that have vectors once these are stored."""
        return 100 * (self.total - self.left) / self.total


class _Pipeline:
    """The windows being computed, oldest first. A document's failure affects only its own windows."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self._executor = executor
        self._windows: deque[_Window] = deque()

    def add(self, held: Claim) -> None:
        """Start computing a document's windows; returns when most of them are submitted."""
        with fail_document_on_error(held):
            space = spaces.active_space()
            embedder = spaces.embedder_of(space)
            chunk_ids = vectors.missing(space, held.document_id)
            total = Chunk.objects.filter(document_id=held.document_id).count()
            if not chunk_ids:
                finish_indexing(held)
            turn = chunk_ids[:TURN]
            until = time.monotonic() + TURN_SECONDS
            for start in range(0, len(turn), WINDOW):
                end = min(start + WINDOW, len(turn))
                window, texts = _texts(turn[start:end])
                try:
                    computed = self._executor.submit(embedder.embed_documents, texts)
                except RuntimeError:  # this process is ending: the document becomes stale, and another takes it over
                    raise ClaimLost from None
                left = len(chunk_ids) - end
                last = end == len(turn) or (time.monotonic() > until and waiting_to_be_indexed().exists())
                self._windows.append(_Window(held, space, window, computed, left, total, last))
                self.settle(2 * _threads())
                if last or held.lost.is_set():
                    break

    def settle(self, most: int = 0) -> None:
        """Store the oldest windows until no more than `most` are being computed."""
        while len(self._windows) > most:
            window = self._windows.popleft()
            held = window.held
            if held.lost.is_set():
                window.vectors.cancel()
                continue
            with fail_document_on_error(held):
                try:
                    vectors.insert_into_active(window.space, window.chunk_ids, window.vectors.result())
                except vectors.SpaceChanged:
                    release_claim(held, 0)  # its next turn uses the new space
                    continue
                if not window.last:
                    report_progress(held, window.percent)
                elif window.left:
                    release_claim(held, window.percent)
                else:
                    finish_indexing(held)


def _threads() -> int:
    return settings.EMBEDDING_THREADS or os.cpu_count() or 1


def _texts(chunk_ids: Sequence[int]) -> tuple[list[int], list[str]]:
    """Return the ids that still exist and their texts."""
    chunks = list(Chunk.objects.filter(pk__in=chunk_ids).order_by("pk"))
    return [chunk.pk for chunk in chunks], [chunk.searchable_text for chunk in chunks]
