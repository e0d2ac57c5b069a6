"""One run of a node: its body within its timeout, its step events, and its entry in the trace."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from django.conf import settings
from django.utils import timezone

from conversations.events import StepEvent, StepStatus
from conversations.pipeline import failures
from conversations.pipeline.declared_state import UndeclaredAccess, declared
from conversations.pipeline.hooks import Hook, wrapped
from conversations.pipeline.node import Context, Emit, Node
from conversations.pipeline.state import NodeTrace, State
from ragsite.llm.errors import LLMError

logger = logging.getLogger(__name__)

# Seconds for what hooks do around a node without a timeout.
HOOK_TIMEOUT = 30.0


class ReturnedValue(TypeError):
    """A node returned a value, which would be lost."""


class NodeRun:
    """A run that starts when it is created and ends with `end`, `fail` or `stop`, which add it to the trace.

    `view` is the state as the node may use it.
    """

    def __init__(self, node: Node, state: State, emit: Emit) -> None:
        self._node, self._state, self._emit = node, state, emit
        self.view = declared(node, state) if settings.PIPELINE_CHECK_ACCESS else state
        self._detail = state.details.setdefault(node.key, {})
        self._began, self._started_at = time.perf_counter(), timezone.now()
        self._ran = self._announced = False
        self._restore: list[Callable[[], None]] = []  # functions that restore the fields a node may have changed

    async def announce(self) -> None:
        """Report to the user that the node is running."""
        self._announced = True
        logger.debug("Node %s started", self._node.key)
        await self._report("processing")

    async def body(self) -> None:
        """Run the node within its timeout; raises `ReturnedValue`."""
        self._ran = True
        if self._node.on_error == "skip":
            self._restore = [self._state.keep(name) for name in self._node.writes]
        async with asyncio.timeout(self._node.timeout):
            context = Context(self._emit, self._detail, self._state.later)
            returned = await isolated(self._node.run(self.view, context))
        if returned is not None:
            kind = type(returned).__name__
            raise ReturnedValue(
                f"Node {self._node.key!r} returned a {kind}: it must change the state and return nothing."
            )

    async def within(self, hooks: Sequence[Hook]) -> None:
        """Run the node within its hooks.

        What the hooks themselves do may take as long as the node, or `HOOK_TIMEOUT` if the node has no timeout; while
        they wait for it, the node's own timeout applies. Raises `TimeoutError`.
        """
        if not hooks:
            await isolated(self.body())
            return
        left, time_of = self._node.timeout or HOOK_TIMEOUT, asyncio.get_running_loop().time
        async with asyncio.timeout(left) as limit:
            resumed = time_of()

            async def proceed() -> None:
                nonlocal left, resumed
                left -= time_of() - resumed
                limit.reschedule(None)
                try:
                    await self.body()
                finally:
                    resumed = time_of()
                    with suppress(RuntimeError):  # the hook hasn't waited for it
                        limit.reschedule(resumed + left)

            await isolated(wrapped(hooks, self._node, self._state, proceed)())

    async def end(self) -> None:
        """Record that the node did its work, was not wanted, or was skipped by a hook."""
        self._remember("completed" if self._ran else "skipped")
        if not self._announced:
            return
        words = ""
        if self._ran and self._node.step is not None:
            try:
                words = str(self._node.message(self.view, self._detail))
            except Exception:  # only the message is missing; the node has done its work
                logger.exception("Node %s failed to describe its result", self._node.key)
        await self._report("completed" if self._ran else "skipped", words)

    async def fail(self, error: Exception) -> None:
        """Record that the node failed; the caller decides what follows. A skipped node's fields are restored."""
        message = failures.describe(error, self._node.timeout)
        # For administrators.
        detail = error.details if isinstance(error, LLMError) else ""
        if isinstance(error, ReturnedValue | UndeclaredAccess):
            detail = str(error)
        self._detail.update({"error": message, **({"error_detail": detail} if detail else {})})
        self._remember("error")
        for restore in self._restore:
            restore()
        if self._node.on_error == "skip":
            known = isinstance(error, failures.EXPECTED)
            logger.warning("Node %s failed, and the turn continues: %s", self._node.key, failures.in_log(error),
                           exc_info=None if known else error)  # fmt: skip
        await self._report("error", message)

    def stop(self) -> None:
        """Record that the turn was stopped from outside."""
        self._remember("stopped")

    def _remember(self, status: str) -> None:
        ms = elapsed(self._began)
        self._state.trace.append(NodeTrace(self._node.key, status, self._started_at, ms, self._detail))
        logger.debug("Node %s ended: %s, %g ms", self._node.key, status, ms)

    async def _report(self, status: StepStatus, message: str = "") -> None:
        if self._node.step is not None:
            ms = None if status == "processing" else elapsed(self._began)
            await self._emit(step_event(self._node, status, message, ms))


async def isolated(work: Awaitable[object]) -> object:
    """Await a node or a hook and return its result; `RuntimeError` replaces exceptions that would end more than it."""
    try:
        return await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("Something that the node or a hook waited for was cancelled.") from None
    except SystemExit:  # it would stop the server, and every answer with it
        raise RuntimeError("The node or a hook tried to exit the process.") from None


def step_event(node: Node, status: StepStatus, message: str = "", ms: float | None = None) -> StepEvent:
    """Return the step event of a node."""
    return StepEvent(
        step=node.step or 0, key=node.key, step_name=str(node.title), status=status, message=message, ms=ms
    )


def elapsed(since: float) -> float:
    """Return the milliseconds since a `time.perf_counter()` value."""
    return round((time.perf_counter() - since) * 1000, 1)
