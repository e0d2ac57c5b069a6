"""The channel layer and the cache of a site with Redis, before, during and after an outage."""

import asyncio
import logging
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import TimeoutError as RedisTimeout

from ragsite.accounts import lockout
from ragsite.runtime.redis_backends import channel_layer, redis_cache
from ragsite.runtime.redis_backends.channel_layer import RedisLayer
from tests.redis_server import RedisServer
from tests.site import ROOT

# Seconds after which what should come is given up.
PATIENCE = 60


@asynccontextmanager
async def processes(server: RedisServer, count: int = 2) -> AsyncIterator[list[RedisLayer]]:
    """Have layers that know of each other by Redis alone, as those of as many processes do."""
    async with AsyncExitStack() as stack:
        layers = [RedisLayer(server.url, capacity=1000) for _process in range(count)]
        for layer in layers:
            stack.push_async_callback(layer.close)
        yield layers


async def member(layer: RedisLayer, group: str) -> str:
    channel = await layer.new_channel()
    await layer.group_add(group, channel)
    return channel


async def received(layer: RedisLayer, channel: str) -> Any:
    async with asyncio.timeout(PATIENCE):
        return await layer.receive(channel)


async def until_heard(sender: RedisLayer, listener: RedisLayer, channel: str, group: str) -> None:
    """Send until something comes: to follow a group takes a moment, as coming back does."""
    waiting = asyncio.create_task(received(listener, channel))
    while not waiting.done():
        await sender.group_send(group, {"type": "again"})
        await asyncio.wait({waiting}, timeout=0.05)
    waiting.result()


