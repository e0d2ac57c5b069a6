"""The site's ASGI application: HTTP and WebSockets."""

import asyncio
import os
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http.response import HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")

# Loads the apps, which the imports below need.
django.setup(set_prefix=False)

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from conversations.web.routing import websockets  # noqa: E402
from ragsite.runtime.health import PROBES  # noqa: E402

# Requests that are answered at once. Each has a thread and a database connection of its own, of which a server has few.
PLACES = 32


class Pages(ASGIHandler):
    """Django's handler, limited to `PLACES` requests at once. A streaming response holds no database connection."""

    def __init__(self) -> None:
        """Load the middleware."""
        super().__init__()
        self._places = asyncio.Semaphore(PLACES)

    async def get_response_async(self, request: Any) -> HttpResponseBase:
        """Return the response, whose stream may still have to be sent."""
        if request.path_info in PROBES:
            return await super().get_response_async(request)
        async with self._places:
            response = await super().get_response_async(request)
            if response.streaming:
                await sync_to_async(close_old_connections)()
            return response


application = ProtocolTypeRouter(
    {
        "http": Pages(),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(websockets)),
    }
)
