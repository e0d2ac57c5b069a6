"""The channel layer of a site with Redis: its listeners in this process need no Redis, those in others hear by it.

Each process keeps its groups itself and hands its messages to its own members at once; to other processes they go by
Redis' publish and subscribe. A layer that keeps groups and messages in Redis, as channels_redis does, ends every socket
when Redis goes away, and has forgotten the groups when it comes back.
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

from ragsite.runtime.redis_cache import REDIS_UNAVAILABLE, TIMEOUTS

logger = logging.getLogger(__name__)

# Seconds of silence after which Redis is asked whether it is still there, and between two tries to reach it.
IDLE = 5.0
PAUSE = 1.0

PREFIX = "ragsite.group."


class RedisLayer(InMemoryChannelLayer):  # type: ignore[misc]
    """Groups over all processes at one Redis. A message to a single channel stays in the process.

    What is sent while Redis is away reaches this process alone, and is not sent again.
    """

    def __init__(self, url: str, **options: Any) -> None:
        """Take Redis' address, and the options of the layer in memory (capacities and times to live)."""
        super().__init__(**options)
        self._url = url
        self._id = uuid.uuid4().hex  # by which a process knows its own messages
        self._home: asyncio.AbstractEventLoop | None = None  # on which the process listens
        self._listener: asyncio.Task[None] | None = None
        self._following = asyncio.Lock()
        self._client: Redis | None = None
        self._pubsub: PubSub | None = None
        self._away = False

    async def group_add(self, group: str, channel: str) -> None:
        """Make a channel of this process a member of a group."""
        await super().group_add(group, channel)
        if self._listener is None or self._listener.done() or (self._home is not None and self._home.is_closed()):
            self._home, self._following = asyncio.get_running_loop(), asyncio.Lock()
            self._listener = self._home.create_task(self._hear())
        await self._follow(group)

    async def group_discard(self, group: str, channel: str) -> None:
        """End a membership; one that isn't there is no error."""
        await super().group_discard(group, channel)
        await self._follow(group)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """Send a JSON-safe message to all members of a group; raises nothing when Redis is away."""
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
        """Hand on what other processes send until the event loop ends; begin anew whenever Redis was away."""
        task = asyncio.current_task()
        # A cancellation that meets a time-out may reach this as the time-out alone.
        while task is not None and not task.cancelling():
            try:
                async with self._connect() as client, client.pubsub(ignore_subscribe_messages=True) as pubsub:
                    async with self._following:  # who joins a group meanwhile follows it after this
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
        """Hear of a group as long as it has members here."""
        async with self._following:
            if self._pubsub is not None and self._home is asyncio.get_running_loop():
                # What fails here fails the listener too, which follows all groups when it begins anew.
                with suppress(*REDIS_UNAVAILABLE):
                    known = _topic(group).encode() in self._pubsub.channels
                    if group in self.groups and not known:
                        await self._pubsub.subscribe(_topic(group))
                    elif known and group not in self.groups:
                        await self._pubsub.unsubscribe(_topic(group))

    def _lost(self, error: Exception) -> None:
        if not self._away:
            self._away = True
            logger.warning("Redis is away; pages hear only of what this process does: %s", error)


def _topic(group: str) -> str:
    return PREFIX + group
