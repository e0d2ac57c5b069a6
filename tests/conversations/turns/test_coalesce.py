"""Tests of joining deltas: nothing is lost, reordered or delayed for long."""

import asyncio

from conversations.events import BlockEnd, BlockStart, Delta, Event, ThinkEvent, fold
from conversations.turns.coalesce import Coalescer, join_deltas


def delta(text: str, block: str = "b1") -> Delta:
    return Delta(id=block, text=text)


def passed(*events: Event, interval: float = 10) -> list[Event]:
    """Return the events sent on so far for events that arrive at once."""
    seen: list[Event] = []
    coalescer = Coalescer(seen.append, interval)
    for event in events:
        coalescer.take(event)
    coalescer.flush()
    return seen


async def test_first_delta_is_sent_at_once_and_later_ones_are_joined() -> None:
    assert passed(delta("a"), delta("b"), delta("c"), BlockEnd(id="b1")) == [delta("a"), delta("bc"), BlockEnd(id="b1")]


async def test_pending_delta_is_sent_when_due() -> None:
    seen: list[Event] = []
    coalescer = Coalescer(seen.append, interval=0.05)
    coalescer.take(delta("a"))
    coalescer.take(delta("b"))
    assert seen == [delta("a")]
    async with asyncio.timeout(20):
        while len(seen) < 2:
            await asyncio.sleep(0.01)
    assert seen == [delta("a"), delta("b")]


async def test_other_events_never_overtake_text() -> None:
    events = [delta("a"), delta("b"), BlockStart(id="b2", kind="text"), delta("x", "b2")]
    assert passed(*events) == events


async def test_rows_are_never_joined() -> None:
    rows: list[Event] = [Delta(id="b1", row=["1"]), Delta(id="b1", row=["2"])]
    assert passed(*rows) == rows


async def test_pending_delta_is_sent_once_at_the_end() -> None:
    seen: list[Event] = []
    coalescer = Coalescer(seen.append, interval=0.02)
    coalescer.take(delta("a"))
    coalescer.take(delta("b"))
    coalescer.flush()
    await asyncio.sleep(0.1)
    coalescer.flush()
    assert seen == [delta("a"), delta("b")]


def test_missed_events_are_joined_in_place() -> None:
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
    sent = join_deltas(events)
    assert [event.seq for event in sent] == [2, 3, 5, 6, 7, 8, 9, 10]
    assert sent[2] == Delta(seq=5, id="b1", text="cd")
    assert fold(sent) == fold(events)
