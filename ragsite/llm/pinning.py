"""Transports that connect to the addresses that were checked, whatever the name resolves to a moment later.

The name is kept in the `Host` header and for TLS, which verifies the server's certificate.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx

from ragsite.llm.addresses import Place, admitted, look_up, resolve

# Seconds for which a name's addresses are used, so that connections stay open for later requests.
KEEP = 60.0
# Errors after which the next address is tried.
_NO_CONNECTION = (httpx.ConnectError, httpx.ConnectTimeout)


class AsyncPinnedTransport(httpx.AsyncHTTPTransport):
    """Sends each request to the first reachable address of its name, after all of them were checked.

    `own_network` allows this machine and its local network; `options` are those of httpx.
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
    """The same for blocking clients."""

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
        """Return the stored addresses of a name, empty if there are none or they have expired."""
        until, addresses = self._addresses.get(url.host, (0.0, ()))
        return addresses if time.monotonic() < until else ()

    def keep(self, url: httpx.URL, place: Place) -> Sequence[str]:
        """Check the addresses that a name resolved to, store them and return them; raises what `admitted` does."""
        addresses = admitted(place, own_network=self._own_network, where=url.host)
        self._addresses[url.host] = (time.monotonic() + KEEP, addresses)
        return addresses

    def forget(self, url: httpx.URL) -> None:
        """Forget the addresses of a name, since none could be reached."""
        self._addresses.pop(url.host, None)


def _to(request: httpx.Request, addresses: Sequence[str]) -> Iterator[tuple[httpx.Request, bool]]:
    """Yield the request for each address, and whether it is the last one."""
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
