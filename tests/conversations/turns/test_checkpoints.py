"""Tests of checkpoints: ended blocks and plain text are stored soon, and no event twice."""

import asyncio
import json
import threading
import time

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import DataError, OperationalError
from django.test import Client

from conversations.events import Answer, BlockEnd, BlockStart, Delta, Event, fold
from conversations.models import ChatSession, Message
from conversations.pipeline.graph import Context, Graph, Node
from conversations.pipeline.nodes.save_question import SaveQuestion
from conversations.pipeline.state import State
from conversations.turns import broker, checkpoints, lifecycle, runner
from ragsite.db import in_database
from tests.conversations.records import make_turn
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)


class Blocks(Node):
    """Writes two blocks in quick succession, and runs until it may end."""

    key = "blocks"
    may_end: asyncio.Event
    words = ""
    ends_blocks = True

    async def run(self, state: State, ctx: Context) -> None:
        for name in ("b1", "b2"):
            await ctx.emit(BlockStart(id=name, kind="text"))
            await ctx.emit(Delta(id=name, text=self.words))
            if self.ends_blocks:
                await ctx.emit(BlockEnd(id=name))
        await self.may_end.wait()


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "pipeline", lambda name: Graph([SaveQuestion(), Blocks()]))
    monkeypatch.setattr(Blocks, "may_end", asyncio.Event(), raising=False)


async def ended(started: lifecycle.Started) -> tuple[Message, list[Event]]:
    events = [event async for event in broker.listen(started.assistant_message_id)]
    await wait_for_all()
    return await Message.objects.aget(pk=started.assistant_message_id), events


async def test_blocks_that_end_together_share_a_checkpoint(
    owner: User, session: ChatSession, pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[int] = []
    loop = asyncio.get_running_loop()
    store = checkpoints._store

    def remembered(rows: list[str]) -> set[int]:
        stored.extend(len(json.loads(row)["events"]) for row in rows)
        loop.call_soon_threadsafe(Blocks.may_end.set)
        return store(rows)

    monkeypatch.setattr(checkpoints, "_store", remembered)
    monkeypatch.setattr(runner, "CHECKPOINT_INTERVAL", 60.0)  # so that only ended blocks cause one
    message, events = await ended(await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, "What?")))
    assert len(stored) == 1 and stored[0] == len(events) - 1  # all but `done`
    assert message.status == "completed"


@pytest.mark.parametrize("ends_blocks", [True, False])
async def test_first_text_is_stored_at_once(
    ends_blocks: bool,
    owner: User,
    as_owner: Client,
    session: ChatSession,
    pipeline: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "CHECKPOINT_INTERVAL", 60.0)
    monkeypatch.setattr(Blocks, "ends_blocks", ends_blocks)
    stored = asyncio.Event()
    loop = asyncio.get_running_loop()
    store = checkpoints._store

    def noticed(rows: list[str]) -> set[int]:
        alive = store(rows)
        loop.call_soon_threadsafe(stored.set)
        return alive

    monkeypatch.setattr(checkpoints, "_store", noticed)
    monkeypatch.setattr(Blocks, "words", "Hold the button. ")
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, "What?"))
    await asyncio.wait_for(stored.wait(), 60)
    shown = (await in_database(as_owner.get, f"/api/chat/messages/{started.assistant_message_id}")).json()
    Blocks.may_end.set()
    await ended(started)
    assert shown["status"] == "streaming" and shown["content"].startswith("Hold the button.")


async def test_end_during_a_checkpoint_stores_no_event_twice(
    owner: User, session: ChatSession, pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    store = checkpoints._store

    def slow(rows: list[str]) -> set[int]:
        loop.call_soon_threadsafe(begun.set)
        time.sleep(0.3)
        return store(rows)

    monkeypatch.setattr(checkpoints, "_store", slow)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, "What?"))
    await asyncio.wait_for(begun.wait(), 60)
    await lifecycle.stop_turn(owner, started.assistant_message_id)
    message, _events = await ended(started)
    numbers = [event["seq"] for event in message.stream_log]
    assert numbers == list(range(1, len(numbers) + 1)) and message.status == "stopped"


