"""URL patterns of the chat's WebSockets."""

from typing import Any

from channels.routing import URLRouter
from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from conversations.web.consumers import ChatConsumer

websocket_urlpatterns: list[Any] = [path("ws/sessions/<int:session_id>/", ChatConsumer.as_asgi())]

# Unknown paths are refused like forbidden ones; without this, the router would raise.
websockets = URLRouter([*websocket_urlpatterns, re_path("", WebsocketDenier.as_asgi())])
