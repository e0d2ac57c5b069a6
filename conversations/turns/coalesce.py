"""Joins text deltas that follow each other closely, so that a fast model does not flood its listeners."""

import asyncio
import time
from collections.abc import Callable, Iterable

from conversations.events import DELTA_INTERVAL, Delta, Event, ThinkEvent


def join_deltas(events: Iterable[Event]) -> list[Event]:
    """Return the events with adjacent text deltas of one block, and adjacent thinking events, joined.

    A joined event has the `seq` of its last part, so a listener that has fallen behind catches up with few events.
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
    """Passes events to `send` in order; joins successive text deltas of a block, at most `interval` seconds late."""

    def __init__(self, send: Callable[[Event], None], interval: float = DELTA_INTERVAL) -> None:
        self._send = send
        self._interval = interval
        self._pending: Delta | None = None
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def take(self, event: Event) -> None:
        """Take the next event; a text delta waits for more of its block until it is due."""
        if not isinstance(event, Delta) or event.text is None:
            self.flush()
            self._send(event)
            return
        if self._pending is not None and self._pending.id == event.id:
            event = Delta(id=event.id, text=(self._pending.text or "") + event.text)
        else:
            self.flush()
        self._pending = event
        now = time.monotonic()
        if now >= self._due:
            self._give_due()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._due - now, self._give_due)

    def flush(self) -> None:
        """Send the pending delta, if any."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self._send(pending)

    def _give_due(self) -> None:
        now = time.monotonic()
        # Schedule from the due time, so that small delays don't add up.
        self._due = (self._due if now - self._due < self._interval / 4 else now) + self._interval
        self.flush()
