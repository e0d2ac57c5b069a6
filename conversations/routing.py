"""The addresses of the chat's WebSockets."""

from typing import Any

from django.urls import path

from conversations.consumers import ChatConsumer

websocket_urlpatterns: list[Any] = [path("ws/sessions/<int:session_id>/", ChatConsumer.as_asgi())]
