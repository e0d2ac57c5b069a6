"""The addresses of the chat's WebSockets."""

from typing import Any

from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from conversations.consumers import ChatConsumer

websocket_urlpatterns: list[Any] = [
    path("ws/sessions/<int:session_id>/", ChatConsumer.as_asgi()),
    re_path("", WebsocketDenier.as_asgi()),  # an address that isn't there is refused, as one that one may not have
]
