"""Events reach every listener, in the process that runs the turn and in others: each once and in order."""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from channels.layers import get_channel_layer
from channels_redis.core import RedisChannelLayer
from django.contrib.auth.models import User
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from conversations import broker, turns
from conversations.events import Delta, DoneEvent, Event
from conversations.live_log import LiveLog
from conversations.models import ChatSession
from knowledge.models import KnowledgeBase
from ragsite.llm.types import TextPiece
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"
WORDS = [f"w{number} " for number in range(8)]


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = shutil.which("redis-server")
    assert program, "redis-server is missing; on Debian: apt-get install redis-server"
    socket = tmp_path_factory.mktemp("redis") / "socket"
    quiet = ["--port", "0", "--save", "", "--appendonly", "no", "--loglevel", "warning"]
    with subprocess.Popen([program, "--unixsocket", str(socket), *quiet], cwd=socket.parent) as server:
        try:
            client = redis.Redis(unix_socket_path=str(socket), retry=Retry(ConstantBackoff(0.05), 1200))
            assert client.ping()
            yield f"unix://{socket}"
        finally:
            server.terminate()


@pytest.fixture
def redis_layer(redis_server: str, settings: Any) -> None:
    redis = {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [redis_server]}}
    settings.CHANNEL_LAYERS = {"default": redis}


@pytest.fixture
def elsewhere(redis_layer: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have listeners know as little of the turns that run here as another process does."""

    class Unknown(dict[int, LiveLog]):
        def __contains__(self, message_id: object) -> bool:
            return False

    monkeypatch.setattr(broker, "running", Unknown())


def slow_words(fake_llm: FakeLLM, *before: asyncio.Event) -> None:
    fake_llm.enqueue([*before, *(item for word in WORDS for item in (TextPiece(word), 0.06))])


def text_of(events: list[Event]) -> str:
    return "".join(event.text or "" for event in events if isinstance(event, Delta))


async def listened(message_id: int, after_seq: int = 0) -> list[Event]:
    async with asyncio.timeout(60):
        return [event async for event in broker.listen(message_id, after_seq)]


def whole(events: list[Event], after_seq: int = 0) -> bool:
    return [event.seq for event in events] == list(range(after_seq + 1, events[-1].seq + 1)) and isinstance(
        events[-1], DoneEvent
    )


async def test_another_process_hears_what_is_written_while_it_is(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, elsewhere: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(broker, "PATIENCE", 60.0)  # so that nothing live comes from the database
    heard, end = asyncio.Event(), asyncio.Event()
    fake_llm.enqueue([heard, *(item for word in WORDS for item in (TextPiece(word), 0.06)), end])
    started = await turns.start_turn(owner, turns.Ask(session.pk, RESET))
    events: list[Event] = []
    async with asyncio.timeout(60):
        async for event in broker.listen(started.assistant_message_id):
            events.append(event)
            heard.set()  # it listens now
            if isinstance(event, Delta) and text_of(events).split() == "".join(WORDS).split():
                assert await turns.stop_turn(owner, started.assistant_message_id)
    await turns.wait_for_all()
    assert whole(events) and text_of(events).split() == "".join(WORDS).split()


async def test_what_a_layer_drops_comes_from_the_database(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, elsewhere: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    sent = 0
    group_send = RedisChannelLayer.group_send

    async def dropping(self: Any, group: str, message: dict[str, Any]) -> None:
        nonlocal sent
        sent += 1
        if sent % 3:
            await group_send(self, group, message)

    monkeypatch.setattr(RedisChannelLayer, "group_send", dropping)
    slow_words(fake_llm)
    started = await turns.start_turn(owner, turns.Ask(session.pk, RESET))
    events = await listened(started.assistant_message_id)
    await turns.wait_for_all()
    assert whole(events) and text_of(events) == "".join(WORDS)


async def test_a_layer_that_is_away_harms_no_answer(
    owner: User,
    handbook: KnowledgeBase,
    session: ChatSession,
    fake_llm: FakeLLM,
    redis_layer: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(self: Any, group: str, message: dict[str, Any]) -> None:
        raise ConnectionError

    monkeypatch.setattr(RedisChannelLayer, "group_send", away)
    slow_words(fake_llm)
    started = await turns.start_turn(owner, turns.Ask(session.pk, RESET))
    events = await listened(started.assistant_message_id)
    await turns.wait_for_all()
    assert whole(events) and text_of(events) == "".join(WORDS)
    assert isinstance(events[-1], DoneEvent) and events[-1].status == "completed"


async def test_other_processes_hear_on_once_the_layer_is_back(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, elsewhere: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(broker, "PATIENCE", 60.0)
    there, lost, back = asyncio.Event(), asyncio.Event(), asyncio.Event()
    group_add, group_send = RedisChannelLayer.group_add, RedisChannelLayer.group_send

    async def told(self: Any, group: str, channel: str) -> None:
        await group_add(self, group, channel)
        there.set()

    async def away_at_first(self: Any, group: str, message: dict[str, Any]) -> None:
        if not back.is_set():
            if any(event["type"] == "delta" for event in message["events"]):
                lost.set()
            raise ConnectionError("away")
        await group_send(self, group, message)

    monkeypatch.setattr(RedisChannelLayer, "group_add", told)
    monkeypatch.setattr(RedisChannelLayer, "group_send", away_at_first)
    fake_llm.enqueue([there, TextPiece("first "), back, *map(TextPiece, WORDS)])
    started = await turns.start_turn(owner, turns.Ask(session.pk, RESET))
    listening = asyncio.create_task(listened(started.assistant_message_id))
    async with asyncio.timeout(60):
        await lost.wait()
    back.set()
    events = await listening
    await turns.wait_for_all()
    assert whole(events) and text_of(events) == "first " + "".join(WORDS)


async def test_who_listens_here_needs_no_layer_and_leaves_none_behind(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    heard = asyncio.Event()
    slow_words(fake_llm, heard)
    started = await turns.start_turn(owner, turns.Ask(session.pk, RESET))
    listener = broker.listen(started.assistant_message_id)
    first = await anext(listener)
    heard.set()
    assert first.seq == 1 and broker.group(started.assistant_message_id) not in get_channel_layer().groups
    events = [first] + [event async for event in listener]
    await turns.wait_for_all()
    assert whole(events) and text_of(events) == "".join(WORDS)
    assert started.assistant_message_id not in broker.running


async def test_a_log_is_followed_by_many_at_their_own_pace() -> None:
    log = LiveLog()

    async def follow(after_seq: int, pause: float) -> list[int]:
        seen = []
        async for events in log.follow(after_seq):
            seen += [event.seq for event in events]
            await asyncio.sleep(pause)
        return seen

    followers = [asyncio.create_task(follow(after, pause)) for after, pause in ((0, 0), (0, 0.02), (3, 0), (9, 0))]
    for seq in range(1, 7):
        log.append(Delta(seq=seq, id="b1", text="w"))
        await asyncio.sleep(0.005)
    log.close()
    everything = list(range(1, 7))
    assert await asyncio.gather(*followers) == [everything, everything, [4, 5, 6], []]
    assert await follow(2, 0) == [3, 4, 5, 6]
