"""The web process: Daphne with compressed WebSockets, and fixes for large uploads and answers written at shutdown."""

import asyncio
import gc
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from daphne import http_protocol
from daphne import server as daphne  # before the reactor, which it installs
from django.conf import settings
from django.utils.module_loading import import_string
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import AdoptedStreamServerEndpoint

# Bytes of a request's body that are passed on at a time; smaller pieces would keep the event loop busy during uploads.
PIECE = 256 * 1024
# Seconds for running requests to finish once the process is asked to stop.
FAREWELL = 1.5
# Seconds within which a WebSocket must be opened: after a restart all pages reconnect at once.
HANDSHAKE = 20
# The compression of WebSockets: how far back repetitions are found (2^bits bytes), and zlib's memory level, with which
# a connection takes 64 KB. Figures, also for zlib's defaults: docs/decisions/page-weight.md.
WINDOW_BITS = 13
MEMORY_LEVEL = 6


class Request(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose form is parsed by Django only, and whose body has a length.

    Twisted parses the form of each POST as well, in memory, which blocks the event loop: an upload of 200 MB would take
    ten times as much memory and stop all streams for many seconds.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Initialise Twisted's request without parsing of forms."""
        super().__init__(*args, **kwargs, parsePOSTFormSubmission=False)

    def process(self) -> Any:
        """Set the length of a chunked body, since Django ignores a body without a length."""
        if self.requestHeaders.hasHeader(b"transfer-encoding"):
            length = self.content.seek(0, os.SEEK_END)
            self.content.seek(0)
            self.requestHeaders.removeHeader(b"transfer-encoding")
            self.requestHeaders.setRawHeaders(b"content-length", [b"%d" % length])
        return super().process()


class CompressingFactory(daphne.WebSocketFactory):  # type: ignore[misc]
    """Daphne's factory of WebSockets, which accepts compression; Daphne itself declines every offer of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Initialise Daphne's factory, and let clients negotiate compression."""
        super().__init__(*args, **kwargs)
        self.setProtocolOptions(perMessageCompressionAccept=accepted_compression)


def accepted_compression(offers: Iterable[Any]) -> PerMessageDeflateOfferAccept | None:
    """Return the acceptance of the first `permessage-deflate` offer of a client, or None if there is none."""
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer):
            bits = min(offer.request_max_window_bits or WINDOW_BITS, WINDOW_BITS)
            accept: Any = PerMessageDeflateOfferAccept
            return cast(PerMessageDeflateOfferAccept, accept(offer, window_bits=bits, mem_level=MEMORY_LEVEL))
    return None


class Server(daphne.Server):  # type: ignore[misc]
    """Daphne's server, which lets running requests finish before it stops."""

    def __init__(self, *args: Any, before_stop: Callable[[], Awaitable[None]], **kwargs: Any) -> None:
        """Take Daphne's arguments, and a function that is awaited before the server stops."""
        super().__init__(*args, **kwargs)
        self._before_stop = before_stop

    def kill_all_applications(self) -> Any:
        """Await `before_stop` and give requests time to finish; the remaining ones are then cancelled."""
        ended = Deferred.fromFuture(asyncio.ensure_future(self._come_to_an_end()))
        return ended.addBoth(lambda _result: super(Server, self).kill_all_applications())

    async def _come_to_an_end(self) -> None:
        await self._before_stop()
        deadline = time.monotonic() + FAREWELL
        while time.monotonic() < deadline:
            # A WebSocket ends only by being closed.
            running = [
                details["application_instance"]
                for protocol, details in self.connections.items()
                if isinstance(protocol, http_protocol.WebRequest) and "application_instance" in details
            ]
            if all(request.done() for request in running):
                break
            await asyncio.sleep(0.02)


def serve(listener: socket.socket, when_loaded: Callable[[], object]) -> None:
    """Serve HTTP and WebSockets on a socket until the process is asked to stop.

    `when_loaded` is called once the site is loaded, and may block until it can serve requests.
    """
    application = import_string(settings.ASGI_APPLICATION)
    gc.enable()  # again, now that everything is loaded; see `manage.py web`
    # In the background, so that the site responds at once and the first question doesn't wait for models to load.
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    when_loaded()
    for path in settings.WATCHES:
        import_string(path)()
    endpoint = cast(Any, AdoptedStreamServerEndpoint)(reactor, os.dup(listener.fileno()), listener.family)
    daphne.serverFromString = lambda _reactor, _description: endpoint  # a description can't express an IPv6 socket
    http_protocol.WebRequest = Request  # the class that Daphne's factory uses for requests
    daphne.WebSocketFactory = CompressingFactory
    server = Server(
        application,
        endpoints=["listener"],
        server_name="ragsite",
        request_buffer_size=PIECE,
        websocket_handshake_timeout=HANDSHAKE,
        before_stop=_before_stop,
    )
    server.run()


def _warm_up() -> None:
    for path in settings.WARM_UP:
        import_string(path)()
    # Existing objects will stay: checking them for garbage would block all streams for 0.2 seconds now and then.
    gc.collect()
    gc.freeze()
    # Later objects live about as long as a turn, so full collections can be ten times rarer.
    gc.set_threshold(*gc.get_threshold()[:2], 100)


async def _before_stop() -> None:
    for path in settings.BEFORE_STOP:
        await import_string(path)()
