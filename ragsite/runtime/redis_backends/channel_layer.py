"""The channel layer of a site with Redis, which is only used for messages between processes.

Each process keeps its own groups and delivers messages to its own members directly; other processes receive them
through Redis's publish/subscribe. A layer that keeps groups and messages in Redis, such as channels_redis, closes every
WebSocket when Redis becomes unavailable, and has lost the groups when Redis is back.
"""

import asyncio
import json
import logging
import uuid
from contextlib import suppress
from typing import Any

from channels.layers import InMemoryChannelLayer
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from ragsite.runtime.redis_backends.redis_cache import REDIS_UNAVAILABLE, TIMEOUTS

logger = logging.getLogger(__name__)

# Seconds of silence after which Redis is pinged, and between two attempts to reach it.
IDLE = 5.0
PAUSE = 1.0

PREFIX = "ragsite.group."


class RedisLayer(InMemoryChannelLayer):  # type: ignore[misc]
    """Groups across all processes with the same Redis. A message to a single channel stays in the process.

    Messages sent while Redis is unavailable reach only this process, and are not sent again.
    """

    def __init__(self, url: str, **options: Any) -> None:
        """Take Redis's URL, and the options of the in-memory layer (capacities and times to live)."""
        super().__init__(**options)
        self._url = url
        self._id = uuid.uuid4().hex  # by which a process recognises its own messages
        self._home: asyncio.AbstractEventLoop | None = None  # the event loop that listens
        self._listener: asyncio.Task[None] | None = None
        self._following = asyncio.Lock()
        self._client: Redis | None = None
        self._pubsub: PubSub | None = None
        self._away = False

    async def group_add(self, group: str, channel: str) -> None:
        """Add a channel of this process to a group."""
        await super().group_add(group, channel)
        if self._listener is None or self._listener.done() or (self._home is not None and self._home.is_closed()):
            self._home, self._following = asyncio.get_running_loop(), asyncio.Lock()
            self._listener = self._home.create_task(self._hear())
        await self._follow(group)

    async def group_discard(self, group: str, channel: str) -> None:
        """Remove a channel from a group; no error if it isn't a member."""
        await super().group_discard(group, channel)
        await self._follow(group)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """Send a JSON-safe message to all members of a group; doesn't raise an error if Redis is unavailable."""
        await super().group_send(group, message)
        at_home = self._home is asyncio.get_running_loop()
        if at_home and self._away:
            return
        data = json.dumps([self._id, message], ensure_ascii=False, separators=(",", ":"))
        try:
            if at_home and self._client is not None:
                await self._client.publish(_topic(group), data)
            else:
                async with self._connect() as client:
                    await client.publish(_topic(group), data)
        except REDIS_UNAVAILABLE as error:
            self._lost(error)

    async def close(self) -> None:
        """Stop listening to other processes."""
        while self._listener is not None and not self._listener.done():
            self._listener.cancel()
            await asyncio.wait({self._listener}, timeout=1)

    def _connect(self) -> Redis:
        return Redis.from_url(self._url, **TIMEOUTS, retry=Retry(NoBackoff(), 1))

    async def _hear(self) -> None:
        """Deliver messages of other processes until the event loop ends, reconnecting to Redis when necessary."""
        task = asyncio.current_task()
        # A cancellation that coincides with a timeout may arrive as the timeout only.
        while task is not None and not task.cancelling():
            try:
                async with self._connect() as client, client.pubsub(ignore_subscribe_messages=True) as pubsub:
                    async with self._following:  # groups joined meanwhile are subscribed after this
                        await pubsub.subscribe(self._id, *map(_topic, self.groups))
                        self._client, self._pubsub = client, pubsub
                    while not task.cancelling():
                        news = await pubsub.get_message(timeout=IDLE)
                        if news is None:
                            await client.ping()
                        if self._away:
                            self._away = False
                            logger.warning("Redis is back")
                        sender, message = json.loads(news["data"]) if news is not None else (self._id, {})
                        if news is not None and sender != self._id:
                            await super().group_send(news["channel"].decode().removeprefix(PREFIX), message)
            except REDIS_UNAVAILABLE as error:
                self._lost(error)
            finally:
                self._client = self._pubsub = None
            await asyncio.sleep(PAUSE)

    async def _follow(self, group: str) -> None:
        """Subscribe to a group while it has members in this process."""
        async with self._following:
            if self._pubsub is not None and self._home is asyncio.get_running_loop():
                # A failure here also fails the listener, which subscribes to all groups when it reconnects.
                with suppress(*REDIS_UNAVAILABLE):
                    known = _topic(group).encode() in self._pubsub.channels
                    if group in self.groups and not known:
                        await self._pubsub.subscribe(_topic(group))
                    elif known and group not in self.groups:
                        await self._pubsub.unsubscribe(_topic(group))

    def _lost(self, error: Exception) -> None:
        if not self._away:
            self._away = True
            logger.warning("Redis is unavailable; messages of other processes are not received: %s", error)


def _topic(group: str) -> str:
    return PREFIX + group
