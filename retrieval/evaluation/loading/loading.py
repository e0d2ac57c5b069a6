"""Storing and indexing the passages of a corpus, in batches."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import numpy as np
from django.conf import settings
from django.db import transaction
from numpy.typing import NDArray

from knowledge.access import Actor
from knowledge.ingestion import corpora
from knowledge.ingestion.corpora import Passage
from knowledge.models import KnowledgeBase
from ragsite.llm.embedding.embedding import Embedder
from retrieval.engine import index, spaces, vectors
from retrieval.engine.index import IndexRow

# Passages per transaction: the most that a killed process loses, and the step of the progress bar.
BATCH = 64

Vectors = NDArray[np.float32]


@dataclass(slots=True)
class Loaded:
    """The number of passages added, new or with a changed text, and of those already stored unchanged."""

    added: int = 0
    here: int = 0


def load(
    knowledge_base: KnowledgeBase, user: Actor, passages: Iterable[Passage], progress: Callable[[int], object]
) -> Loaded:
    """Store and index the passages that the base lacks; `progress` is called with the number of passages just done.

    A batch is stored with its words and vectors in one transaction, so that every stored passage is complete and an
    interrupted load can be resumed. While one batch is stored, the next ones are embedded on all cores. Raises
    `LLMError` if the embedding model fails, and `vectors.SpaceChanged` if it was replaced meanwhile.
    """
    loaded = Loaded()
    space = spaces.active_space()
    for batch in _embedded(knowledge_base, spaces.embedder_of(space), passages):
        if batch.missing:
            computed = batch.vectors.result()
            with transaction.atomic():
                chunks = corpora.add(knowledge_base, user, batch.missing)
                index.index(map(IndexRow.of, chunks))
                vectors.insert_into_active(space, [chunk.pk for chunk in chunks], computed)
        loaded.added += len(batch.missing)
        loaded.here += batch.size - len(batch.missing)
        progress(batch.size)
    return loaded


@dataclass(frozen=True, slots=True)
class _Batch:
    """A number of passages of the file, those of them that are missing, and their future vectors."""

    size: int
    missing: Sequence[Passage]
    vectors: "Future[Vectors]"


def _embedded(knowledge_base: KnowledgeBase, embedder: Embedder, passages: Iterable[Passage]) -> Iterator[_Batch]:
    """Yield batches in order; for each thread, one is being embedded and one is waiting."""
    remaining = iter(passages)
    threads = settings.EMBEDDING_THREADS or os.cpu_count() or 1
    ahead: deque[_Batch] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="embedding") as executor:
        try:
            while read := list(islice(remaining, BATCH)):
                missing = corpora.missing(knowledge_base, read)
                texts = [each.searchable_text for each in missing]
                ahead.append(_Batch(len(read), missing, executor.submit(embedder.embed_documents, texts)))
                if len(ahead) > 2 * threads:
                    yield ahead.popleft()
            while ahead:
                yield ahead.popleft()
        finally:  # batches that nobody waits for need not be computed
            executor.shutdown(wait=False, cancel_futures=True)
