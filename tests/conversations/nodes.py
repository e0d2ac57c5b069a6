"""Helpers for tests of the engine: ad-hoc nodes and states."""

from typing import Any

from conversations.events import Event
from conversations.pipeline.graph import Context, Graph, Node
from conversations.pipeline.state import Request, State


def make_state(question: str = "q", **parts: Any) -> State:
    """Return the state of a turn with a question; `parts` are fields of `State`."""
    return State(Request(user_id=1, session_id=1, question=question), **parts)


def make_node(key: str, body: Any = None, **attributes: Any) -> Node:
    """Return a node that runs `body` and notes that it ran."""

    async def run(self: Node, state: State, ctx: Context) -> None:
        if body is not None:
            await body(state, ctx.emit)
        ctx.note(ran=True)

    return type(f"Node_{key}", (Node,), {"key": key, "run": run, **attributes})()


async def collect(graph: Graph, state: State, into: list[Event] | None = None) -> list[Event]:
    """Run a graph to its end and return its events, which are appended to `into` even if it fails."""
    events = [] if into is None else into

    async def take(event: Event) -> None:
        state.answer.apply(event)
        events.append(event)

    await graph.drive(state, take)
    return events


def outcome(state: State) -> dict[str, str]:
    """Return the status of each node by key, in the order in which they ended."""
    return {entry.key: entry.status for entry in state.trace}
