"""Ends streams (WebSockets and streaming responses) when the sign-in or token that opened them becomes invalid."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Self, TypeVar

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib import auth
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import Error, transaction
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.request import Request

from ragsite.db import in_database
from ragsite.models import ApiToken

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Seconds between database checks of all open streams, for changes that no message announces.
INTERVAL = 3.0
# The channel-layer group of the watches, one in each process with open streams.
GROUP = "sign-ins"


def is_signed_in(user: User, session_key: str) -> bool:
    """Return whether a session still authenticates the user; queries the database.

    It does not if it has ended or expired, the user is inactive, or the password has changed.
    """
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return bool(auth.get_user(request) == user)


@dataclass(eq=False)
class Grant:
    """The access that a stream was opened with: a user's sign-in (with the password hash at the time) or token."""

    user_id: int
    password: str = field(repr=False)
    session_key: str = field(default="", repr=False)
    token_id: int | None = None
    when_lost: Callable[[], object] = lambda: None
    lost: bool = False

    @classmethod
    def of(cls, request: Request) -> Self:
        """Return the grant of an API request."""
        user: Any = request.user
        if isinstance(request.auth, ApiToken):
            return cls(user.pk, user.password, token_id=request.auth.pk)
        return cls(user.pk, user.password, request._request.session.session_key or "")

    def lose(self) -> None:
        """End the stream."""
        self.lost = True
        self.when_lost()


class Watch:
    """Checks the grants of this process's open streams: at once on a message, else every `INTERVAL` seconds."""

    def __init__(self) -> None:
        self._open: set[Grant] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, grant: Grant) -> None:
        """Watch a grant until it is discarded or lost."""
        self._open.add(grant)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())

    def discard(self, grant: Grant) -> None:
        """Stop watching a grant."""
        self._open.discard(grant)

    async def _watch(self) -> None:
        layer = get_channel_layer()
        channel = await layer.new_channel("sign-ins")
        await layer.group_add(GROUP, channel)
        try:
            while self._open:
                news: dict[str, Any] = {}
                try:
                    async with asyncio.timeout(INTERVAL):
                        news = await layer.receive(channel)
                except TimeoutError:
                    pass
                for grant in await self._lost(news):
                    self._open.discard(grant)
                    grant.lose()
        finally:
            await layer.group_discard(GROUP, channel)

    async def _lost(self, news: dict[str, Any]) -> Collection[Grant]:
        """Return the grants that are lost, according to a message or the database."""
        if news.get("type") == "signed.out":
            return [grant for grant in self._open if _digest(grant.session_key) == news["sign_in"]]
        concerned = [grant for grant in self._open if news.get("user_id", grant.user_id) == grant.user_id]
        try:
            return await in_database(lost_of, concerned) if concerned else ()
        except Error:  # the database is unavailable; check again later
            logger.warning("Can't check the access of open streams: the database is unavailable")
            return ()


watch = Watch()


def lost_of(grants: Collection[Grant]) -> list[Grant]:
    """Return the grants that are no longer valid, with one query each for users, sessions and tokens."""
    ids: set[Any] = {grant.user_id for grant in grants}
    passwords = dict(User.objects.filter(pk__in=ids, is_active=True).values_list("pk", "password"))
    ids = {grant.token_id for grant in grants if grant.token_id is not None}
    tokens = set(ApiToken.objects.filter(pk__in=ids).values_list("pk", flat=True))
    keys = {grant.session_key for grant in grants if grant.token_id is None}
    lasting = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    sign_ins = set(lasting.values_list("session_key", flat=True))

    def lost(grant: Grant) -> bool:
        if grant.token_id is not None:
            return grant.user_id not in passwords or grant.token_id not in tokens
        return passwords.get(grant.user_id) != grant.password or grant.session_key not in sign_ins

    return [grant for grant in grants if lost(grant)]


@asynccontextmanager
async def watched(grant: Grant, batches: AsyncGenerator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """Context manager that yields the stream's items until the grant is lost."""
    waiting: asyncio.Timeout | None = None

    def stop() -> None:
        if waiting is not None:
            waiting.reschedule(0)

    async def items() -> AsyncGenerator[T]:
        nonlocal waiting
        while not grant.lost:
            try:
                async with asyncio.timeout(None) as waiting:
                    batch = await anext(batches)
            except StopAsyncIteration:
                return
            except TimeoutError:
                if not grant.lost:
                    raise
                return
            finally:
                waiting = None
            yield batch

    grant.when_lost = stop
    watch.add(grant)
    try:
        async with aclosing(items()) as stream:
            yield stream
    finally:
        watch.discard(grant)
        await batches.aclose()


def _digest(session_key: str) -> str:
    """Return a digest that identifies a session in messages without revealing its key."""
    return hashlib.sha256(session_key.encode()).hexdigest()


def end_streams_at_logout(sender: Any, request: HttpRequest, **kwargs: Any) -> None:
    """End the streams of a session; a receiver of `user_logged_out`, which is sent before the session is deleted."""
    if key := request.session.session_key:
        end_streams(key)


def end_streams(session_key: str) -> None:
    """End the streams of a session, in all processes."""
    async_to_sync(get_channel_layer().group_send)(GROUP, {"type": "signed.out", "sign_in": _digest(session_key)})


def end_sign_ins(sender: Any, instance: User, **kwargs: Any) -> None:
    """End the sessions of a user who was deactivated or deleted, so that none becomes valid again.

    A receiver of `post_save` and `post_delete`. The user of a session is known only from its data, so all unexpired
    sessions are read.
    """
    if "created" in kwargs and (instance.is_active or kwargs["created"]):
        return
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(auth.SESSION_KEY) == str(instance.pk):
            session.delete()


def recheck_streams(sender: Any, instance: User | ApiToken, **kwargs: Any) -> None:
    """Re-check the user's open streams after commit; a receiver of `post_save` and `post_delete`, also of tokens."""
    if kwargs.get("created") or kwargs.get("update_fields") in ({"last_login"}, {"last_used_at"}):
        return
    user_id = instance.user_id if isinstance(instance, ApiToken) else instance.pk
    message = {"type": "user.changed", "user_id": user_id}
    transaction.on_commit(lambda: async_to_sync(get_channel_layer().group_send)(GROUP, message), robust=True)
