"""Tests that events reach every listener in any process, each once and in order."""

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.utils import timezone
from redis.asyncio import Redis

from conversations import turn_store
from conversations.events import BlockEnd, BlockStart, Delta, DoneEvent, ErrorEvent, Event, SessionEvent, fold
from conversations.groups import message_group
from conversations.models import ChatSession, Message, Turn
from conversations.turns import broker, lifecycle
from conversations.turns.live_log import LiveLog
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.types import TextPiece
from ragsite.runtime.redis_backends.channel_layer import PREFIX, RedisLayer
from tests.fakes.llm import FakeLLM
from tests.redis_server import RedisServer
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"
WORDS = [f"w{number} " for number in range(8)]


Layers = dict[str, RedisLayer]


@pytest.fixture
async def layers(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Layers]:
    """The layers of two processes: turns send through one, and listeners receive from the other."""
    layers = {side: RedisLayer(redis_server.url, capacity=1000) for side in ("writer", "listener")}
    side = ContextVar("side", default="listener")
    relay = broker.relay

    async def relay_by_the_writers(message_id: int, log: LiveLog) -> None:
        side.set("writer")  # only for this task
        await relay(message_id, log)

    monkeypatch.setattr(broker, "relay", relay_by_the_writers)
    monkeypatch.setattr(broker, "get_channel_layer", lambda: layers[side.get()])
    yield layers
    for layer in layers.values():
        await layer.close()


