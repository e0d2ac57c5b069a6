"""The addresses of the chat's WebSockets."""

from typing import Any

from channels.routing import URLRouter
from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from conversations.web.consumers import ChatConsumer

websocket_urlpatterns: list[Any] = [path("ws/sessions/<int:session_id>/", ChatConsumer.as_asgi())]

# An address that isn't there is refused like one that one may not have; the router alone would raise.
websockets = URLRouter([*websocket_urlpatterns, re_path("", WebsocketDenier.as_asgi())])
