"""The web process: Daphne with fixes for large uploads and for answers that are being written at shutdown."""

import asyncio
import gc
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

from daphne import http_protocol
from daphne import server as daphne  # before the reactor, which it installs
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import AdoptedStreamServerEndpoint

# Bytes of a request's body that are handed on at once; an upload in small pieces keeps the event loop busy.
PIECE = 256 * 1024
# Seconds for which requests that are being answered may come to their end once the process is asked to stop.
FAREWELL = 1.5
# Seconds in which a WebSocket has to be open: all pages come at once when the process has been away.
HANDSHAKE = 20


class Request(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose form is left to Django.

    Twisted reads the form of each POST too, whole and in memory, with nothing else going on in the meantime: an upload
    of 200 MB would take ten times that, and stop all answers that are being written for many seconds.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what Twisted gives, and ask it not to read forms."""
        super().__init__(*args, **kwargs, parsePOSTFormSubmission=False)


class Server(daphne.Server):  # type: ignore[misc]
    """Daphne, which has what it is doing brought to an end before it stops."""

    def __init__(self, *args: Any, before_stop: Callable[[], Awaitable[None]], **kwargs: Any) -> None:
        """Take what Daphne takes, and what is waited for before a stop."""
        super().__init__(*args, **kwargs)
        self._before_stop = before_stop

    def kill_all_applications(self) -> Any:
        """Wait for what comes before a stop and give requests time to end; what is left then is cancelled."""
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

    `when_loaded` is called once the site is loaded, and may wait for what the site needs before it answers.
    """
    from conversations.turns import orphans
    from ragsite.asgi import application

    # In the background: the site answers at once, and the first question finds what it needs loaded.
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    when_loaded()
    orphans.start()
    endpoint = cast(Any, AdoptedStreamServerEndpoint)(reactor, os.dup(listener.fileno()), listener.family)
    daphne.serverFromString = lambda _reactor, _description: endpoint  # text can't tell of an IPv6 socket
    http_protocol.WebRequest = Request  # what Daphne's factory makes of each request
    server = Server(
        application,
        endpoints=["listener"],
        server_name="ragsite",
        request_buffer_size=PIECE,
        websocket_handshake_timeout=HANDSHAKE,
        before_stop=_interrupt_turns,
    )
    server.run()


def _warm_up() -> None:
    from conversations.prompts import endpoints
    from retrieval.engine import spaces

    spaces.warm_up()
    endpoints.warm_up()
    # What is loaded by now stays: to look through it for garbage held up all streams for 0.2 seconds now and then.
    gc.collect()
    gc.freeze()
    # What is made afterwards lives about as long as a turn does: a look through all of it comes ten times less often.
    gc.set_threshold(*gc.get_threshold()[:2], 100)


async def _interrupt_turns() -> None:
    """Have the answers that are being written stored, and who listens to them told."""
    from conversations.turns import lifecycle
    from ragsite.llm import http_pool

    await lifecycle.interrupt_all()
    await http_pool.close()
