"""The events of a turn that runs in this process, for those here who follow it: none is lost, and none is waited for
longer than it takes to write the next."""

import asyncio
from collections.abc import AsyncIterator

from conversations.events import Event


class LiveLog:
    """A turn's events in order, the one with `seq` n at place n - 1. Of one event loop."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._closed = False
        self._news = asyncio.Event()

    def append(self, event: Event) -> None:
        """Add the next event, and wake who follows."""
        self.events.append(event)
        self._wake()

    def close(self) -> None:
        """No more will come."""
        self._closed = True
        self._wake()

    async def follow(self, after_seq: int = 0) -> AsyncIterator[list[Event]]:
        """Yield what comes after `after_seq`, as many events at a time as there are; ends when the log is closed."""
        while True:
            if new := self.events[after_seq:]:
                after_seq = new[-1].seq
                yield new
            elif self._closed:
                return
            else:
                await self._news.wait()

    def _wake(self) -> None:
        self._news.set()  # whoever waits goes on, though it is cleared at once
        self._news.clear()