@pytest.fixture
def elsewhere(layers: Layers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide running turns from listeners, as in another process."""

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


async def test_other_process_receives_live_events(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, elsewhere: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(broker, "PATIENCE", 60.0)  # so that live events don't come from the database
    heard, end = asyncio.Event(), asyncio.Event()
    fake_llm.enqueue([heard, *(item for word in WORDS for item in (TextPiece(word), 0.06)), end])
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    events: list[Event] = []
    async with asyncio.timeout(60):
        async for event in broker.listen(started.assistant_message_id):
            events.append(event)
            heard.set()  # it is listening now
            if isinstance(event, Delta) and text_of(events).split() == "".join(WORDS).split():
                assert await lifecycle.stop_turn(owner, started.assistant_message_id)
    await wait_for_all()
    assert whole(events) and text_of(events).split() == "".join(WORDS).split()


async def test_dropped_events_are_read_from_the_database(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, elsewhere: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    sent = 0
    group_send = RedisLayer.group_send

    async def dropping(self: Any, group: str, message: dict[str, Any]) -> None:
        nonlocal sent
        sent += 1
        if sent % 3:
            await group_send(self, group, message)

    monkeypatch.setattr(RedisLayer, "group_send", dropping)
    slow_words(fake_llm)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    events = await listened(started.assistant_message_id)
    await wait_for_all()
    assert whole(events) and text_of(events) == "".join(WORDS)


async def test_unavailable_layer_does_not_affect_answers(
    owner: User,
    handbook: KnowledgeBase,
    session: ChatSession,
    fake_llm: FakeLLM,
    layers: Layers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(self: Any, group: str, message: dict[str, Any]) -> None:
        raise ConnectionError

    monkeypatch.setattr(RedisLayer, "group_send", away)
    slow_words(fake_llm)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    events = await listened(started.assistant_message_id)
    await wait_for_all()
    assert whole(events) and text_of(events) == "".join(WORDS)
    assert isinstance(events[-1], DoneEvent) and events[-1].status == "completed"


async def test_other_processes_continue_once_the_layer_is_back(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, elsewhere: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(broker, "PATIENCE", 60.0)
    there, lost, back = asyncio.Event(), asyncio.Event(), asyncio.Event()
    group_add, group_send = RedisLayer.group_add, RedisLayer.group_send

    async def added(self: Any, group: str, channel: str) -> None:
        await group_add(self, group, channel)
        there.set()

    async def away_at_first(self: Any, group: str, message: dict[str, Any]) -> None:
        if not back.is_set():
            if any(event["type"] == "delta" for event in message["events"]):
                lost.set()
            raise ConnectionError("away")
        await group_send(self, group, message)

    monkeypatch.setattr(RedisLayer, "group_add", added)
    monkeypatch.setattr(RedisLayer, "group_send", away_at_first)
    fake_llm.enqueue([there, TextPiece("first "), back, *map(TextPiece, WORDS)])
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    listening = asyncio.create_task(listened(started.assistant_message_id))
    async with asyncio.timeout(60):
        await lost.wait()
    back.set()
    events = await listening
    await wait_for_all()
    assert whole(events) and text_of(events) == "first " + "".join(WORDS)


async def test_local_listeners_need_no_layer(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    heard = asyncio.Event()
    slow_words(fake_llm, heard)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    listener = broker.listen(started.assistant_message_id)
    first = await anext(listener)
    heard.set()
    assert first.seq == 1 and message_group(started.assistant_message_id) not in get_channel_layer().groups
    events = [first] + [event async for event in listener]
    await wait_for_all()
    assert whole(events) and text_of(events) == "".join(WORDS)
    assert started.assistant_message_id not in broker.running


async def test_log_has_many_followers_at_their_own_pace() -> None:
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


async def half_an_answer(session: ChatSession) -> Message:
    """Store an answer as of its last checkpoint, after which two more events were sent but not stored."""
    turn = await Turn.objects.acreate(session=session)
    await Message.objects.acreate(turn=turn, role="user", content="q")
    log: list[Event] = [
        SessionEvent(seq=1, session_id=session.pk, turn_id=turn.pk, request_id="", user_message_id=1,
                     assistant_message_id=2),
        BlockStart(seq=2, id="b1", kind="text"), Delta(seq=3, id="b1", text="stored "),
    ]  # fmt: skip
    return await Message.objects.acreate(
        turn=turn, role="assistant", status="streaming", last_seq=3, heartbeat_at=timezone.now(),
        stream_log=[event.to_dict() for event in log], blocks=fold(log).blocks,
    )  # fmt: skip


LOST = [Delta(seq=seq, id="b1", text=f"sent{seq} ") for seq in (4, 5, 6, 7)]


async def die(message: Message) -> None:
    await Message.objects.filter(pk=message.pk).aupdate(heartbeat_at=timezone.now() - timedelta(seconds=60))


async def subscribed(server: RedisServer, message_id: int) -> None:
    """Wait until Redis delivers the events of an answer to a process; earlier events are lost."""
    topic = f"{PREFIX}{message_group(message_id)}"
    async with asyncio.timeout(60), Redis.from_url(server.url) as client:
        while not dict(await client.pubsub_numsub(topic)).get(topic.encode()):
            await asyncio.sleep(0.01)


async def test_listener_ahead_of_the_database_keeps_its_events_and_gets_the_end(
    session: ChatSession, layers: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five listeners, one of which arrives after the end."""
    monkeypatch.setattr(broker, "PATIENCE", 0.5)
    message = await half_an_answer(session)
    heard: list[list[Event]] = [[] for _listener in range(4)]

    async def follow(events: list[Event]) -> None:
        async for event in broker.listen(message.pk):
            events.append(event)

    async def until(count: int) -> None:
        async with asyncio.timeout(60):
            while any(len(events) < count for events in heard):
                await layers["writer"].group_send(
                    message_group(message.pk),
                    {"type": "turn.events", "events": [event.to_dict() for event in LOST[: count - 3]]},
                )
                await asyncio.sleep(0.05)

    async with asyncio.TaskGroup() as listeners:
        for events in heard:
            listeners.create_task(follow(events))
        await until(5)
        await until(7)
        await die(message)
    late = await listened(message.pk)
    for events in [*heard, late]:
        assert whole(events) and text_of(events) == "stored sent4 sent5 sent6 sent7 "
        assert isinstance(events[-2], ErrorEvent) and isinstance(events[-1], DoneEvent)
    await message.arefresh_from_db()
    assert (message.status, message.content, message.last_seq) == ("interrupted", "stored sent4 sent5 sent6 sent7", 9)


@pytest.mark.parametrize("seen", [3, 4, 5, 6, 40])
@pytest.mark.parametrize("ended_before", [False, True])
async def test_reconnecting_client_ahead_of_the_database_gets_the_end(
    session: ChatSession, seen: int, ended_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if a process died while answering, and a client reconnects to another with the last number it saw."""
    monkeypatch.setattr(broker, "PATIENCE", 0.05)
    message = await half_an_answer(session)
    if not ended_before:
        listening = asyncio.create_task(listened(message.pk, seen))
        async with asyncio.timeout(60):
            while not get_channel_layer().groups:
                await asyncio.sleep(0.01)
    await die(message)
    if ended_before:
        await in_database(turn_store.interrupt_stale)
        if seen in (4, 5):  # numbers of the end: other events that had them can't be known
            return
        listening = asyncio.create_task(listened(message.pk, seen))
    events = await listening
    assert whole(events, seen)
    assert [event.type for event in events] == ["error", "done"]
    await message.arefresh_from_db()
    assert message.last_seq == events[-1].seq
    assert await listened(message.pk, events[-1].seq) == []


@pytest.mark.parametrize("count", range(1, len(LOST) + 1))
async def test_listener_at_the_number_of_the_end_gets_it(
    session: ChatSession, layers: Layers, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """The orphan watch, which received no events, ended the answer before the listeners."""
    monkeypatch.setattr(broker, "PATIENCE", 0.2)
    lost = LOST[:count]
    message = await half_an_answer(session)
    listener = broker.listen(message.pk)
    events = [await anext(listener) for _event in range(3)]
    await subscribed(redis_server, message.pk)
    await layers["writer"].group_send(
        message_group(message.pk), {"type": "turn.events", "events": [event.to_dict() for event in lost]}
    )
    async with asyncio.timeout(60):
        events += [await anext(listener) for _event in lost]
        await die(message)
        await in_database(turn_store.interrupt_stale)
        events += [event async for event in listener]
    assert whole(events) and events[-1].type == "done"
    assert events[-2].type == ("error" if count > 1 else "delta"), "of the two one alone may have its number taken"


async def test_late_writer_overwrites_the_interruption(session: ChatSession) -> None:
    message = await half_an_answer(session)
    await die(message)
    assert await in_database(turn_store.interrupt_stale, LOST, 7) == 1
    late: list[Event] = [*LOST, BlockEnd(seq=8, id="b1"), DoneEvent(seq=9, status="completed")]
    answer = fold([*message.stream_log, *late])
    await in_database(turn_store.finish, message.pk, answer, [event.to_dict() for event in late])
    await message.arefresh_from_db()
    assert (message.status, message.last_seq) == ("completed", 9)
    events = await listened(message.pk)
    assert whole(events) and fold(events).blocks == message.blocks and len(events) == 9
