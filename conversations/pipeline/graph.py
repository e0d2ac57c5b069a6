"""The graph engine: runs nodes in the order of their edges, independent ones concurrently.

A node declares which nodes it runs after and for which states each edge is taken; it may also choose which of its
followers the turn continues with. A node that no taken edge leads to is skipped, and so are the nodes that only it
leads to. Each node has a timeout and a failure policy: skip the node and go on, or fail the turn. The graph is
assembled from dotted paths, and an invalid one is refused before anything runs; `validation` finds further problems.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from conversations.events import Event
from conversations.pipeline import failures
from conversations.pipeline.declared_state import UndeclaredAccess
from conversations.pipeline.hooks import Hook, load_hooks
from conversations.pipeline.node import PREVIOUS, Context, Emit, Node, NodeError, NodeFailed, When
from conversations.pipeline.node_checks import node_problems
from conversations.pipeline.node_run import NodeRun, elapsed
from conversations.pipeline.state import NodeTrace, State

__all__ = [
    "PREVIOUS", "Context", "Edge", "Emit", "Graph", "GraphError", "Node", "NodeError", "NodeFailed", "When", "elapsed",
]  # fmt: skip

logger = logging.getLogger(__name__)

_KEY = re.compile(r"[a-z][a-z0-9_]{0,59}")


class GraphError(ValueError):
    """The nodes of a setting don't form a graph; the message names the node, `hint` says what to change."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from a node to one that may follow; without a condition it is always taken."""

    parent: str
    child: str
    condition: Callable[[State], bool] | None = None
    label: Any = ""


@dataclass(slots=True)
class _Course:
    """The progress of a turn: the nodes that were reached, and the branches that nodes chose."""

    reached: set[str] = field(default_factory=set)
    chosen: dict[str, Collection[str]] = field(default_factory=dict)

    def takes(self, edge: Edge, state: State) -> bool:
        open_to_it = edge.parent not in self.chosen or edge.child in self.chosen[edge.parent]
        return edge.parent in self.reached and open_to_it and (edge.condition is None or edge.condition(state))


class Graph:
    """A set of nodes with their edges, and hooks around each run. Raises `GraphError` if they don't form a graph."""

    def __init__(self, nodes: Sequence[Node], hooks: Sequence[Hook] = ()) -> None:
        if not nodes:
            raise GraphError("The pipeline has no nodes.", "Name at least the nodes of the default setting.")
        self.nodes: dict[str, Node] = {}
        for node in nodes:
            if (first := self.nodes.setdefault(node.key, node)) is not node:
                kinds = " and ".join(f"{type(each).__module__}.{type(each).__name__}" for each in (first, node))
                raise GraphError(f"Two nodes of the pipeline have the same key {node.key!r}.", f"Keep one of {kinds}.")
        self.hooks = tuple(hooks)
        self.edges = _edges(nodes)
        self.parents = {key: [edge for edge in self.edges if edge.child == key] for key in self.nodes}
        try:
            self.order = list(self._sorter().static_order())
        except CycleError as error:
            circle = " → ".join(reversed(error.args[1]))
            raise GraphError(
                f"The pipeline's nodes wait for each other: {circle}.", "Change the `after` of one of them."
            ) from None

    @classmethod
    def from_settings(cls, name: str = "default") -> "Graph":
        """Assemble a graph of `PIPELINES` with the hooks of `PIPELINE_HOOKS`; raises `HookError` too."""
        if name not in settings.PIPELINES:
            raise GraphError(f"There is no pipeline {name!r}.", f"There are: {', '.join(settings.PIPELINES)}.")
        return cls.from_paths(settings.PIPELINES[name], load_hooks(settings.PIPELINE_HOOKS))

    @classmethod
    def from_paths(cls, paths: Sequence[str], hooks: Sequence[Hook] = ()) -> "Graph":
        """Assemble the graph from the dotted paths of node classes."""
        if not isinstance(paths, list | tuple):
            raise GraphError(f"The pipeline is {paths!r}, not a list.", "List the dotted paths of its nodes.")
        return cls([_node(path) for path in paths], hooks)

    async def run(self, state: State, emit: Emit | None = None) -> State:
        """Run the whole turn and return its state, with the answer in `state.answer`.

        If a node fails the turn, `state.answer` keeps what was written so far, and its `error` says in plain words
        what went wrong. Events go to `emit`, which then has to fold them into the answer; without it they are folded
        here.
        """

        async def fold(event: Event) -> None:
            state.answer.apply(event)

        send = emit or fold
        try:
            await self.drive(state, send)
        except NodeFailed as failure:
            failures.log(failure)
            await self.finish(state, send)
            await send(failures.error_event(failure, self.nodes[failure.node].title))
        return state

    async def finish(self, state: State, emit: Emit) -> None:
        """Run the nodes that must run even after a failure or a stop, unless they have finished already."""
        ran = {entry.key for entry in state.trace if entry.status != "stopped"}
        for key in self.order:
            if self.nodes[key].always and key not in ran:
                try:
                    await self._run_node(self.nodes[key], state, emit)
                except NodeFailed as failure:
                    logger.error("Node %s failed at the end of the turn", key, exc_info=failure.cause)

    async def drive(self, state: State, emit: Emit) -> None:
        """Run the nodes and pass their events to `emit`, which folds them into `state.answer`; raises `NodeFailed`."""

        async def checked(event: Event) -> None:
            if not isinstance(event, Event):  # checked here so that the node that emitted it fails
                raise TypeError(f"A node emits events, not {type(event).__name__}.")
            await emit(event)

        sorter = self._sorter()
        sorter.prepare()
        course = _Course()
        running: dict[asyncio.Task[None], str] = {}
        try:
            while sorter.is_active():
                ready = sorter.get_ready()
                if len(ready) == 1 and not running:  # a node that runs alone needs no task
                    await self._visit(ready[0], state, checked, course)
                    sorter.done(*ready)
                    await asyncio.sleep(0)  # let the consumers of its events run before the next node
                    continue
                for key in ready:
                    running[asyncio.create_task(self._visit(key, state, checked, course))] = key
                done, _pending = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    sorter.done(running.pop(task))
                    task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _sorter(self) -> "TopologicalSorter[str]":
        return TopologicalSorter({key: [edge.parent for edge in self.parents[key]] for key in self.nodes})

    async def _visit(self, key: str, state: State, emit: Emit, course: _Course) -> None:
        """Run a node if the turn reaches it, and let it choose how the turn continues; raises `NodeFailed`."""
        node = self.nodes[key]
        try:
            edges = self.parents[key]
            if edges and not node.always and not any(course.takes(edge, state) for edge in edges):
                state.trace.append(NodeTrace(key, "skipped", timezone.now(), 0.0))
                logger.debug("Node %s is not reached in this turn", key)
                return
            course.reached.add(key)
            await self._run_node(node, state, emit)
            if node.branches is not None:
                chosen = course.chosen[key] = node.choose(state)
                if unknown := ", ".join(map(repr, sorted(set(chosen) - set(node.branches)))):
                    raise GraphError(f"{key!r} chose {unknown}, which is none of its branches.")
        except NodeFailed:
            raise
        except Exception as error:
            raise NodeFailed(key, error) from error

    async def _run_node(self, node: Node, state: State, emit: Emit) -> None:
        run = NodeRun(node, state, emit)
        try:
            if node.wanted(run.view):
                await run.announce()
                await run.within(self.hooks)
        except asyncio.CancelledError:
            run.stop()
            raise
        except Exception as error:
            await run.fail(error)
            if node.on_error == "fail" or isinstance(error, UndeclaredAccess):
                raise NodeFailed(node.key, error) from error
            return
        await run.end()


