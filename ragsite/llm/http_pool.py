"""What the requests of one event loop share: connections that stay open, and how many requests run at once.

A TLS handshake takes longer than most first words. So the HTTP client of an endpoint (its address and key) outlives
those who ask, until nobody has used it for a minute. Another address or key is another client: an edit of a model
profile takes effect with the next request.
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio  # noqa: F401
import httpcore  # noqa: F401 - httpx would import these at the first question, and hold up the event loop
import httpx

from ragsite.llm import http
from ragsite.llm.errors import Busy
from ragsite.llm.types import Endpoint

# Seconds that a client stays unused.
KEEP = http.KEEP_OPEN


@dataclass(slots=True)
class _Kept:
    """A client, how many requests it serves now, and since when (loop time) it has served none."""

    client: httpx.AsyncClient
    users: int = 0
    idle_since: float = 0.0


class _Places(asyncio.Semaphore):
    """Places for requests at once, given out first come, first served; `holders` have one or wait for one."""

    holders = 0


class _Loop:
    """What one event loop has: clients by address and key, places by endpoint."""

    def __init__(self) -> None:
        self.clients: dict[tuple[str, str, bool | None], _Kept] = {}
        self.places: dict[tuple[str, str, str, int], _Places] = {}
        self._tidying: asyncio.Task[None] | None = None

    def take(self, endpoint: Endpoint) -> _Kept:
        key = (endpoint.base_url, endpoint.api_key, endpoint.own_network)
        if key not in self.clients:
            self.clients[key] = _Kept(http.client(endpoint))
        if self._tidying is None or self._tidying.done():
            # In a context of its own: it outlives the request that happens to be the first.
            self._tidying = asyncio.get_running_loop().create_task(self._tidy(), context=contextvars.Context())
        kept = self.clients[key]
        kept.users += 1
        return kept

    async def close(self) -> None:
        """Close every client, also those in use; ends the tidying."""
        if self._tidying is not None:
            self._tidying.cancel()
            with suppress(asyncio.CancelledError):
                await self._tidying

    async def _tidy(self) -> None:
        """Close what nobody uses; when the loop ends, which cancels this, close all."""
        try:
            while self.clients:
                await asyncio.sleep(KEEP / 2)
                latest = asyncio.get_running_loop().time() - KEEP
                for key, kept in list(self.clients.items()):
                    if not kept.users and kept.idle_since < latest:
                        await self.clients.pop(key).client.aclose()
        except asyncio.CancelledError:
            while self.clients:
                await self.clients.popitem()[1].client.aclose()
            raise


_loops: dict[asyncio.AbstractEventLoop, _Loop] = {}


@asynccontextmanager
async def client(endpoint: Endpoint) -> AsyncIterator[httpx.AsyncClient]:
    """Lend the client that this event loop keeps for an endpoint."""
    kept = _here().take(endpoint)
    try:
        yield kept.client
    finally:
        kept.users -= 1
        kept.idle_since = asyncio.get_running_loop().time()


@asynccontextmanager
async def place(endpoint: Endpoint, deadline: float) -> AsyncIterator[None]:
    """Hold one of an endpoint's places, waiting for it in turn.

    Raises `Busy` at the deadline (loop time), or after the endpoint's longest silence: those who wait see nothing.
    """
    if not endpoint.concurrency:
        yield
        return
    all_places = _here().places
    key = (endpoint.base_url, endpoint.api_key, endpoint.model, endpoint.concurrency)
    places = all_places.setdefault(key, _Places(endpoint.concurrency))
    places.holders += 1
    try:
        patience = asyncio.get_running_loop().time() + endpoint.idle_timeout
        try:
            async with asyncio.timeout_at(min(deadline, patience)):
                await places.acquire()
        except TimeoutError:
            raise Busy(where=http.host(endpoint)) from None
        try:
            yield
        finally:
            places.release()
    finally:
        places.holders -= 1
        if not places.holders:
            all_places.pop(key, None)


async def close() -> None:
    """Close the connections of this event loop."""
    found = _loops.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.close()


def _here() -> _Loop:
    """Return what the running loop shares; forgets loops that have ended."""
    loop = asyncio.get_running_loop()
    if loop not in _loops:
        for ended in [other for other in list(_loops) if other.is_closed()]:
            _loops.pop(ended, None)
        _loops[loop] = _Loop()
    return _loops[loop]
