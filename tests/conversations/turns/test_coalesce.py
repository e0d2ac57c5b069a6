"""Deltas that come close together are joined; nothing is lost, reordered or held for long."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from conversations.events import BlockEnd, BlockStart, Delta, Event, ThinkEvent, fold
from conversations.turns.coalesce import Coalescer, joined


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


def test_what_a_listener_missed_is_joined_in_its_place() -> None:
    events: list[Event] = [
        ThinkEvent(seq=1, text="a"),
        ThinkEvent(seq=2, text="b"),
        BlockStart(seq=3, id="b1", kind="text"),
        Delta(seq=4, id="b1", text="c"),
        Delta(seq=5, id="b1", text="d"),
        Delta(seq=6, id="b2", text="e"),
        BlockEnd(seq=7, id="b1"),
        Delta(seq=8, id="b2", text="f"),
        Delta(seq=9, id="b3", row=["1"]),
        Delta(seq=10, id="b3", row=["2"]),
    ]
    told = joined(events)
    assert [event.seq for event in told] == [2, 3, 5, 6, 7, 8, 9, 10]
    assert told[2] == Delta(seq=5, id="b1", text="cd")
    assert fold(told) == fold(events)
