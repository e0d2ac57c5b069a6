"""The web server: Daphne, with what it would do to large uploads put right."""

from collections.abc import Callable
from typing import Any, cast

from daphne import http_protocol
from daphne.server import Server  # before the reactor, which it installs
from twisted.internet import reactor

# Bytes of a request's body that are handed on at once; an upload in small pieces keeps the event loop busy.
PIECE = 256 * 1024


class Request(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose form is left to Django.

    Twisted reads the form of each POST too, whole and in memory, with nothing else going on in the meantime: an upload
    of 200 MB would take ten times that, and stop all answers that are being written for many seconds.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what Twisted gives, and ask it not to read forms."""
        super().__init__(*args, **kwargs, parsePOSTFormSubmission=False)


def serve(application: Any, endpoint: str, before_shutdown: Callable[[], object]) -> None:
    """Serve HTTP and WebSockets at a Twisted endpoint until the process is asked to stop.

    What `before_shutdown` returns is waited for when it is a Deferred.
    """
    cast(Any, reactor).addSystemEventTrigger("before", "shutdown", before_shutdown)
    http_protocol.WebRequest = Request  # what Daphne's factory makes of each request
    Server(application, endpoints=[endpoint], server_name="ragsite", request_buffer_size=PIECE).run()