async def until(ready: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not ready():
            await asyncio.sleep(0.02)


async def test_all_members_hear_a_message_once(redis_server: RedisServer) -> None:
    async with processes(redis_server, 3) as (here, there, nobody):
        channels = [(layer, await member(layer, "a")) for layer in (here, here, there)]
        await until_heard(nobody, there, channels[2][1], "a")
        await here.group_send("a", {"type": "news", "text": "端口"})
        await here.group_send("a", {"type": "end"})
        for layer, channel in channels:
            heard = []
            while not heard or heard[-1]["type"] != "end":
                heard.append(await received(layer, channel))
            assert [item for item in heard if item["type"] != "again"] == [
                {"type": "news", "text": "端口"},
                {"type": "end"},
            ]


async def test_after_leaving_a_group_no_messages_are_received(redis_server: RedisServer) -> None:
    async with processes(redis_server) as (here, there):
        left, stays = await member(there, "a"), await member(there, "b")
        await until_heard(here, there, left, "a")
        await there.group_discard("a", left)
        await until_heard(here, there, stays, "b")
        await here.group_send("a", {"type": "late"})
        await until_heard(here, there, stays, "b")
        assert left not in there.channels or there.channels[left].empty()
        await until(lambda: len(there._pubsub.channels) == 2)  # the group that is left, and the process's own


async def test_a_listener_that_long_hears_nothing_stays(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its wait is longer than the time in which Redis has to answer."""
    monkeypatch.setitem(redis_cache.TIMEOUTS, "socket_timeout", 1.0)
    monkeypatch.setattr(channel_layer, "IDLE", 1.5)
    async with processes(redis_server) as (here, there):
        channel = await member(there, "a")
        await until_heard(here, there, channel, "a")
        listener, connection = there._listener, there._pubsub
        waiting = asyncio.create_task(received(there, channel))
        await asyncio.sleep(4)
        await here.group_send("a", {"type": "news"})
        assert (await waiting)["type"] in ("again", "news")
        assert (there._listener, there._pubsub) == (listener, connection)
    assert not caplog.records


async def test_without_redis_a_process_hears_itself_and_later_the_others_again(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(channel_layer, "PAUSE", 0.05)
    async with processes(redis_server) as (here, there):
        own, others = await member(here, "a"), await member(there, "a")
        await until_heard(here, there, others, "a")
        redis_server.kill()
        assert not here._away
        await here.group_send("a", {"type": "before anyone has noticed"})
        while (await received(here, own))["type"] == "again":
            pass
        await until(lambda: here._away and there._away)
        joined = await member(here, "b")
        for channel, group in ((own, "a"), (joined, "b")):
            await here.group_send(group, {"type": "alone"})
            while (await received(here, channel))["type"] != "alone":
                pass
        redis_server.start()
        await until_heard(here, there, others, "a")
        await until_heard(there, here, joined, "b")
    for layer_says in ("Redis is unavailable", "Redis is back"):
        assert sum(layer_says in record.message for record in caplog.records) == 2  # of each process once


async def test_a_command_reaches_the_sockets_of_other_processes(redis_server: RedisServer) -> None:
    async with processes(redis_server) as (here, command):
        channel = await member(here, "a")
        await until_heard(here, here, channel, "a")
        await until(lambda: here._pubsub is not None)
        heard = threading.Event()

        def send() -> None:
            while not heard.is_set():  # until the server has taken in who listens
                async_to_sync(command.group_send)("a", {"type": "changed"})
                heard.wait(0.05)

        thread = threading.Thread(target=send)
        thread.start()
        while (await received(here, channel))["type"] != "changed":
            pass
        heard.set()
        await asyncio.to_thread(thread.join)


async def test_a_layer_that_has_just_begun_to_listen_can_be_closed(redis_server: RedisServer) -> None:
    async def begin_and_end(seconds: float) -> None:
        layer = RedisLayer(redis_server.url)
        await member(layer, "a")
        await asyncio.sleep(seconds)
        await layer.close()
        assert layer._listener is not None and layer._listener.done()

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(begin_and_end(number / 1000) for number in range(16)))


@pytest.mark.parametrize("pause", [0.0, 1000.0], ids=["as it tries again at once", "as it rests"])
async def test_a_layer_can_be_closed_whose_cancellation_meets_a_time_out(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    connecting, met = asyncio.Event(), list[BaseException]()

    async def connect(self: Any) -> None:
        connecting.set()
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError as cancellation:
            met.append(cancellation)
            if len(met) > 2:
                raise
            raise RedisTimeout from None  # as a time-out of the same moment does

    monkeypatch.setattr(AbstractConnection, "connect", connect)
    monkeypatch.setattr(channel_layer, "PAUSE", pause)
    layer = RedisLayer(redis_server.url)
    joining = asyncio.create_task(member(layer, "a"))
    async with asyncio.timeout(PATIENCE):
        await connecting.wait()
        await layer.close()
        await joining
    assert layer._listener is not None and layer._listener.done() and len(met) == 1


async def test_a_sender_does_not_listen(redis_server: RedisServer) -> None:
    """A command's event loop ends with its message, and would wait for a listener."""
    layer = RedisLayer(redis_server.url)
    await layer.group_send("a", {"type": "changed"})
    assert layer._listener is None


@pytest.fixture
def shared_cache(redis_server: RedisServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = {"BACKEND": "ragsite.runtime.redis_backends.redis_cache.RedisOrLocalCache", "LOCATION": redis_server.url}
    settings.CACHES = settings.CACHES | {"default": cache}
    monkeypatch.setattr(redis_cache, "REST", 0.0)


def test_counters_go_on_in_the_process_while_redis_is_away(
    redis_server: RedisServer, shared_cache: None, caplog: pytest.LogCaptureFixture
) -> None:
    cache = caches["default"]
    cache.set_many({"shared": 1, "count": 5})
    assert (cache.incr("count"), cache.get("shared"), cache.is_away()) == (6, 1, False)
    redis_server.kill()
    assert cache.get("shared") is None and cache.add("count", 1) and cache.incr("count") == 2
    cache.set("other", "x")
    assert cache.get_many(["count", "other", "none"]) == {"count": 2, "other": "x"}
    assert cache.touch("other") and cache.has_key("other") and cache.delete("other")
    cache.delete_many(["count"])
    assert cache.get("count") is None and cache.is_away()
    cache.set("kept", 1)
    redis_server.start()
    assert not cache.is_away() and cache.get("kept") is None
    cache.set("shared", 2)
    assert cache.get("shared") == 2
    said = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert [message.partition(";")[0] for message in said] == ["Redis is unavailable", "Redis is back"]


def test_redis_is_left_alone_for_a_while_after_it_was_away(
    redis_server: RedisServer, shared_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_cache, "REST", 1000.0)
    redis_server.kill()
    caches["default"].set("a", 1)
    redis_server.start()
    assert caches["default"].get("a") == 1  # what the process kept
    assert not caches["default"].is_away()
    assert caches["default"].get("a") is None


GUESSING = """
import sys, django
django.setup()
from ragsite.accounts.lockout import Guess, TooManyGuesses
for _try in range(int(sys.argv[1])):
    try:
        Guess("password", "owner", "10.0.0.1").begin()
    except TooManyGuesses as refusal:
        print("wait", refusal.wait)
    else:
        print("made")
"""


@pytest.mark.django_db
def test_guesses_are_counted_over_all_processes_and_in_each_while_redis_is_away(
    redis_server: RedisServer, shared_cache: None, owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = lockout.BY_ACCOUNT_AND_ADDRESS.free
    # A pause that outlasts the start of another process.
    limit = replace(lockout.BY_ACCOUNT_AND_ADDRESS, pause=600, longest=600)
    monkeypatch.setattr(lockout, "BY_ACCOUNT_AND_ADDRESS", limit)
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "ragsite.settings", "REDIS_URL": redis_server.url, "RAGSITE_DATA_DIR": str(tmp_path),
    }  # fmt: skip

    def elsewhere(tries: int) -> list[str]:
        command = [sys.executable, "-c", GUESSING, str(tries)]
        ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
        return ended.stdout.splitlines()

    def sign_in(password: str = "wrong") -> int:
        form = {"username": "owner", "password": password}
        return Client(REMOTE_ADDR="10.0.0.1").post(reverse("login"), form).status_code

    assert elsewhere(free) == ["made"] * free
    assert [sign_in(), sign_in()] == [200, 429], "the one that begins the pause, and one in it"
    assert [line.split()[0] for line in elsewhere(2)] == ["wait", "wait"]
    redis_server.kill()
    made = [sign_in() for _try in range(20)].count(200)
    assert made == free + 1, "by this process alone, from nothing"


@pytest.mark.django_db
def test_the_api_counts_by_itself_while_redis_is_away_and_the_probe_says_so(
    redis_server: RedisServer, shared_cache: None, as_owner: Client, settings: Any
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 3
    assert as_owner.get("/readyz").content == b"ok"
    assert as_owner.get("/api/knowledge-bases").status_code == 200
    redis_server.kill()
    assert [as_owner.get("/api/knowledge-bases").status_code for _request in range(4)] == [200, 200, 200, 429]
    probe = as_owner.get("/readyz")
    assert (probe.status_code, probe.content) == (200, b"degraded: redis")
    redis_server.start()
    assert as_owner.get("/readyz").content == b"ok"
    assert as_owner.get("/api/knowledge-bases").status_code == 200


def test_the_probe_does_not_wait_for_a_hanging_redis(redis_server: RedisServer, shared_cache: None) -> None:
    cache = caches["default"]
    assert not cache.is_away()
    redis_server.freeze()
    assert cache.is_away()
    probe = cache._probe.connection_pool.connection_kwargs
    assert probe["socket_timeout"] < redis_cache.TIMEOUTS["socket_timeout"]


@pytest.mark.django_db
def test_probes_are_answered_whatever_host_they_name(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["rag.example"]
    for probe in ("/healthz", "/readyz"):
        assert client.get(probe, headers={"host": "10.0.0.7:8000"}).content == b"ok"
    assert client.get("/login/", headers={"host": "10.0.0.7:8000"}).status_code == 400
    assert client.get("/login/", headers={"host": "rag.example"}).status_code == 200
