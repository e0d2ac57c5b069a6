"""Nodes for tests of the engine: made on the spot, and run on a state that nobody asked."""

from typing import Any

from conversations.events import Event
from conversations.pipeline.graph import Context, Graph, Node
from conversations.pipeline.state import State


def make_state() -> State:
    return State(user_id=1, session_id=1, question="q")


def make_node(key: str, body: Any = None, **attributes: Any) -> Node:
    """Return a node that runs `body`, and notes that it ran."""

    async def run(self: Node, state: State, ctx: Context) -> None:
        if body is not None:
            await body(state, ctx.emit)
        state.note("ran", **{key: True})

    return type(f"Node_{key}", (Node,), {"key": key, "run": run, **attributes})()


async def collect(graph: Graph, state: State) -> list[Event]:
    return [event async for event in graph.stream(state)]


def outcome(state: State) -> dict[str, str]:
    """Return how each node ended, by key, in the order in which they ended."""
    return {entry.key: entry.status for entry in state.trace}
