"""Checkpoints of an answer: a block that ended is stored soon, its plain text too, and no event twice."""

import asyncio
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from conversations import broker, runner, store, turns
from conversations.events import BlockEnd, BlockStart, Delta, Event
from conversations.models import ChatSession, Message
from conversations.pipeline.graph import Emit, Graph, Node
from conversations.pipeline.nodes.save_question import SaveQuestion
from conversations.pipeline.state import State
from ragsite.db import in_database

pytestmark = pytest.mark.django_db(transaction=True)


class Blocks(Node):
    """Writes two blocks, one right after the other, and goes on until it may end."""

    key = "blocks"
    may_end: asyncio.Event
    words = ""

    async def run(self, state: State, emit: Emit) -> State:
        for name in ("b1", "b2"):
            await emit(BlockStart(id=name, kind="text"))
            await emit(Delta(id=name, text=self.words))
            await emit(BlockEnd(id=name))
        await self.may_end.wait()
        return state


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "pipeline", lambda: Graph([SaveQuestion(), Blocks()]))
    monkeypatch.setattr(Blocks, "may_end", asyncio.Event(), raising=False)


async def ended(started: turns.Started) -> tuple[Message, list[Event]]:
    events = [event async for event in broker.listen(started.assistant_message_id)]
    await turns.wait_for_all()
    return await Message.objects.aget(pk=started.assistant_message_id), events


async def test_blocks_that_end_together_share_a_checkpoint(
    owner: User, session: ChatSession, pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[int] = []
    loop = asyncio.get_running_loop()
    checkpoint = store.checkpoint

    def remembered(message_id: int, answer: Any, events: list[dict[str, Any]]) -> bool:
        stored.append(len(events))
        loop.call_soon_threadsafe(Blocks.may_end.set)
        return checkpoint(message_id, answer, events)

    monkeypatch.setattr(store, "checkpoint", remembered)
    monkeypatch.setattr(runner, "CHECKPOINT_INTERVAL", 60.0)  # so that only the blocks' ends call for one
    message, events = await ended(await turns.start_turn(owner, turns.Ask(session.pk, "What?")))
    assert len(stored) == 1 and stored[0] == len(events) - 1  # all but `done`
    assert message.status == "completed"


async def test_the_plain_text_of_what_came_is_stored_while_more_is_to_come(
    owner: User, as_owner: Client, session: ChatSession, pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = asyncio.Event()
    loop = asyncio.get_running_loop()
    checkpoint = store.checkpoint

    def noticed(*arguments: Any) -> bool:
        alive = checkpoint(*arguments)
        loop.call_soon_threadsafe(stored.set)
        return alive

    monkeypatch.setattr(store, "checkpoint", noticed)
    monkeypatch.setattr(Blocks, "words", "Hold the button. ")
    started = await turns.start_turn(owner, turns.Ask(session.pk, "What?"))
    await asyncio.wait_for(stored.wait(), 60)
    shown = (await in_database(as_owner.get, f"/api/chat/messages/{started.assistant_message_id}")).json()
    Blocks.may_end.set()
    await ended(started)
    assert (shown["status"], shown["content"]) == ("streaming", "Hold the button.\n\nHold the button.")


async def test_an_end_while_a_checkpoint_is_written_stores_no_event_twice(
    owner: User, session: ChatSession, pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    checkpoint = store.checkpoint

    def slow(*arguments: Any) -> bool:
        loop.call_soon_threadsafe(begun.set)
        time.sleep(0.3)
        return checkpoint(*arguments)

    monkeypatch.setattr(store, "checkpoint", slow)
    started = await turns.start_turn(owner, turns.Ask(session.pk, "What?"))
    await asyncio.wait_for(begun.wait(), 60)
    await turns.stop_turn(owner, started.assistant_message_id)
    message, _events = await ended(started)
    numbers = [event["seq"] for event in message.stream_log]
    assert numbers == list(range(1, len(numbers) + 1)) and message.status == "stopped"