def _node(path: str) -> Node:
    hint = "Give the dotted path of a subclass of conversations.pipeline.graph.Node."
    if not isinstance(path, str):
        raise GraphError(f"{path!r} is not a dotted path.", hint)
    try:
        found = import_string(path)
    except ImportError as error:
        raise GraphError(f"The pipeline node {path!r} can't be imported: {error}", hint) from None
    if not (isinstance(found, type) and issubclass(found, Node)):
        raise GraphError(f"{path!r} is not a pipeline node.", hint)
    try:
        node = found()
    except TypeError as error:
        hint = "It must have a `run` method and take no arguments."
        raise GraphError(f"The pipeline node {path!r} can't be instantiated: {error}", hint) from None
    if not _KEY.fullmatch(str(getattr(node, "key", ""))):
        raise GraphError(
            f"The pipeline node {path!r} has no usable key.",
            "Set its class variable `key` to a short slug of lowercase letters, digits and underscores.",
        )
    for mistake, hint in node_problems(node):
        raise GraphError(f"The pipeline node {path!r} can't be used. {mistake}", hint)
    return node


def _edges(nodes: Sequence[Node]) -> list[Edge]:
    """Return the edges into each node, in the order of the list; raises `GraphError` if a node is missing."""
    found: dict[tuple[str, str], Edge] = {}
    for previous, node in zip((None, *nodes), nodes, strict=False):
        for place in (PREVIOUS,) if node.after is None else node.after:
            named = place.node if isinstance(place, When) else place
            parent: str | None = named
            if named == PREVIOUS:
                parent = previous.key if previous else None
            if parent is not None:  # there is nothing before the first node
                choice = (place.condition, place.label) if isinstance(place, When) else ()
                found[parent, node.key] = Edge(parent, node.key, *choice)
    for node in nodes:
        for key in node.branches or ():
            found.setdefault((node.key, key), Edge(node.key, key))
    known = {node.key for node in nodes}
    for edge in found.values():
        if edge.child not in known:
            message = f"The pipeline node {edge.parent!r} has the branch {edge.child!r}, which is not in the pipeline."
            raise GraphError(message, f"Add the node with this key, or remove it from {edge.parent!r}'s `branches`.")
        if edge.parent not in known:
            message = f"The pipeline node {edge.child!r} runs after {edge.parent!r}, which is not in the pipeline."
            raise GraphError(message, f"Add the node with this key, or change the `after` of {edge.child!r}.")
    return list(found.values())
