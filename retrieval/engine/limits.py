"""How many searches may run at once, and how many may wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from django.conf import settings
from django.utils.translation import gettext as _

from retrieval.types import SearchOverloaded


class Gate:
    """Lets at most `running` through at once; others wait, at most `waiting` of them and for `patience` seconds."""

    def __init__(self, running: int, waiting: int, patience: float) -> None:
        self._places = asyncio.Semaphore(running)
        self._most_waiting = waiting
        self._patience = patience
        self._waiting = 0

    @asynccontextmanager
    async def pass_through(self) -> AsyncIterator[None]:
        """Hold a place. Raises `SearchOverloaded` when too many wait already, or none got free in time."""
        message = _("Too many searches are running. Try again in a moment.")
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise SearchOverloaded(message)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                # Doesn't suspend where one is free, so that others in the same turn of the event loop see it taken.
                await self._places.acquire()
        except TimeoutError:
            raise SearchOverloaded(message) from None
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()


# An asyncio lock belongs to one event loop. A server has one; a command or a test may come with its own.
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, Gate] = WeakKeyDictionary()


def gate() -> Gate:
    """Return the running event loop's gate for searches, as wide as the settings say."""
    loop = asyncio.get_running_loop()
    if loop not in _gates:
        _gates[loop] = Gate(settings.SEARCH_CONCURRENCY, settings.SEARCH_QUEUE, settings.SEARCH_TIMEOUT)
    return _gates[loop]
