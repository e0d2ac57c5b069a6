"""Embedding spaces: which one is searched, its index, and the vectors of queries."""

import threading
from collections import OrderedDict
from contextlib import suppress

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray

from ragsite.llm.embedding import Embedder, get_embedder
from ragsite.llm.errors import LLMError
from retrieval.analysis import terms
from retrieval.models import EmbeddingSpace

# Queries whose vectors are kept: 4,096 of 384 numbers are 6 MB.
CACHED_QUERIES = 4_096

_cache: OrderedDict[tuple[int, str], NDArray[np.float32]] = OrderedDict()
_cache_lock = threading.Lock()


def active_space() -> EmbeddingSpace:
    """Return the space that is searched and filled; the first time, make the one of the settings' model.

    Raises `LLMError` when that model can't be found.
    """
    return EmbeddingSpace.objects.filter(active=True).first() or _first_space()


def _first_space() -> EmbeddingSpace:
    embedder = get_embedder()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE retrieval_embeddingspace IN SHARE ROW EXCLUSIVE MODE")
        existing = EmbeddingSpace.objects.filter(active=True).first()
        return existing or create_space(embedder, active=True)


def create_space(embedder: Embedder, *, active: bool) -> EmbeddingSpace:
    """Make the space of a model, with its index."""
    space = EmbeddingSpace.objects.create(
        provider=embedder.provider,
        model=embedder.model,
        dimension=embedder.dimension,
        languages=embedder.languages,
        active=active,
    )
    with connection.cursor() as cursor:
        # Within a transaction that has written rows, their pending checks would be in the way.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute(
            f"CREATE INDEX {space.index_name} ON retrieval_indexentry "
            f"USING hnsw ((embedding::halfvec({int(space.dimension)})) halfvec_cosine_ops) "
            f"WITH (m = {int(settings.HNSW_M)}, ef_construction = {int(settings.HNSW_EF_CONSTRUCTION)}) "
            f"WHERE space_id = {int(space.pk)}"
        )
    return space


def embedder_of(space: EmbeddingSpace) -> Embedder:
    """Return the model that computes a space's vectors."""
    return get_embedder(space.provider, space.model)


def embed_query(space: EmbeddingSpace, text: str) -> NDArray[np.float32]:
    """Return a query's vector, shape (dimension,), from the cache where it is there. Blocks; uses no database."""
    key = (space.pk, text)
    with _cache_lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    vector = embedder_of(space).embed_query(text)
    with _cache_lock:
        _cache[key] = vector
        while len(_cache) > CACHED_QUERIES:
            _cache.popitem(last=False)
    return vector


def warm_up() -> None:
    """Load the model and the word lists, so that the first question does not wait for them. Uses no database."""
    with suppress(LLMError):  # a model that can't be loaded is told of by the search that needs it
        get_embedder().embed_query("warm up")
    terms("预热 warm up")
