"""The interface of a way of searching."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.models import KnowledgeBase
from retrieval.engine import spaces
from retrieval.ranking.fusion import Query, Ranking, fuse

# The depth of the fused lists for ways without a setting for it; 60 is the usual constant.
DEPTH = 20
RRF_CONSTANT = 60


class MissingPackage(Exception):
    """A package that only the benchmarks need isn't installed; the message says how to install it."""


class Way(ABC):
    """A way of searching the chunks of a knowledge base; ids are those of the chunks."""

    title: str
    has_words = True
    has_hybrid = True

    def __init__(self, base: KnowledgeBase) -> None:
        """Create whatever is needed besides the site's own tables, unless it exists. May take long."""
        self.base = base

    def words(self, query: str, k: int) -> list[int]:
        """Return the k best chunks by words alone, best first."""
        raise NotImplementedError

    @abstractmethod
    def hybrid(self, query: str, k: int) -> list[int]:
        """Return the k best chunks by words and meaning, best first; the query's vector is computed, not cached."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Close its own connections."""


def vector_of(query: str) -> NDArray[np.float32]:
    """Return a query's vector, shape (dimension,), bypassing all caches."""
    return spaces.embedder_of(spaces.active_space()).embed_query(query)


def fused(words: Sequence[int], nearest: Sequence[int], k: int) -> list[int]:
    """Return the k best of two rankings by plain reciprocal rank fusion."""
    query = Query("")
    rankings = [
        Ranking("bm25", query, 1.0, [(chunk_id, 0.0) for chunk_id in words], 0.0),
        Ranking("vector", query, 1.0, [(chunk_id, 0.0) for chunk_id in nearest], 0.0),
    ]
    return [chunk.chunk_id for chunk in fuse(rankings, k, RRF_CONSTANT)]
