"""The chat's WebSocket."""

from channels.generic.websocket import AsyncWebsocketConsumer


class ChatConsumer(AsyncWebsocketConsumer):
    """One page's connection to one session."""
