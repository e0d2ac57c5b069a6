"""Joining text deltas that come close together, so that a fast model does not flood its readers."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress

from conversations.events import DELTA_INTERVAL, Delta, Event, ThinkEvent


def joined(events: Iterable[Event]) -> list[Event]:
    """Return the events with neighbouring text deltas of one block, and neighbouring thoughts, as one.

    What is joined carries the last one's `seq`: whoever has fallen behind catches up with few events.
    """
    result: list[Event] = []
    for event in events:
        last = result[-1] if result else None
        match last, event:
            case Delta(text=str(before)), Delta(text=str(text)) if last.id == event.id:
                result[-1] = Delta(seq=event.seq, id=event.id, text=before + text)
            case ThinkEvent(text=before), ThinkEvent(text=text):
                result[-1] = ThinkEvent(seq=event.seq, text=before + text)
            case _:
                result.append(event)
    return result


class Coalescer:
    """Passes events on in order; successive text deltas of one block become one.

    `pending` is the text that was taken but not yet passed on: after a cancellation it is the caller's.
    """

    def __init__(self, events: AsyncIterator[Event], interval: float = DELTA_INTERVAL) -> None:
        self.pending: Delta | None = None
        self._events = events
        self._interval = interval
        self._due = 0.0

    async def stream(self) -> AsyncIterator[Event]:
        """Yield the events; an error of the source is raised after what came before it."""
        upcoming: asyncio.Future[Event] | None = None
        failure: BaseException | None = None
        try:
            while True:
                if upcoming is None and self.pending is None:
                    event = await anext(self._events, None)  # nothing is held back that could fall due meanwhile
                else:
                    upcoming = upcoming or asyncio.ensure_future(anext(self._events))
                    patience = None if self.pending is None else max(0.0, self._due - time.monotonic())
                    arrived, _waiting = await asyncio.wait({upcoming}, timeout=patience)
                    if not arrived:
                        yield self._give_due()
                        continue
                    failure = upcoming.exception()
                    event = upcoming.result() if failure is None else None
                    upcoming = None
                if event is None:
                    break
                for ready in self._take(event):
                    yield ready
                if self.pending is not None and time.monotonic() >= self._due:
                    yield self._give_due()
        finally:
            if upcoming is not None:  # a step of the source, which is waited for until it has let go
                upcoming.cancel()
                with suppress(asyncio.CancelledError, StopAsyncIteration):
                    await upcoming
        if self.pending is not None:
            yield self._give()
        if failure is not None and not isinstance(failure, StopAsyncIteration):
            raise failure

    def _take(self, event: Event) -> list[Event]:
        """Take an event; return what has to be passed on before more is taken."""
        if not isinstance(event, Delta) or event.text is None:
            return [self._give(), event] if self.pending is not None else [event]
        before = self.pending
        if before is None or before.id != event.id:
            self.pending = event
            return [before] if before is not None else []
        self.pending = Delta(id=event.id, text=(before.text or "") + event.text)
        return []

    def _give_due(self) -> Delta:
        now = time.monotonic()
        # From when it was due, not from when it was given a little later: a source that is as slow as this would be
        # waited for a little more each time.
        self._due = (self._due if now - self._due < self._interval / 4 else now) + self._interval
        return self._give()

    def _give(self) -> Delta:
        given, self.pending = self.pending, None
        assert given is not None
        return given
