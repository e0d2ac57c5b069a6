"""Requests to one endpoint, bounded in time and size; failures are raised as `LLMError`."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, nullcontext
from typing import Any

import httpx

from ragsite.llm import http, http_pool
from ragsite.llm.errors import BadReply, LLMError, TimedOut
from ragsite.llm.types import Endpoint

_MAX_ERROR_BYTES = 64 * 1024
# Bytes that are buffered before they are read.
_MAX_WAITING = 256 * 1024
# Seconds that each concurrent reply adds to the pace, for up to 45 of them, and twice that for each above a hundred:
# with many streams, each read takes in more. A hundred streams wait at most a tenth of a second, and with two hundred a
# slow core still has time to spare.
CROWD = 0.001


class Incoming:
    """A reply whose body is still arriving. `deadline` is in the event loop's time."""

    _read_now = 0  # replies being read in this process

    def __init__(self, response: httpx.Response, endpoint: Endpoint, deadline: float) -> None:
        self._response = response
        self._endpoint = endpoint
        self._deadline = deadline
        self._pace = 0.0

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status_code

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return self._response.is_success

    def hurry(self, seconds: float) -> None:
        """Move the deadline forward to at most `seconds` from now."""
        self._deadline = min(self._deadline, asyncio.get_running_loop().time() + seconds)

    def pace(self, seconds: float) -> None:
        """Read from the socket every `seconds` from now on; everything received in between is one chunk.

        Concurrent replies make the interval longer: a hundred by 45 ms, two hundred by 245 ms.
        """
        self._pace = seconds

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Yield bytes as they arrive, those of one read of the socket as one chunk.

        After everything received, raises `TimedOut` at the deadline or after a silence, `StreamCut` if the connection
        is lost.
        """
        inlet = _Inlet(self._response)
        with self._paced():
            pump = asyncio.create_task(inlet.fill())
            try:
                while not inlet.ended:
                    # The time-out surrounds only the wait: it must not fire while the consumer processes a chunk.
                    async with asyncio.timeout_at(self._deadline):
                        await inlet.filled.wait()
                    if chunk := inlet.take():
                        yield chunk
                await pump
            except TimeoutError as error:
                raise TimedOut(where=http.host(self._endpoint)) from error
            except (httpx.HTTPError, httpx.StreamError) as error:
                raise http.from_transport(error, self._endpoint, started=True) from error
            finally:
                pump.cancel()
                await asyncio.wait({pump})

    @contextmanager
    def _paced(self) -> Iterator[None]:
        """Limit the connection's reads to the pace, if one is set; transports in tests don't support it."""
        stream = self._response.extensions.get("network_stream")
        if stream is None:
            yield
            return
        loop, read, last = asyncio.get_running_loop(), stream.read, 0.0

        async def read_in_time(max_bytes: int, timeout: float | None = None) -> bytes:
            nonlocal last
            crowd = min(Incoming._read_now - 1, 45) + 2 * max(Incoming._read_now - 100, 0)
            pace = self._pace and self._pace + CROWD * crowd
            if (early := last + pace - loop.time()) > 0:
                await asyncio.sleep(early)
            data: bytes = await read(max_bytes, timeout)
            last = loop.time()
            return data

        stream.read = read_in_time
        Incoming._read_now += 1
        try:
            yield
        finally:
            Incoming._read_now -= 1
            del stream.read  # the connection will be reused

    async def read(self, limit: int) -> bytes:
        """Return the whole body; raises `BadReply` if it exceeds `limit` bytes."""
        body = await self._beginning(limit)
        if len(body) > limit:
            raise BadReply(f"More than {limit} bytes.", where=http.host(self._endpoint))
        return body

    async def refusal(self) -> LLMError:
        """Return the error for a reply whose status isn't 2xx."""
        try:
            body = await self._beginning(_MAX_ERROR_BYTES)
        except LLMError:
            body = b""  # the status is informative enough
        return http.from_status(self._response, body, self._endpoint)

    async def _beginning(self, limit: int) -> bytes:
        """Return the body up to the chunk that exceeds `limit` bytes."""
        body = bytearray()
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > limit:
                    break
        return bytes(body)


class _Inlet:
    """Receives a body in the background, so that the reader gets many of HTTP's small chunks at once."""

    def __init__(self, response: httpx.Response) -> None:
        self.filled = asyncio.Event()
        self.ended = False
        self._response = response
        self._came: list[bytes] = []
        self._taken = asyncio.Event()

    async def fill(self) -> None:
        """Receive the body to its end, pausing while too much is unread."""
        size = 0
        try:
            async for chunk in self._response.aiter_bytes():
                if not self._came:
                    size = 0
                self._came.append(chunk)
                size += len(chunk)
                self.filled.set()
                if size > _MAX_WAITING:
                    self._taken.clear()
                    await self._taken.wait()
        finally:
            self.ended = True
            self.filled.set()

    def take(self) -> bytes:
        """Return the bytes received since the last call."""
        chunk = b"".join(self._came)
        self._came.clear()
        self.filled.clear()
        self._taken.set()
        return chunk


class Connection:
    """Requests to one endpoint, over connections that the event loop keeps; `transport` replaces them in tests."""

    def __init__(self, endpoint: Endpoint, transport: httpx.AsyncBaseTransport | None = None) -> None:
        http.host(endpoint)  # raises for an invalid base URL
        self._endpoint = endpoint
        self._own = http.client(endpoint, transport) if transport is not None else None

    @asynccontextmanager
    async def send(self, method: str, path: str, deadline: float, json: Any = None) -> AsyncIterator[Incoming]:
        """Send a request and yield its reply once the headers have arrived; leaving the context aborts the request.

        `path` is a path of the API (`/models`) or a URL. Waits for a place if the endpoint limits concurrency.
        """
        endpoint = self._endpoint
        lent = http_pool.client(endpoint) if self._own is None else nullcontext(self._own)
        async with http_pool.place(endpoint, deadline), lent as client:
            try:
                address = http.url(endpoint, path) if path.startswith("/") else path
                request = client.build_request(method, address, json=json, timeout=http.timeout(endpoint))
                async with asyncio.timeout_at(deadline):
                    response = await client.send(request, stream=True)
            except TimeoutError as error:
                raise TimedOut(where=http.host(endpoint)) from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise http.from_transport(error, endpoint, started=False) from error
            try:
                yield Incoming(response, endpoint, deadline)
            finally:
                await response.aclose()

    async def aclose(self) -> None:
        """Close the connection, unless the event loop keeps it for later requests."""
        if self._own is not None:
            await self._own.aclose()
