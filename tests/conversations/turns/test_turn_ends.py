"""Tests of the end of a turn: it isn't interrupted, and nobody waits for later work."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import ThreadSensitiveContext
from django.contrib.auth.models import User

from conversations import turn_store
from conversations.events import BlockStart, Delta, DoneEvent, fold
from conversations.models import ChatSession, Message
from conversations.pipeline.graph import Context, Graph, Node
from conversations.pipeline.nodes.save_question import SaveQuestion
from conversations.pipeline.state import State
from conversations.turns import broker, lifecycle
from ragsite.db import in_database
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)


class Writes(Node):
    """Writes a word, adds later work, and runs until the test lets it end."""

    key = "writes"
    timeout = None

    def __init__(self) -> None:
        self.end, self.go_on_later = asyncio.Event(), asyncio.Event()
        self.done_later = False

    async def run(self, state: State, ctx: Context) -> None:
        await ctx.emit(BlockStart(id="b1", kind="text"))
        await ctx.emit(Delta(id="b1", text="Hello"))
        ctx.later.append(self._later)
        await self.end.wait()
        assert await ChatSession.objects.acount()

    async def _later(self) -> None:
        await self.go_on_later.wait()
        self.done_later = await ChatSession.objects.aexists()


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Writes:
    node = Writes()
    graph = Graph([SaveQuestion(), node])
    monkeypatch.setattr(lifecycle, "pipeline", lambda name: graph)
    return node


class Held:
    """A function on a database thread that starts, and continues when the test lets it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.begun, self.go_on = asyncio.Event(), threading.Event()
        self._function, self._loop = function, asyncio.get_running_loop()

    def __call__(self, *args: Any) -> Any:
        self._loop.call_soon_threadsafe(self.begun.set)
        assert self.go_on.wait(60)
        return self._function(*args)


async def begin(owner: User, session: ChatSession) -> tuple[int, asyncio.Task[DoneEvent]]:
    """Ask, wait for the first word, and return the answer's id and a task that listens until the end."""
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, "What?"))
    word = asyncio.Event()

    async def listen() -> DoneEvent:
        async for event in broker.listen(started.assistant_message_id):
            if isinstance(event, Delta):
                word.set()
            elif isinstance(event, DoneEvent):
                return event
        raise AssertionError("The stream has no end.")

    task = asyncio.create_task(listen())
    await word.wait()
    return started.assistant_message_id, task


async def status_of(message_id: int) -> str:
    return (await Message.objects.aget(pk=message_id)).status


async def test_stop_does_not_wait_for_later_work(owner: User, session: ChatSession, node: Writes) -> None:
    message_id, end = await begin(owner, session)
    async with asyncio.timeout(20):
        assert await lifecycle.stop_turn(owner, message_id)
    assert (await status_of(message_id), (await end).status) == ("stopped", "stopped")
    node.go_on_later.set()
    await wait_for_all()
    assert node.done_later


async def test_turn_outlives_its_request_and_thread(owner: User, session: ChatSession, node: Writes) -> None:
    with ThreadPoolExecutor(1) as thread:
        async with ThreadSensitiveContext(executor=thread):
            _message_id, end = await begin(owner, session)
    node.end.set()
    node.go_on_later.set()
    assert (await end).status == "completed"
    await wait_for_all()
    assert node.done_later


async def test_later_work_can_not_be_stopped(owner: User, session: ChatSession, node: Writes) -> None:
    message_id, end = await begin(owner, session)
    node.end.set()
    assert (await end).status == "completed"
    assert not await lifecycle.stop_turn(owner, message_id)
    assert not lifecycle.running()
    node.go_on_later.set()
    await wait_for_all()
    assert node.done_later and await status_of(message_id) == "completed"


async def test_second_stop_also_waits_for_the_end(
    owner: User, session: ChatSession, node: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_store, "finish", finish := Held(turn_store.finish))
    message_id, end = await begin(owner, session)

    async def stop() -> str:
        await lifecycle.stop_turn(owner, message_id)
        return await status_of(message_id)

    first = asyncio.create_task(stop())
    await finish.begun.wait()
    second = asyncio.create_task(stop())
    await asyncio.wait({second}, timeout=0.3)  # time enough to return too early
    finish.go_on.set()
    assert [await first, await second] == ["stopped", "stopped"]
    assert (await end).status == "stopped"
    node.go_on_later.set()
    await wait_for_all()
    assert node.done_later


@pytest.mark.parametrize("by", ["stop", "interrupt"])
async def test_answer_being_stored_stays_completed(
    owner: User, session: ChatSession, node: Writes, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(turn_store, "finish", finish := Held(turn_store.finish))
    message_id, end = await begin(owner, session)
    node.end.set()
    await finish.begun.wait()
    ending = lifecycle.stop_turn(owner, message_id) if by == "stop" else lifecycle.interrupt_all(60)
    cut = asyncio.create_task(ending)  # type: ignore[arg-type]
    await asyncio.wait({cut}, timeout=0.3)
    finish.go_on.set()
    assert not await cut
    assert (await status_of(message_id), (await end).status) == ("completed", "completed")
    node.go_on_later.set()
    await wait_for_all()


async def test_answer_wrongly_interrupted_has_one_end(
    owner: User, session: ChatSession, node: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_store, "STALE_AFTER", timedelta(0))  # as if this process had hung for long
    message_id, end = await begin(owner, session)
    while not await in_database(turn_store.interrupt_stale, message_id=message_id):
        pass  # until it has just been stored
    assert (await end).status == "stopped"
    node.go_on_later.set()
    await wait_for_all()
    message = await Message.objects.aget(pk=message_id)
    assert [event["seq"] for event in message.stream_log] == list(range(1, message.last_seq + 1))
    answer = fold(message.stream_log)
    assert (answer.status, answer.error, answer.blocks) == (message.status, None, message.blocks)
    assert (message.status, message.content, message.error_code) == ("stopped", "Hello", "")
