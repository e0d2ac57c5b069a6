"""The cache of a site with Redis, shared by all processes; while Redis is unavailable, each process uses its own."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError
from redis.retry import Retry

logger = logging.getLogger(__name__)

# Exceptions that mean that Redis is unavailable.
REDIS_UNAVAILABLE = (RedisError, OSError)

# Seconds to connect to Redis, and for its response; requests wait for it.
TIMEOUTS: dict[str, Any] = {"socket_connect_timeout": 1.0, "socket_timeout": 2.0}

# Shorter ones for health checks, since load balancers don't wait long for the site.
_PROBE_TIMEOUTS: dict[str, Any] = {"socket_connect_timeout": 0.4, "socket_timeout": 0.4}

# Seconds for which Redis is not used after it was unavailable.
REST = 5.0

# The monotonic time until which a Redis is not used, by its URL.
_away_until: dict[str, float] = {}


class RedisOrLocalCache(RedisCache):
    """Django's Redis cache; while Redis is unavailable, a cache of the process, in which counters start at zero."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        """Take Redis's URL and the settings of the cache."""
        # Retry once, over a new connection, if a pooled one was broken, but not after a time-out.
        retry = Retry(NoBackoff(), 1, (Disconnected,))
        options = TIMEOUTS | {"retry": retry} | params.get("OPTIONS", {})
        super().__init__(server, params | {"OPTIONS": options})
        self._server = server
        self._probe = Redis.from_url(server, retry=retry, **_PROBE_TIMEOUTS)
        self._local = LocMemCache(f"instead of {server}", params)

    def is_away(self) -> bool:
        """Return whether Redis doesn't respond to a ping."""
        try:
            self._probe.ping()
        except REDIS_UNAVAILABLE as error:
            self._rest(error)
            return True
        self._back()
        return False

    def _rest(self, error: Exception) -> None:
        if self._server not in _away_until:
            logger.warning("Redis is unavailable; each process uses its own cache: %s", error)
        _away_until[self._server] = time.monotonic() + REST

    def _back(self) -> None:
        if _away_until.pop(self._server, None) is not None:
            logger.warning("Redis is back")
            self._local.clear()


_MANY = ("get_many", "set_many", "delete_many")


def _or_locally(name: str) -> Callable[..., Any]:
    def call(self: RedisOrLocalCache, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= _away_until.get(self._server, 0.0):
            try:
                result = getattr(RedisCache, name)(self, *args, **kwargs)
            except REDIS_UNAVAILABLE as error:
                self._rest(error)
            else:
                self._back()
                return result
        return getattr(self._local, name)(*args, **kwargs)

    return call


for _name in ("add", "get", "set", "touch", "delete", "has_key", "incr", "clear", *_MANY):
    setattr(RedisOrLocalCache, _name, _or_locally(_name))
