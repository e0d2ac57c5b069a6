"""Connections to the addresses that were checked, whatever their name resolves to by then.

A request keeps its name: in its `Host`, and for TLS, by which the server proves itself.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import httpx

# What the next address may do better.
_NO_CONNECTION = (httpx.ConnectError, httpx.ConnectTimeout)


class AsyncPinnedTransport(httpx.AsyncHTTPTransport):
    """Sends each request to the first of its addresses that can be reached; `options` are those of httpx."""

    def __init__(self, addresses: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self._addresses = addresses

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it; raises what the last address does."""
        for each, is_last in _to(request, self._addresses):
            try:
                return await super().handle_async_request(each)
            except _NO_CONNECTION:
                if is_last:
                    raise
        raise httpx.ConnectError("No address")


class PinnedTransport(httpx.HTTPTransport):
    """The same for clients that wait."""

    def __init__(self, addresses: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self._addresses = addresses

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send it; raises what the last address does."""
        for each, is_last in _to(request, self._addresses):
            try:
                return super().handle_request(each)
            except _NO_CONNECTION:
                if is_last:
                    raise
        raise httpx.ConnectError("No address")


def _to(request: httpx.Request, addresses: Sequence[str]) -> Iterator[tuple[httpx.Request, bool]]:
    """Yield a request to each address, and whether it is the last one."""
    for number, address in enumerate(addresses, 1):
        yield (
            httpx.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions | {"sni_hostname": request.url.host},
            ),
            number == len(addresses),
        )
