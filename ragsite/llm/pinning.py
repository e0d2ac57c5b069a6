"""Connections to the addresses that were checked, whatever their name resolves to a moment later.

A request keeps its name: in its `Host`, and for TLS, by which the server proves itself.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx

from ragsite.llm.addresses import Place, admitted, look_up, resolve

# Seconds that what a name resolved to is used, so that connections stay open for the next request.
KEEP = 60.0
# What the next address may do better.
_NO_CONNECTION = (httpx.ConnectError, httpx.ConnectTimeout)


class AsyncPinnedTransport(httpx.AsyncHTTPTransport):
    """Sends each request to the first address of its name that can be reached, once all of them were checked.

    `own_network` tells whether they may lie on this machine or in its local network; `options` are those of httpx.
    """

    def __init__(self, *, own_network: bool, **options: Any) -> None:
        super().__init__(**options)
        self._checked = _Checked(own_network)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it; raises what the last address does, and what `admitted` does."""
        checked = self._checked
        addresses = checked.kept(request.url) or checked.keep(request.url, await look_up(str(request.url)))
        for each, is_last in _to(request, addresses):
            try:
                return await super().handle_async_request(each)
            except _NO_CONNECTION:
                if is_last:
                    checked.forget(request.url)
                    raise
        raise httpx.ConnectError("No address")


class PinnedTransport(httpx.HTTPTransport):
    """The same for clients that wait."""

    def __init__(self, *, own_network: bool, **options: Any) -> None:
        super().__init__(**options)
        self._checked = _Checked(own_network)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send it; raises what the last address does, and what `admitted` does."""
        checked = self._checked
        addresses = checked.kept(request.url) or checked.keep(request.url, resolve(str(request.url)))
        for each, is_last in _to(request, addresses):
            try:
                return super().handle_request(each)
            except _NO_CONNECTION:
                if is_last:
                    checked.forget(request.url)
                    raise
        raise httpx.ConnectError("No address")


class _Checked:
    """The addresses of names that were checked, for `KEEP` seconds each."""

    def __init__(self, own_network: bool) -> None:
        self._own_network = own_network
        self._addresses: dict[str, tuple[float, Sequence[str]]] = {}

    def kept(self, url: httpx.URL) -> Sequence[str]:
        """Return what is kept of a name; empty where that is nothing, or too old."""
        until, addresses = self._addresses.get(url.host, (0.0, ()))
        return addresses if time.monotonic() < until else ()

    def keep(self, url: httpx.URL, place: Place) -> Sequence[str]:
        """Return the addresses of a name that was looked up, checked; raises what `admitted` does."""
        addresses = admitted(place, own_network=self._own_network, where=url.host)
        self._addresses[url.host] = (time.monotonic() + KEEP, addresses)
        return addresses

    def forget(self, url: httpx.URL) -> None:
        """Have a name looked up anew: nothing answers where it led."""
        self._addresses.pop(url.host, None)


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
