"""Connections that the requests of an event loop share, and limits on concurrent requests.

A TLS handshake often takes longer than a model's first word, so the HTTP client of an endpoint (base URL and key) is
kept until it hasn't been used for a minute. Another base URL or key gets another client, so an edit of a model profile
takes effect with the next request.
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio  # noqa: F401
import httpcore  # noqa: F401 - httpx would import these with the first request and block the event loop
import httpx

from ragsite.llm import http
from ragsite.llm.errors import Busy
from ragsite.llm.types import Endpoint

# Seconds after which an unused client is closed.
KEEP = http.KEEP_OPEN


@dataclass(slots=True)
class _Kept:
    """A client, the number of its current requests, and the loop time since which it has had none."""

    client: httpx.AsyncClient
    users: int = 0
    idle_since: float = 0.0


class _Places(asyncio.Semaphore):
    """Places for concurrent requests, first come, first served; `holders` counts those that have or await one."""

    holders = 0


class _Loop:
    """The clients of an event loop, by base URL and key, and its places, by endpoint."""

    def __init__(self) -> None:
        self.clients: dict[tuple[str, str, bool | None], _Kept] = {}
        self.places: dict[tuple[str, str, str, int], _Places] = {}
        self._tidying: asyncio.Task[None] | None = None

    def take(self, endpoint: Endpoint) -> _Kept:
        key = (endpoint.base_url, endpoint.api_key, endpoint.own_network)
        if key not in self.clients:
            self.clients[key] = _Kept(http.client(endpoint))
        if self._tidying is None or self._tidying.done():
            # In a context of its own, since it outlives the request that starts it.
            self._tidying = asyncio.get_running_loop().create_task(self._tidy(), context=contextvars.Context())
        kept = self.clients[key]
        kept.users += 1
        return kept

    async def close(self) -> None:
        """Close every client, including those in use, and stop the clean-up task."""
        if self._tidying is not None:
            self._tidying.cancel()
            with suppress(asyncio.CancelledError):
                await self._tidying

    async def _tidy(self) -> None:
        """Close unused clients; close all when cancelled, as at the end of the loop."""
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
    """Context manager that yields this event loop's client for an endpoint."""
    kept = _here().take(endpoint)
    try:
        yield kept.client
    finally:
        kept.users -= 1
        kept.idle_since = asyncio.get_running_loop().time()


@asynccontextmanager
async def place(endpoint: Endpoint, deadline: float) -> AsyncIterator[None]:
    """Context manager that holds one of an endpoint's places, waiting for it in turn.

    Raises `Busy` at the deadline (loop time), or after `idle_timeout`, since the user sees nothing while waiting.
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
    """Return the clients and places of the running loop, discarding those of loops that have ended."""
    loop = asyncio.get_running_loop()
    if loop not in _loops:
        for ended in [other for other in list(_loops) if other.is_closed()]:
            _loops.pop(ended, None)
        _loops[loop] = _Loop()
    return _loops[loop]
