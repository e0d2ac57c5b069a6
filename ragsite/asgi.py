"""The site's ASGI application: HTTP and WebSockets."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http.response import HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")

# Loads the apps, which the imports below need.
django.setup(set_prefix=False)

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from conversations.web.routing import websockets  # noqa: E402
from ragsite.runtime.health import PROBES  # noqa: E402

# Concurrent requests. Each has its own thread and database connection, of which the server has few.
PLACES = 32
# Threads that are kept with their connections for later requests; the others of a burst end.
KEPT_THREADS = 8


class Pages(ASGIHandler):
    """Django's handler, limited to `PLACES` concurrent requests. A streaming response holds no database connection.

    Django gives each request a new thread and thus a new connection, which costs a third of a page's time: PostgreSQL
    starts a process, which has to read its catalogues. Here a request reuses the thread that became free last.
    """

    def __init__(self) -> None:
        """Load the middleware."""
        super().__init__()
        self._places = asyncio.Semaphore(PLACES)
        self._free_threads: list[ThreadPoolExecutor] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        thread = self._free_threads.pop() if self._free_threads else ThreadPoolExecutor(1, thread_name_prefix="page")
        try:
            async with ThreadSensitiveContext(executor=thread):
                await super().__call__(scope, receive, send)
        finally:
            # Queued behind work that a request whose client disconnected may still do on the thread.
            thread.submit(self._leave, thread)

    def _leave(self, thread: ThreadPoolExecutor) -> None:
        if len(self._free_threads) < KEPT_THREADS:
            self._free_threads.append(thread)
        else:
            connections.close_all()
            thread.shutdown(wait=False)

    async def get_response_async(self, request: Any) -> HttpResponseBase:
        """Return the response; its stream, if any, is sent later."""
        if request.path_info in PROBES:
            return await super().get_response_async(request)
        async with self._places:
            response = await super().get_response_async(request)
            if response.streaming:
                await sync_to_async(connections.close_all)()
            return response


application = ProtocolTypeRouter(
    {
        "http": Pages(),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(websockets)),
    }
)
