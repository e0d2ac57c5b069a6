"""Deltas that come close together are joined; nothing is lost, reordered or held for long."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from conversations.coalesce import Coalescer
from conversations.events import BlockEnd, BlockStart, Delta, Event


async def source(*items: Event | float | Exception) -> AsyncIterator[Event]:
    for item in items:
        if isinstance(item, float):
            await asyncio.sleep(item)
        elif isinstance(item, Exception):
            raise item
        else:
            yield item


async def drain(coalescer: Coalescer) -> list[Event]:
    return [event async for event in coalescer.stream()]


def delta(text: str, block: str = "b1") -> Delta:
    return Delta(id=block, text=text)


async def test_the_first_delta_passes_at_once_and_the_next_ones_are_joined() -> None:
    events = await drain(Coalescer(source(delta("a"), delta("b"), delta("c"), BlockEnd(id="b1")), interval=10))
    assert events == [delta("a"), delta("bc"), BlockEnd(id="b1")]


async def test_a_held_delta_passes_when_its_time_has_come() -> None:
    events: list[Event] = []
    coalescer = Coalescer(source(delta("a"), delta("b"), 0.3, delta("c")), interval=0.05)
    async for event in coalescer.stream():
        events.append(event)
    assert events == [delta("a"), delta("b"), delta("c")]


async def test_other_events_never_overtake_text() -> None:
    events = await drain(
        Coalescer(source(delta("a"), delta("b"), BlockStart(id="b2", kind="text"), delta("x", "b2")), interval=10)
    )
    assert events == [delta("a"), delta("b"), BlockStart(id="b2", kind="text"), delta("x", "b2")]


async def test_rows_are_never_joined() -> None:
    rows: list[Event] = [Delta(id="b1", row=["1"]), Delta(id="b1", row=["2"])]
    assert await drain(Coalescer(source(*rows), interval=10)) == rows


async def test_an_error_comes_after_the_text_before_it() -> None:
    events: list[Event] = []
    with pytest.raises(ValueError, match="cut"):
        async for event in Coalescer(source(delta("a"), delta("b"), ValueError("cut")), interval=10).stream():
            events.append(event)
    assert events == [delta("a"), delta("b")]


async def test_what_was_held_at_a_cancellation_is_still_there() -> None:
    coalescer = Coalescer(source(delta("a"), delta("b"), 60.0), interval=10)
    task = asyncio.create_task(drain(coalescer))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert coalescer.pending == delta("b")
