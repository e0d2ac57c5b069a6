"""Handing a turn's events to whoever listens, wherever it runs: each event once and in order.

Live events come over the channel layer, which may drop; what is missing is taken from the log of the process
that runs the turn, or from the database, where the log is checkpointed at least once a second.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from channels.layers import get_channel_layer

from conversations import store
from conversations.events import (
    Answer,
    BlockEnd,
    BlockStart,
    BlockUpdate,
    Delta,
    DoneEvent,
    ErrorEvent,
    Event,
    SessionEvent,
    SourcesEvent,
    ThinkEvent,
    fold,
)
from conversations.models import Message
from ragsite.db import AWAY, in_database

# Seconds without an event after which the database is asked whether the turn still lives.
PATIENCE = 2.0
# A gap is filled from the database, where events are at most a second late.
RETRY = 0.2


@dataclass(frozen=True, slots=True)
class Log:
    """The events of a message so far, and whether more will come."""

    events: list[Event]
    final: bool


# Logs of the turns that run in this process, by message id.
running: dict[int, list[Event]] = {}


def group(message_id: int) -> str:
    """Return the channel-layer group of a message."""
    return f"message.{message_id}"


async def publish(message_id: int, event: Event) -> None:
    """Send an event, numbered, to all who listen."""
    await get_channel_layer().group_send(group(message_id), {"type": "turn.event", "event": event.to_dict()})


async def listen(message_id: int, after_seq: int = 0) -> AsyncIterator[Event]:
    """Yield every event with `seq > after_seq` exactly once, in order, up to and including `done`."""
    layer = get_channel_layer()
    channel = await layer.new_channel("turn")
    await layer.group_add(group(message_id), channel)
    seq = after_seq
    try:
        log = await _missing(message_id, seq)
        while True:
            for event in log.events:
                seq = event.seq
                yield event
            if log.final:
                return
            live = await _next(layer, channel, seq)
            if live is not None and live.seq == seq + 1:
                log = Log([live], isinstance(live, DoneEvent))
            else:  # a gap, or a long silence
                log = await _missing(message_id, seq, until=live.seq if live is not None else 0)
    finally:
        await layer.group_discard(group(message_id), channel)


async def snapshot(message_id: int) -> Answer:
    """Return the answer as it stands: the fold of its events so far."""
    return fold((await _log(message_id)).events)


async def _next(layer: Any, channel: str, seq: int) -> Event | None:
    """Return the next live event after `seq`, or None when none came in time."""
    try:
        async with asyncio.timeout(PATIENCE):
            while (event := Event.from_dict((await layer.receive(channel))["event"])).seq <= seq:
                pass
            return event
    except TimeoutError:
        return None


async def _missing(message_id: int, seq: int, until: int = 0) -> Log:
    """Return the logged events after `seq`, waiting for the log to reach `until`."""
    while True:
        try:
            log = await _log(message_id)
        except AWAY:  # restarting, as a rule; the turn waits for it too
            await asyncio.sleep(PATIENCE)
            continue
        found = [event for event in log.events if event.seq > seq]
        if log.final or not until or (found and found[-1].seq >= until):
            return Log(found, log.final)
        await asyncio.sleep(RETRY)


async def _log(message_id: int) -> Log:
    if message_id in running:
        return Log(list(running[message_id]), False)
    return await in_database(_stored_log, message_id)


def _stored_log(message_id: int) -> Log:
    store.interrupt_stale(message_id=message_id)
    message = Message.objects.select_related("turn").filter(pk=message_id).first()
    if message is None:
        gone = ErrorEvent(seq=1, code="deleted", message="", retryable=False)
        return Log([gone, DoneEvent(seq=2, status="interrupted")], True)
    final = message.status != Message.Status.STREAMING
    events = [Event.from_dict(item) for item in message.stream_log] or (_replay(message) if final else [])
    if final and not (events and isinstance(events[-1], DoneEvent)):
        # Ended by another process, whose generator has not written its last words yet, or lost them.
        last = events[-1].seq if events else 0
        events.append(DoneEvent(seq=last + 1, status=message.status))  # type: ignore[arg-type]
    return Log(events, final)


def _replay(message: Message) -> list[Event]:
    """Return events that fold to a stored message whose log was emptied."""
    turn = message.turn
    question = turn.messages.filter(role=Message.Role.USER).values_list("pk", flat=True).first()
    events: list[Event] = [
        SessionEvent(
            session_id=turn.session_id,
            turn_id=turn.pk,
            request_id=str(turn.request_id),
            user_message_id=question or 0,
            assistant_message_id=message.pk,
            parent_turn_id=turn.parent_turn_id,
        )
    ]
    if message.thinking:
        events.append(ThinkEvent(text=message.thinking))
    citations = [store.citation_dict(citation) for citation in message.citations.order_by("index")]
    if citations:
        events.append(SourcesEvent(citations=citations))
    for block in message.blocks:
        events += _replay_block(block)
    if message.error_code:
        events.append(ErrorEvent(code=message.error_code, message=message.error_message))
    events.append(
        DoneEvent(
            status=message.status,  # type: ignore[arg-type]
            usage=message.usage,
            ms=message.duration_ms or 0,
            checks=message.checks,
        )
    )
    return [event.numbered(seq) for seq, event in enumerate(events, 1)]


def _replay_block(block: dict[str, Any]) -> list[Event]:
    name = block["id"]
    events: list[Event] = [
        BlockStart(
            id=name,
            kind=block["kind"],
            columns=block.get("columns"),
            alt=block.get("alt"),
            language=block.get("language"),
        )
    ]
    if block.get("text"):
        events.append(Delta(id=name, text=block["text"]))
    events += [Delta(id=name, row=row) for row in block.get("rows", [])]
    if block.get("url"):
        events.append(BlockUpdate(id=name, url=block["url"], width=block.get("width"), height=block.get("height")))
    return [*events, BlockEnd(id=name)]
