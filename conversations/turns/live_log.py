"""The events of a turn that runs in this process, for listeners in the same process, without loss or delay."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

from conversations.events import Event


class LiveLog:
    """A turn's events in order, the one with `seq` n at index n - 1. For use in one event loop."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._closed = False
        self._news = asyncio.Event()

    def append(self, event: Event) -> None:
        """Add the next event and wake the followers."""
        self.events.append(event)
        self._wake()

    def close(self) -> None:
        """Mark the log as complete."""
        self._closed = True
        self._wake()

    async def follow(self, after_seq: int = 0, silence: float | None = None) -> AsyncIterator[list[Event]]:
        """Yield the events after `after_seq` in batches of all available ones, until the log is closed.

        After `silence` seconds without an event, yield an empty list.
        """
        while True:
            if new := self.events[after_seq:]:
                after_seq = new[-1].seq
                yield new
            elif self._closed:
                return
            else:
                try:
                    async with asyncio.timeout(silence):
                        await self._news.wait()
                except TimeoutError:
                    yield []

    def _wake(self) -> None:
        self._news.set()  # wakes all waiting followers, although it is cleared at once
        self._news.clear()


async def with_silences(batches: AsyncIterator[list[Event]], seconds: float) -> AsyncGenerator[list[Event]]:
    """Yield the batches, and an empty one after each `seconds` of silence; closing the generator cancels the wait."""
    waiting: asyncio.Future[list[Event]] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(batches))
            ready, _pending = await asyncio.wait({waiting}, timeout=seconds)
            if not ready:
                yield []
                continue
            finished, waiting = waiting, None
            try:
                events = finished.result()
            except StopAsyncIteration:
                return
            yield events
    finally:
        if waiting is not None:
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await waiting
        if isinstance(batches, AsyncGenerator):
            await batches.aclose()