async def saved(messages: list[Message], texts: list[str]) -> list[bool | BaseException]:
    async def one(message: Message, text: str) -> bool:
        events: list[Event] = [BlockStart(seq=1, id="b1", kind="text"), Delta(seq=2, id="b1", text=text)]
        return await checkpoints.save(message.pk, fold([event.to_dict() for event in events]), events)

    return await asyncio.gather(*map(one, messages, texts), return_exceptions=True)


async def stored(messages: list[Message]) -> list[tuple[str, int, int]]:
    found = [await Message.objects.aget(pk=message.pk) for message in messages]
    return [(message.content, message.last_seq, len(message.stream_log)) for message in found]


async def test_simultaneous_answers_are_stored_in_one_statement(
    session: ChatSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    store = checkpoints._store
    monkeypatch.setattr(checkpoints, "_store", lambda rows: batches.append(len(rows)) or store(rows))
    states = ["streaming", "stopped", "streaming"]
    messages = [await in_database(make_turn, session, status=status, stream_log=[]) for status in states]
    before = await stored(messages[1:2])
    assert await saved(messages, ["One.", "Two.", "Three."]) == [True, False, True]
    assert await stored(messages) == [("One.", 2, 2), *before, ("Three.", 2, 2)]
    beaten = (await Message.objects.aget(pk=messages[0].pk)).heartbeat_at
    assert await checkpoints.save(messages[0].pk, Answer(), [BlockEnd(seq=3, id="b1")]) is True  # later, alone
    message = await Message.objects.aget(pk=messages[0].pk)
    assert [event["seq"] for event in message.stream_log] == [1, 2, 3]
    assert message.heartbeat_at is not None and beaten is not None and message.heartbeat_at > beaten
    assert batches == [3, 1]


async def test_unstorable_answer_does_not_block_others(session: ChatSession, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    store = checkpoints._store
    monkeypatch.setattr(checkpoints, "_store", lambda rows: batches.append(len(rows)) or store(rows))
    messages = [await in_database(make_turn, session, status="streaming") for _ in range(3)]
    one, two, three = await saved(messages, ["One.", "T\x00o.", "Three."])
    assert (one, three) == (True, True) and isinstance(two, DataError)
    assert [content for content, _seq, _log in await stored([messages[0], messages[2]])] == ["One.", "Three."]
    assert batches == [3, 1, 1, 1]
    [alone] = await saved(messages[1:2], ["T\x00o."])
    assert isinstance(alone, DataError) and batches == [3, 1, 1, 1, 1], "what failed alone is not tried again"


async def test_unavailable_database_is_reported_at_once(session: ChatSession, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []

    def away(rows: list[str]) -> set[int]:
        batches.append(len(rows))
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(checkpoints, "_store", away)
    messages = [await in_database(make_turn, session, status="streaming") for _ in range(3)]
    assert [type(error) for error in await saved(messages, ["One.", "Two.", "Three."])] == [OperationalError] * 3
    assert batches == [3], "nobody asks again alone"


async def test_oversized_answer_does_not_block_others(session: ChatSession, monkeypatch: pytest.MonkeyPatch) -> None:
    store = checkpoints._store

    def refuse(rows: list[str]) -> set[int]:
        if any("Too large." in row for row in rows):
            raise OperationalError("too large") from psycopg.errors.ProgramLimitExceeded()
        return store(rows)

    monkeypatch.setattr(checkpoints, "_store", refuse)
    messages = [await in_database(make_turn, session, status="streaming") for _ in range(2)]
    one, two = await saved(messages, ["One.", "Too large."])
    assert one is True and isinstance(two, OperationalError)


async def test_cancelled_answer_does_not_block_others(session: ChatSession, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    store = checkpoints._store

    def slow(rows: list[str]) -> set[int]:
        loop.call_soon_threadsafe(begun.set)
        assert go_on.wait(60)
        return store(rows)

    monkeypatch.setattr(checkpoints, "_store", slow)
    messages = [await in_database(make_turn, session, status="streaming") for _ in range(2)]
    given_up, kept = (asyncio.create_task(checkpoints.save(message.pk, Answer(), [])) for message in messages)
    await asyncio.wait_for(begun.wait(), 60)
    given_up.cancel()
    await asyncio.wait({given_up})
    go_on.set()
    assert await kept is True and given_up.cancelled()
