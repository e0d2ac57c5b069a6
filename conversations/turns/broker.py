"""Delivers a turn's events to its listeners, whichever process runs it: each event once and in order.

Listeners in the process that runs the turn follow its log. Other processes receive live events through the channel
layer, which may drop some; missing events are read from the database, where the log is stored at least once a second.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from conversations import turn_store
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
from conversations.groups import message_group, session_group
from conversations.models import Message
from conversations.pipeline import failures
from conversations.turns.live_log import LiveLog, with_silences
from ragsite.db import DATABASE_UNAVAILABLE, in_database

logger = logging.getLogger(__name__)

# Seconds without an event after which the database is asked whether the turn is still running.
PATIENCE = 2.0
# Seconds between attempts to fill a gap from the database, where events are at most a second late.
RETRY = 0.2
# Live events that a listener keeps in case the turn's process dies before storing them: some seconds of a fast answer.
MOST_HEARD = 1000


@dataclass(frozen=True, slots=True)
class Log:
    """The events of a message so far, and whether more will come."""

    events: list[Event]
    final: bool


# Logs of the turns that run in this process, by message id.
running: dict[int, LiveLog] = {}


async def announce(started: turn_store.Started) -> None:
    """Notify the open pages of a session that a question was asked in it."""
    message = {"type": "session.asked", "turn_id": started.turn_id, "parent_turn_id": started.parent_turn_id}
    try:
        await get_channel_layer().group_send(session_group(started.session_id), message)
    except Exception:  # exceptions differ between layers; the pages find the turn when they reconnect
        logger.warning("Turn %d could not be announced", started.turn_id, exc_info=True)


async def relay(message_id: int, log: LiveLog) -> None:
    """Send the events of a turn that runs here to listeners in other processes, until its log is closed."""
    layer = get_channel_layer()
    if type(layer) is InMemoryChannelLayer:  # doesn't reach other processes
        return
    async for events in log.follow():
        message = {"type": "turn.events", "events": [event.to_dict() for event in events]}
        try:
            await layer.group_send(message_group(message_id), message)
        except Exception:  # exceptions differ between layers; listeners will find the events in the database
            logger.warning("Events of message %d could not be sent to other processes", message_id, exc_info=True)


async def listen(message_id: int, after_seq: int = 0) -> AsyncIterator[Event]:
    """Yield every event with `seq > after_seq` exactly once, in order, up to and including `done`."""
    async with aclosing(follow(message_id, after_seq)) as batches:
        async for events in batches:
            for event in events:
                yield event


async def follow(message_id: int, after_seq: int = 0, silence: float | None = None) -> AsyncGenerator[list[Event]]:
    """Yield the same events in batches of all available ones, and an empty list after `silence` seconds without any."""
    seq = after_seq
    followed = message_id in running
    if followed:
        async for events in running[message_id].follow(seq, silence):
            yield events
            if events and isinstance(events[-1], DoneEvent):
                return
            seq = events[-1].seq if events else seq
    rest = _follow_remotely(message_id, seq, followed)
    async with aclosing(rest if silence is None else with_silences(rest, silence)) as batches:
        async for events in batches:
            yield events


async def _follow_remotely(message_id: int, seq: int, followed: bool) -> AsyncGenerator[list[Event]]:
    """Yield the events after `seq`. With `followed`, the listener followed a local log but didn't get the end."""
    layer = get_channel_layer()
    channel = await layer.new_channel("turn")
    await layer.group_add(message_group(message_id), channel)
    heard: deque[Event] = deque(maxlen=MOST_HEARD)
    try:
        log = await _missing(message_id, seq, followed=followed)
        while True:
            if log.events:
                seq = log.events[-1].seq
                yield log.events
            if log.final:
                return
            live = await _next(layer, channel, seq)
            if live and live[0].seq == seq + 1:
                heard.extend(live)
                log = Log(live, isinstance(live[-1], DoneEvent))
            else:  # a gap, or a long silence
                log = await _missing(message_id, seq, live[-1].seq if live else 0, heard, followed=True)
    finally:
        await layer.group_discard(message_group(message_id), channel)


