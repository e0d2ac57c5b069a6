"""Identical searches are answered once: kept for a while, and shared by those who ask at the same time.

A result is kept with the state of the knowledge bases that it was found in. The state is read before each search, and
a result is only given out while the state is still that one, whichever process has written meanwhile. Who may read
the bases is for the caller to check, each time; their ids are part of the key.
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

from ragsite.runtime import caches
from retrieval.types import SearchRequest, SearchResult

# Each write to the index updates the counts of its knowledge base in the same transaction, so the transactions that
# wrote these rows last (`xmin`) tell the state of the index: none comes twice. A freeze keeps the column's value.
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
# A result is that of one function, which may search only in part.
Key = tuple[Work, SearchRequest, str | None, State]
# So many ids with their scores, of a ranking, take the room of a hit with its text.
_RANKED_PER_HIT = 10


def index_state(knowledge_base_ids: Sequence[int]) -> State:
    """Return what tells the state of the bases' index; it is another one after each write. Asks the database."""
    with connection.cursor() as cursor:
        cursor.execute(_STATE, {"bases": list(knowledge_base_ids)})
        return tuple(cursor.fetchall())


@dataclass(slots=True)
class _Kept:
    result: SearchResult
    until: float


class ResultCache:
    """The results last asked for, bounded by the hits they hold together and by their age. Safe from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._hits = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> SearchResult | None:
        """Return a result that is kept for a key."""
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
        """Keep a result for `SEARCH_CACHE_SECONDS`, and drop those longest not asked for beyond `SEARCH_CACHE_HITS`."""
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = _Kept(result, time.monotonic() + settings.SEARCH_CACHE_SECONDS)
            self._hits += _weight(result)
            while self._kept and self._hits > settings.SEARCH_CACHE_HITS:
                self._drop(next(iter(self._kept)))

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()
            self._hits = 0

    def __len__(self) -> int:
        return len(self._kept)

    def _drop(self, key: Key) -> None:
        self._hits -= _weight(self._kept.pop(key).result)


def _weight(result: SearchResult) -> int:
    """Return what a result counts; one without hits takes some room too."""
    return 1 + len(result.hits) + sum(len(ranking.hits) for ranking in result.rankings) // _RANKED_PER_HIT


results = ResultCache()
caches.register(results.clear)
# Searches under way, for others who ask the same; a task belongs to one event loop.
_under_way: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Key, asyncio.Task[SearchResult]]] = WeakKeyDictionary()


async def answered_once(request: SearchRequest, state: State, work: Work) -> SearchResult:
    """Return what `work` makes of a request: from the cache, from one that is under way, or by doing it.

    What failed in part is given to those who wait for it, but not kept. One caller that stops waiting stops no other.
    """
    key = (work, request, get_language(), state)  # notes are in the reader's language
    kept = results.get(key)
    if kept is not None:
        return replace(kept, cached=True)
    under_way = _under_way.setdefault(asyncio.get_running_loop(), {})
    task = under_way.get(key)
    if task is None:
        task = under_way[key] = asyncio.ensure_future(_work(key))

        def finish(done: asyncio.Task[SearchResult]) -> None:
            under_way.pop(key, None)
            if not done.cancelled():
                done.exception()  # raised to those who wait; when nobody does any more, asyncio need not complain

        task.add_done_callback(finish)
    return await asyncio.shield(task)


async def _work(key: Key) -> SearchResult:
    work, request, _language, _state = key
    result = await work(request)
    if not result.incomplete:
        results.put(key, result)
    return result
