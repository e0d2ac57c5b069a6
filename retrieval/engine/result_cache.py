"""Identical searches run once: results are cached for a while and shared by simultaneous requests.

A result is cached with the state of the index of its knowledge bases. The state is read before each search, and a
result is returned only while the state is unchanged, whichever process has written meanwhile. The caller checks access
to the bases each time; their ids are part of the key.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import connection
from django.utils.translation import get_language

from ragsite.db import context_of_its_own
from ragsite.runtime import caches
from retrieval.types import SearchRequest, SearchResult

# Each write to the index updates the counts of its knowledge base in the same transaction, so the ids of the last
# transactions that wrote these rows (`xmin`) identify the state of the index. Freezing a row keeps the column's value.
_STATE = """
SELECT 'size', knowledge_base_id, 0, xmin::text FROM retrieval_corpussize WHERE knowledge_base_id = ANY(%(bases)s)
UNION ALL
SELECT 'vectors', count.knowledge_base_id, count.space_id, count.xmin::text
FROM retrieval_vectorcount AS count JOIN retrieval_embeddingspace AS space ON space.id = count.space_id AND space.active
WHERE count.knowledge_base_id = ANY(%(bases)s)
UNION ALL
SELECT 'space', 0, id, xmin::text FROM retrieval_embeddingspace WHERE active
ORDER BY 1, 2, 3
"""

State = tuple[tuple[str, int, int, str], ...]
Work = Callable[[SearchRequest], Awaitable[SearchResult]]
# The function is part of the key, since some run only some steps of a search.
Key = tuple[Work, SearchRequest, str | None, State]
# This many ids with scores take as much memory as one hit with its text.
_RANKED_PER_HIT = 10


def index_state(knowledge_base_ids: Sequence[int]) -> State:
    """Return the state of the bases' index, which changes with each write. Queries the database."""
    with connection.cursor() as cursor:
        cursor.execute(_STATE, {"bases": list(knowledge_base_ids)})
        return tuple(cursor.fetchall())


@dataclass(slots=True)
class _Kept:
    result: SearchResult
    until: float


class ResultCache:
    """A cache of results, least recently used first out, bounded by their total hits and by age. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._hits = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> SearchResult | None:
        """Return the cached result of a key, or None."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            if kept.until < time.monotonic():
                self._drop(key)
                return None
            self._kept.move_to_end(key)
            return kept.result

    def put(self, key: Key, result: SearchResult) -> None:
        """Cache a result for `SEARCH_CACHE_SECONDS`; beyond `SEARCH_CACHE_HITS`, drop the least recently used ones."""
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = _Kept(result, time.monotonic() + settings.SEARCH_CACHE_SECONDS)
            self._hits += _weight(result)
            while self._kept and self._hits > settings.SEARCH_CACHE_HITS:
                self._drop(next(iter(self._kept)))

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._kept.clear()
            self._hits = 0

    def __len__(self) -> int:
        return len(self._kept)

    def _drop(self, key: Key) -> None:
        self._hits -= _weight(self._kept.pop(key).result)


def _weight(result: SearchResult) -> int:
    """Return how many hits a result counts as; one without hits takes some memory too."""
    return 1 + len(result.hits) + sum(len(ranking.hits) for ranking in result.rankings) // _RANKED_PER_HIT


results = ResultCache()
caches.register(results.clear)
# Running searches, for identical requests; a task belongs to one event loop.
_under_way: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Key, asyncio.Task[SearchResult]]] = WeakKeyDictionary()


async def answered_once(request: SearchRequest, state: State, work: Work) -> SearchResult:
    """Return the result of `work` for a request: from the cache, from an identical running search, or by running it.

    A result that is incomplete because a part failed is returned, but not cached. A caller that stops waiting doesn't
    cancel the search for the others.
    """
    key = (work, request, get_language(), state)  # notes are in the reader's language
    kept = results.get(key)
    if kept is not None:
        return replace(kept, cached=True)
    under_way = _under_way.setdefault(asyncio.get_running_loop(), {})
    task = under_way.get(key)
    if task is None:
        task = under_way[key] = asyncio.create_task(_work(key), context=context_of_its_own())

        def finish(done: asyncio.Task[SearchResult]) -> None:
            under_way.pop(key, None)
            if not done.cancelled():
                done.exception()  # raised to the waiting callers; marked as retrieved in case none waits any more

        task.add_done_callback(finish)
    return await asyncio.shield(task)


async def _work(key: Key) -> SearchResult:
    work, request, _language, _state = key
    result = await work(request)
    if not result.incomplete:
        results.put(key, result)
    return result