async def snapshot(message_id: int) -> Answer:
    """Return the current state of an answer: the fold of its events so far."""
    return fold((await _log(message_id)).events)


async def _next(layer: Any, channel: str, seq: int) -> list[Event]:
    """Return the next live events after `seq`; an empty list if none arrive within `PATIENCE`."""
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await layer.receive(channel)
                if events := [event for event in map(Event.from_dict, message["events"]) if event.seq > seq]:
                    return events
    except TimeoutError:
        return []


async def _missing(message_id: int, seq: int, until: int = 0, heard: Iterable[Event] = (), *, followed: bool) -> Log:
    """Return the logged events after `seq`, waiting for the log to reach `until`; the end is numbered above `seq`."""
    while True:
        try:
            log = await _log(message_id, seq, tuple(heard))
        except DATABASE_UNAVAILABLE:  # usually restarting; the turn waits for it too
            await asyncio.sleep(PATIENCE)
            continue
        found = [event for event in log.events if event.seq > seq]
        if log.final and not found and followed:
            found = _end_after(seq, log.events)
        if log.final or not until or (found and found[-1].seq >= until):
            return Log(found, log.final)
        await asyncio.sleep(RETRY)


async def _log(message_id: int, seen: int = 0, heard: Sequence[Event] = ()) -> Log:
    if message_id in running:
        return Log(list(running[message_id].events), False)
    return await in_database(_stored_log, message_id, seen, heard)


def _stored_log(message_id: int, seen: int, heard: Sequence[Event]) -> Log:
    turn_store.interrupt_stale(heard, seen, message_id=message_id)
    message = Message.objects.select_related("turn").filter(pk=message_id).first()
    if message is None:
        gone = ErrorEvent(seq=1, code="deleted", message="", retryable=False)
        return Log([gone, DoneEvent(seq=2, status="interrupted")], True)
    final = message.status != Message.Status.STREAMING
    events = [Event.from_dict(item) for item in message.stream_log] or (_replay(message) if final else [])
    if final and not (events and isinstance(events[-1], DoneEvent)):
        # Another process ended the answer, and the turn's runner has not stored its last events yet or has lost them.
        last = events[-1].seq if events else 0
        state = message.answer_state or None
        events.append(DoneEvent(seq=last + 1, status=message.status, answer_state=state))  # type: ignore[arg-type]
    if final and seen > message.last_seq and not turn_store.has_received_end(message, seen):
        events += _end_after(seen, events)
        turn_store.record_end_sent(message, events[-1].seq)
    return Log(events, final)


def _end_after(seq: int, events: Sequence[Event]) -> list[Event]:
    """Return the end of a log, renumbered, for a listener that was sent more events than were stored."""
    end = [event for event in events[-2:] if isinstance(event, ErrorEvent | DoneEvent)]
    return [event.numbered(number) for number, event in enumerate(end, seq + 1)]


def _replay(message: Message) -> list[Event]:
    """Return events that fold to a stored message, whose log has been emptied."""
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
    citations = [turn_store.citation_dict(citation) for citation in message.citations.order_by("index")]
    state = message.answer_state or None
    if citations or state:
        events.append(SourcesEvent(citations=citations, answer_state=state))
    for block in message.blocks:
        name = block["id"]
        events.append(BlockStart(**{key: block[key] for key in BlockStart.names() if key in block}))
        if block.get("text"):
            events.append(Delta(id=name, text=block["text"]))
        events += [Delta(id=name, row=row) for row in block.get("rows", [])]
        if block.get("url"):
            events.append(BlockUpdate(id=name, url=block["url"], width=block.get("width"), height=block.get("height")))
        events.append(BlockEnd(id=name))
    if message.error_code:
        text = failures.shown(message.error_code, message.error_message)
        events.append(ErrorEvent(code=message.error_code, message=text))
    events.append(
        DoneEvent(
            status=message.status,  # type: ignore[arg-type]
            answer_state=state,
            usage=message.usage,
            ms=message.duration_ms or 0,
            checks=message.checks,
        )
    )
    return [event.numbered(seq) for seq, event in enumerate(events, 1)]
