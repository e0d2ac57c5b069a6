"""Embedding spaces: the active one, the models that compute their vectors, and the vectors of queries."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import replace
from functools import partial
from typing import ParamSpec, TypeVar

import numpy as np
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Sum
from django.utils.module_loading import import_string
from numpy.typing import NDArray

from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.language.simplified import simplified
from ragsite.llm import secrets
from ragsite.llm.embedding.embedding import Embedder, EmbeddingModel, configured, get_embedder
from ragsite.llm.errors import LLMError
from ragsite.runtime import caches
from retrieval.engine import partitions
from retrieval.models import CorpusSize, EmbeddingSpace

P = ParamSpec("P")
T = TypeVar("T")

# Queries whose vectors are cached: 4,096 vectors of 384 numbers take 6 MB.
CACHED_QUERIES = 4_096
# Seconds for which searches cache the active space. A space replaced meanwhile still answers, or raises `SpaceChanged`.
ACTIVE_SPACE_SECONDS = 1.0

# Threads that wait for embedding models, and do nothing else, so that an endpoint that hangs blocks nothing else.
_asking = ThreadPoolExecutor(8, thread_name_prefix="embedding-model")

_seen: tuple[float, EmbeddingSpace] | None = None
# The space to search instead of the active one, while a model is on trial.
_override: ContextVar[EmbeddingSpace | None] = ContextVar("override", default=None)
_cache: OrderedDict[tuple[int, str], NDArray[np.float32]] = OrderedDict()
_computed: dict[tuple[int, str], Future[NDArray[np.float32]]] = {}
_cache_lock = threading.Lock()


def active_space() -> EmbeddingSpace:
    """Return the space that is searched and filled; the first time, create it for the model in the settings.

    Raises `LLMError` if that model can't be found, or the key of its profile can't be read.
    """
    global _seen
    space = EmbeddingSpace.objects.filter(active=True).first()
    if space is None:
        model = configured()
        dimension = get_embedder(model).dimension  # may ask an endpoint, which may be slow
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE retrieval_embeddingspace IN SHARE ROW EXCLUSIVE MODE")
            space = EmbeddingSpace.objects.filter(active=True).first()
            if space is None:
                space = find_or_create(model, dimension)
                partitions.build_index(space)
                EmbeddingSpace.objects.filter(pk=space.pk).update(active=True)
                space.active = True
    space.profile = profile_of(space)
    if not space.filled:
        space.percent = percent_filled(space)
    _seen = (time.monotonic(), space)
    return space


def percent_filled(space: EmbeddingSpace) -> int:
    """Return the percentage of indexed passages that have a vector in a space being filled, from the stored counts."""
    vectors = space.counts.aggregate(all=Sum("vectors"))["all"] or 0
    passages = CorpusSize.objects.aggregate(all=Sum("chunks"))["all"] or 0
    return min(99, 100 * vectors // passages) if passages else 99


def profile() -> EmbeddingModel | None:
    """Return the embedding model of the profile in the admin, or None; raises `LLMError` if its key can't be read."""
    ask: Callable[[], EmbeddingModel | None] = import_string(settings.EMBEDDING_PROFILE)
    return ask()


def profile_of(space: EmbeddingSpace) -> EmbeddingModel | None:
    """Return the admin's profile of a space's model, or None if it is for another model."""
    named = profile() if space.provider == EmbeddingSpace.Provider.OPENAI else None
    return named if named is not None and named.model == space.model else None


@contextmanager
def override_space(space: EmbeddingSpace) -> Iterator[None]:
    """Context manager: within it, the caller's searches use `space` instead of the active one."""
    token = _override.set(space)
    try:
        yield
    finally:
        _override.reset(token)


def is_on_trial() -> bool:
    """Whether the caller searches a space other than the active one."""
    return _override.get() is not None


def cached_active_space() -> EmbeddingSpace | None:
    """Return the cached active space, which is good enough for searches; None if the database must be queried."""
    if (override := _override.get()) is not None:
        return override
    if _seen is None or time.monotonic() - _seen[0] > ACTIVE_SPACE_SECONDS:
        return None
    return _seen[1]


async def space_for_search() -> EmbeddingSpace:
    """Return the active space, cached or from the database; raises `LLMError` as `active_space`."""
    space = cached_active_space()
    return space if space is not None else await in_database(active_space)


@caches.register
def forget_active_space() -> None:
    """Clear the cached active space."""
    global _seen
    _seen = None


def find_or_create(model: EmbeddingModel, dimension: int) -> EmbeddingSpace:
    """Return the space of a model, updated with its current address, key and languages; a new one has no index yet."""
    known = get_embedder(model).languages if model.languages is None else list(model.languages)
    with transaction.atomic():
        space, created = EmbeddingSpace.objects.update_or_create(
            provider=model.provider,
            model=model.model,
            dimension=dimension,
            defaults={
                "base_url": model.base_url,
                "own_network": model.own_network,
                "encrypted_key": secrets.encrypt(model.api_key),
                "languages": known,
            },
        )
        if created:
            partitions.create(space)
    return space


def embedder_of(space: EmbeddingSpace) -> Embedder:
    """Return the model that computes a space's vectors.

    If the admin's profile or the settings name the model, address and key come from there, so that a key can be
    changed; otherwise from the space itself, so that it can still be searched. Raises `LLMError`.
    """
    if space.provider == EmbeddingSpace.Provider.LOCAL:
        return get_embedder(EmbeddingModel(space.provider, space.model))
    if space.profile is not None:
        return get_embedder(replace(space.profile, dimension=space.dimension))
    if space.is_configured:
        return get_embedder(replace(configured(), dimension=space.dimension))
    key = secrets.decrypt(bytes(space.encrypted_key))
    model = EmbeddingModel(space.provider, space.model, space.base_url, key, space.dimension)
    return get_embedder(replace(model, own_network=space.own_network))


def embed_query(space: EmbeddingSpace, text: str) -> NDArray[np.float32]:
    """Return a query's vector, shape (dimension,), cached if possible. Blocks; uses no database.

    A vector that is being computed is awaited, not computed twice: a turn needs it in several places at once. Questions
    in traditional Chinese are embedded in simplified characters (docs/decisions/terms.md).
    """
    text = simplified(text)
    key = (space.pk, text)
    with _cache_lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
        awaited = _computed.get(key)
        computed = _computed[key] = awaited or Future()
    if awaited is not None:
        return awaited.result()
    try:
        vector = embedder_of(space).embed_query(text)
    except BaseException as error:
        with _cache_lock:
            del _computed[key]
        computed.set_exception(error)
        raise
    with _cache_lock:
        del _computed[key]
        _cache[key] = vector
        while len(_cache) > CACHED_QUERIES:
            _cache.popitem(last=False)
    computed.set_result(vector)
    return vector


async def with_model(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that calls an embedding model in a thread reserved for these calls, in the caller's context."""
    call = partial(copy_context().run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_asking, call)


def warm_up() -> None:
    """Load the model and the word lists, so that the first question does not wait for them."""
    # Failures are reported by the search that needs the model.
    with suppress(LLMError, DatabaseError):
        space = EmbeddingSpace.objects.filter(active=True).first()
        model = configured() if space is None else EmbeddingModel(space.provider, space.model)
        if model.provider == EmbeddingSpace.Provider.LOCAL:
            get_embedder(model).embed_query("warm up")
    terms("预热 warm up")
