"""Limits on how many searches run at once and how many wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from django.conf import settings
from django.utils.translation import gettext as _

from retrieval.types import SearchOverloaded


class SearchLimit:
    """Lets `running` searches run at once; at most `waiting` others wait, for up to `patience` seconds."""

    def __init__(self, running: int, waiting: int, patience: float) -> None:
        self._places = asyncio.Semaphore(running)
        self._most_waiting = waiting
        self._patience = patience
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place. Raises `SearchOverloaded` if too many are waiting already, or no place becomes free in time."""
        message = _("Too many searches are running. Try again in a moment.")
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise SearchOverloaded(message)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                # Doesn't suspend if one is free, so that other tasks see the place taken.
                await self._places.acquire()
        except TimeoutError:
            raise SearchOverloaded(message) from None
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()


# An asyncio lock belongs to one event loop. A server has one; commands and tests may have their own.
_limits: WeakKeyDictionary[asyncio.AbstractEventLoop, SearchLimit] = WeakKeyDictionary()


def search_limit() -> SearchLimit:
    """Return the running event loop's limit for searches, made from the settings."""
    loop = asyncio.get_running_loop()
    if loop not in _limits:
        _limits[loop] = SearchLimit(settings.SEARCH_CONCURRENCY, settings.SEARCH_QUEUE, settings.SEARCH_TIMEOUT)
    return _limits[loop]
