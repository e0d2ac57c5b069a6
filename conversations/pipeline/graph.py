"""The graph engine: runs nodes in the order of their edges, independent ones side by side.

A node says after which nodes it runs (`after`; by default after the one before it in the list), for which
states it is wanted (`wanted`), how long it may take, and what its failure means: skip it and go on, or fail
the turn. The graph is assembled from dotted paths and validated before it runs.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar, Literal

from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from conversations.events import Event, StepEvent, StepStatus
from conversations.pipeline.state import NodeTrace, State
from ragsite.llm.errors import LLMError

Emit = Callable[[Event], Awaitable[None]]


class GraphError(ValueError):
    """The nodes of a setting don't make a graph; the message names the node and the mend."""


class NodeFailed(Exception):
    """A node whose failure ends the turn. `cause` is the error, `node` its key."""

    def __init__(self, node: str, cause: BaseException) -> None:
        super().__init__(f"{node}: {cause}")
        self.node = node
        self.cause = cause


class Node(ABC):
    """One step of the pipeline. Subclasses set the class variables and write `run`."""

    key: ClassVar[str]
    # CHAT's step number for the event stream; None when the node reports by itself or not at all.
    step: ClassVar[int | None] = None
    # Shown to the reader; a lazy translation.
    title: ClassVar[Any] = ""
    # Seconds; None leaves the bound to the node (a model's stream has time-outs of its own).
    timeout: ClassVar[float | None] = 30.0
    on_error: ClassVar[Literal["skip", "fail"]] = "fail"
    # Keys of the nodes that must have run; None means the one before it in the list.
    after: ClassVar[tuple[str, ...] | None] = None
    # Runs also when the turn failed or was stopped, to save what there is.
    always: ClassVar[bool] = False
    # State fields: those that a node before it must have filled, those that it does without, and those that it fills.
    reads: ClassVar[tuple[str, ...]] = ()
    may_read: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ()

    def wanted(self, state: State) -> bool:
        """Whether this state needs the node; a node that is not wanted is skipped."""
        return True

    @abstractmethod
    async def run(self, state: State, emit: Emit) -> State:
        """Do the work, emit events on the way, and return the state."""

    def message(self, state: State) -> str:
        """Say in a few words what came of it; shown beside the step."""
        return ""


class Graph:
    """A validated set of nodes. Raises `GraphError` when they don't make one."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = {node.key: node for node in nodes}
        if len(self.nodes) != len(nodes):
            raise GraphError("Two nodes of the pipeline have the same key.")
        self.edges = self._edges(nodes)
        try:
            self.order = list(TopologicalSorter(self.edges).static_order())
        except CycleError as error:
            raise GraphError(f"The pipeline's nodes wait for each other: {' → '.join(error.args[1])}.") from None

    @classmethod
    def from_paths(cls, paths: Sequence[str]) -> "Graph":
        """Assemble the graph from the dotted paths of node classes."""
        nodes = []
        for path in paths:
            try:
                found = import_string(path)
            except ImportError as error:
                raise GraphError(f"The pipeline node {path!r} can't be imported: {error}") from None
            if not (isinstance(found, type) and issubclass(found, Node)):
                raise GraphError(f"{path!r} is not a pipeline node.")
            nodes.append(found())
        return cls(nodes)

    @staticmethod
    def _edges(nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
        edges: dict[str, tuple[str, ...]] = {}
        before: tuple[str, ...] = ()
        known = {node.key for node in nodes}
        for node in nodes:
            edges[node.key] = before if node.after is None else node.after
            unknown = set(edges[node.key]) - known
            if unknown:
                raise GraphError(
                    f"The pipeline node {node.key!r} runs after {', '.join(sorted(unknown))}, "
                    f"which is not in the pipeline."
                )
            before = (node.key,)
        return edges

    def mermaid(self) -> str:
        """Return the graph as a Mermaid flow chart."""
        lines = ["flowchart TD"]
        lines += [f'    {key}["{self.nodes[key].title or key}"]' for key in self.order]
        lines += [f"    {parent} --> {key}" for key in self.order for parent in self.edges[key]]
        return "\n".join(lines)

    async def run(self, state: State) -> State:
        """Run the graph to its end and return the state; raises `NodeFailed`."""
        async for _event in self.stream(state):
            pass
        return state

    async def stream(self, state: State) -> AsyncIterator[Event]:
        """Run the graph and yield its events as they come; raises `NodeFailed` after what came before it.

        Closing the iterator cancels the nodes that run.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue(maxsize=256)
        runner = asyncio.create_task(self._run(state, queue))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await runner
        finally:
            runner.cancel()
            with suppress(asyncio.CancelledError, NodeFailed):
                await runner

    async def finish(self, state: State, emit: Emit) -> None:
        """Run the nodes that must also run after a failure or a stop, if they have not run."""
        ran = {entry.key for entry in state.trace}
        for key in self.order:
            if self.nodes[key].always and key not in ran:
                await self._run_node(self.nodes[key], state, emit)

    async def _run(self, state: State, queue: asyncio.Queue[Event | None]) -> None:
        try:
            await self._run_levels(state, queue.put)
        except NodeFailed:
            await queue.put(None)
            raise
        await queue.put(None)

    async def _run_levels(self, state: State, emit: Emit) -> None:
        sorter = TopologicalSorter(self.edges)
        sorter.prepare()
        running: dict[asyncio.Task[None], str] = {}
        try:
            while sorter.is_active():
                for key in sorter.get_ready():
                    running[asyncio.create_task(self._run_node(self.nodes[key], state, emit))] = key
                done, _pending = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    sorter.done(running.pop(task))
                    task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _run_node(self, node: Node, state: State, emit: Emit) -> None:
        began, started_at = time.perf_counter(), timezone.now()

        async def report(status: StepStatus, message: str = "") -> None:
            if node.step is not None:
                ms = None if status == "processing" else elapsed(began)
                await emit(step_event(node, status, message, ms))

        def remember(status: str) -> None:
            detail = state.details.get(node.key, {})
            state.trace.append(NodeTrace(node.key, status, started_at, elapsed(began), detail))

        if not node.wanted(state):
            return remember("skipped")
        await report("processing")
        try:
            await asyncio.wait_for(node.run(state, emit), node.timeout)
        except (asyncio.CancelledError, GeneratorExit):
            remember("stopped")
            raise
        except Exception as error:
            state.note(node.key, error=describe_error(error, node))
            remember("error")
            await report("error", describe_error(error, node))
            if node.on_error == "fail":
                raise NodeFailed(node.key, error) from error
            return None
        remember("completed")
        return await report("completed", node.message(state))


def step_event(node: Node, status: StepStatus, message: str = "", ms: float | None = None) -> StepEvent:
    """Return the step event of a node."""
    return StepEvent(
        step=node.step or 0, key=node.key, step_name=str(node.title), status=status, message=message, ms=ms
    )


def elapsed(since: float) -> float:
    """Return the milliseconds since a `time.perf_counter()` value."""
    return round((time.perf_counter() - since) * 1000, 1)


def describe_error(error: BaseException, node: Node) -> str:
    """Say in words for a person what went wrong in a node."""
    if isinstance(error, LLMError):
        return error.message
    if isinstance(error, TimeoutError):
        return _("This step took longer than %(seconds)d s.") % {"seconds": node.timeout or 0}
    return _("This step failed (%(kind)s).") % {"kind": type(error).__name__}
