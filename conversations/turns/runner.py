"""Runs a turn: numbers, folds, checkpoints and publishes the pipeline's events.

The task belongs to the process, not to a connection, so it continues without connected clients.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from conversations import turn_store
from conversations.events import BlockEnd, DoneEvent, ErrorEvent, Event, FinalStatus
from conversations.inbox import unseen
from conversations.pipeline import failures
from conversations.pipeline.graph import Graph, NodeFailed
from conversations.pipeline.state import State
from conversations.turns import broker, checkpoints, qa_log
from conversations.turns.coalesce import Coalescer
from conversations.turns.live_log import LiveLog
from ragsite.db import context_of_its_own, is_away, retry_while_database_is_down
from ragsite.limits import use
from ragsite.runtime import logs

logger = logging.getLogger(__name__)

# Seconds.
CHECKPOINT_INTERVAL = 1.0
HEARTBEAT_INTERVAL = 4.0
# For sending the last events to other processes.
RELAY_TIMEOUT = 5.0


class TurnRunner:
    """A running turn. `started` resolves when the question is stored, or raises the reason for a refusal."""

    def __init__(self, graph: Graph, state: State, on_end: Callable[["TurnRunner"], None]) -> None:
        self.graph = graph
        self.state = state
        self.started: asyncio.Future[turn_store.Started] = asyncio.get_running_loop().create_future()
        self._stop_requested = False
        self._ending = False
        self._unstorable = False
        self._log = LiveLog()
        self._relay: asyncio.Task[None] | None = None
        self._early: list[Event] = []  # emitted before the turn had ids
        self._written = 0  # number of events stored in the database
        self._began = time.perf_counter()
        self._block_ended = asyncio.Event()
        self._writing = asyncio.Lock()
        self._coalescer = Coalescer(self._publish)
        self._on_end = on_end
        self._task = asyncio.create_task(self._guarded(), context=context_of_its_own())

    @property
    def message_id(self) -> int:
        """The id of the answer, or 0 before the question is stored."""
        return self.state.started.assistant_message_id if self.state.started else 0

    @property
    def completed(self) -> bool:
        """Whether the turn has ended with a complete answer."""
        return self.state.answer.status == "completed"

    def stop(self) -> bool:
        """Stop the turn and keep the partial answer; return False if it is ending already."""
        self._stop_requested = True
        return self.interrupt()

    def interrupt(self) -> bool:
        """Interrupt the turn because the server stops, and keep the partial answer; return False if it is ending."""
        if self._ending:
            return False
        self._task.cancel()
        return True

    async def wait(self) -> None:
        """Wait until the turn has ended and is stored."""
        await asyncio.wait({self._task})

    async def do_later(self) -> None:
        """Run the work that nodes deferred until after the answer; failures are logged."""
        with self._about():
            for work in self.state.later if self.state.answer.status != "interrupted" else ():
                try:
                    await work()
                except Exception:
                    logger.exception("Work after the answer failed")

    @contextmanager
    def _about(self) -> Iterator[None]:
        with translation.override(self.state.request.language), logs.about_request(self.state.request.request_id):
            yield

    async def _guarded(self) -> None:
        try:
            with self._about():
                await self._run()
        finally:
            self._close()
            self._on_end(self)
            self._refuse(turn_store.TurnRefused("interrupted", _("The server is stopping. Try again in a moment.")))
            if self._relay is not None:
                await asyncio.wait({self._relay}, timeout=RELAY_TIMEOUT)

    async def _run(self) -> None:
        """Run the pipeline. Exceptions don't propagate: each becomes a final status that the user sees."""
        keeper = asyncio.create_task(self._keep())
        status: FinalStatus = "completed"
        error: ErrorEvent | None = None
        try:
            await self.graph.drive(self.state, self._emit)
        except asyncio.CancelledError:
            if self._stop_requested:
                status = "stopped"
            elif self._unstorable:
                status, error = "failed", failures.internal_error()
            else:
                status, error = "interrupted", ErrorEvent(code="interrupted", message=turn_store.interruption())
        except NodeFailed as failure:
            if not isinstance(failure.cause, turn_store.TurnRefused):
                failures.log(failure)
            status, error = "failed", failures.error_event(failure, self.graph.nodes[failure.node].title)
            if self.state.started is None:
                self._refuse(failure.cause)
        except Exception as trouble:
            logger.exception("The turn failed")
            status, error = "failed", failures.internal_error()
            if self.state.started is None:
                self._refuse(trouble)
        finally:
            self._ending = True
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper
        if self.state.started is not None:
            # In a separate task, so that a cancellation doesn't interrupt it.
            await asyncio.shield(asyncio.ensure_future(self._end(status, error)))

    def _refuse(self, error: BaseException) -> None:
        """Raise the error for callers that wait for the turn to start."""
        if not self.started.done():
            self.started.set_exception(error)

    async def _emit(self, event: Event) -> None:
        self._coalescer.take(event)

    def _publish(self, event: Event) -> None:
        """Number an event, fold it and send it; events wait until the turn has ids."""
        if not self._log.events:
            if self.state.started is None:
                self._early.append(event)
                return
            # The turn has ids, so the stream begins.
            broker.running[self.message_id] = self._log
            self._relay = asyncio.create_task(self._notify_others(self.state.started))
            self._send(self.state.started.event())
            self.started.set_result(self.state.started)
            for early in self._early:
                self._send(early)
        self._send(event)

    async def _notify_others(self, started: turn_store.Started) -> None:
        await broker.announce(started)
        await broker.relay(started.assistant_message_id, self._log)

    def _close(self) -> None:
        """End the stream; later listeners read from the database."""
        broker.running.pop(self.message_id, None)
        self._log.close()

    def _send(self, event: Event) -> None:
        numbered = event.numbered(self.state.answer.last_seq + 1)
        self.state.answer.apply(numbered)
        self._log.append(numbered)
        if isinstance(event, BlockEnd):
            self._block_ended.set()

    async def _keep(self) -> None:
        """Checkpoint at every block end and at least once a second while events arrive; keep the heartbeat.

        An answer's first text is stored at the next tick, in case the process is killed before a second has passed.
        """
        last, pace = time.monotonic(), checkpoints.TICK_SECONDS
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pace - checkpoints.TICK_SECONDS):
                    await self._block_ended.wait()
            await checkpoints.next_tick()
            age = time.monotonic() - last
            quiet = self._written == len(self._log.events) and age < HEARTBEAT_INTERVAL
            is_due = self.state.answer.blocks or self._block_ended.is_set() or age >= CHECKPOINT_INTERVAL
            self._block_ended.clear()
            if not self._log.events or quiet or not is_due:
                continue
            last = time.monotonic()
            if self.state.answer.blocks:
                pace = min(2 * pace, CHECKPOINT_INTERVAL)
            try:
                # A checkpoint that has begun is completed even if this task is cancelled; the end waits for it.
                alive = await asyncio.shield(self._checkpoint())
            except Exception as error:
                if is_away(error):
                    logger.warning("The database is unavailable; the answer will be stored later")
                    continue
                logger.exception("The answer can't be stored")
                self._unstorable = True
                self.interrupt()
                return
            if not alive:
                # Another process stopped it, or the session was deleted.
                self.stop()
                return

    async def _checkpoint(self) -> bool:
        """Store the events since the last checkpoint; return False if another process ended the answer."""
        async with self._writing:
            new = self._log.events[self._written :]
            alive = await checkpoints.save(self.message_id, self.state.answer, new)
            if alive:
                self._written += len(new)
            return alive

    async def _end(self, status: FinalStatus, error: ErrorEvent | None) -> None:
        """Close open blocks, save the answer and send the end; `done` is stored before it is sent."""
        self._coalescer.flush()
        for block in sorted(self.state.answer.open):
            self._publish(BlockEnd(id=block))
        await self.graph.finish(self.state, self._emit)
        self._coalescer.flush()
        if error is not None:
            self._publish(error)
        ms = round((time.perf_counter() - self._began) * 1000)
        answer, answer_state = self.state.answer, None if status == "failed" else self.state.found.answer_state or None
        done = DoneEvent(
            status=status,
            answer_state=answer_state,
            usage=answer.usage,
            ms=ms,
            checks=answer.checks,
            finish_reason=answer.finish_reason or None,
        )
        async with self._writing:  # a running checkpoint must finish first, and must not include the end
            done = done.numbered(answer.last_seq + 1)
            answer.apply(done)
            if not await self._stored(done):
                done = replace(done, status="failed", answer_state=None)
        self._log.append(done)
        self._close()
        qa_log.write(self.state, done, error)

    async def _stored(self, done: DoneEvent) -> bool:
        """Store the end, once the database is available; return False if the answer had to be stored as failed.

        If the database stays unavailable, the next reader or `orphans` ends the answer as interrupted.
        """
        for store_end in (self._store, self._give_up):
            try:
                await retry_while_database_is_down(store_end, done)
                return store_end == self._store
            except Exception as error:
                if is_away(error):
                    logger.exception("The end of the answer could not be stored")
                    break
                logger.exception("The answer can't be stored in full")
        return True

    def _give_up(self, done: DoneEvent) -> None:
        error = failures.internal_error()
        turn_store.give_up(self.message_id, error.code, error.message)

    @transaction.atomic
    def _store(self, done: DoneEvent) -> None:
        assert self.state.started is not None
        new = [event.to_dict() for event in (*self._log.events[self._written :], done)]
        turn_store.save_trace(self.state.started.turn_id, [entry.to_dict() for entry in self.state.trace])
        turn_store.finish(self.message_id, self.state.answer, new)
        if self.state.request.awaited and done.status != "stopped":
            unseen.mark(self.state.started.session_id)
        use.add_tokens(self.state.request.user_id, self.state.answer.usage)
