"""The graph engine: order, conditions, side by side, time-outs, error policies, and its exports."""

import asyncio
from typing import Any

import pytest

from conversations.events import Event, StepEvent
from conversations.pipeline.graph import Emit, Graph, GraphError, Node, NodeFailed
from conversations.pipeline.state import State


def make_state() -> State:
    return State(user_id=1, session_id=1, question="q")


def make_node(key: str, body: Any = None, **attributes: Any) -> Node:
    async def run(self: Node, state: State, emit: Emit) -> State:
        if body is not None:
            await body(state, emit)
        state.note("ran", **{key: True})
        return state

    return type(f"Node_{key}", (Node,), {"key": key, "run": run, **attributes})()


async def collect(graph: Graph, state: State) -> list[Event]:
    return [event async for event in graph.stream(state)]


async def test_nodes_run_in_the_order_of_the_list() -> None:
    state = make_state()
    await Graph([make_node("a"), make_node("b"), make_node("c")]).run(state)
    assert [entry.key for entry in state.trace] == ["a", "b", "c"]
    assert all(entry.status == "completed" for entry in state.trace)


async def test_independent_nodes_run_side_by_side() -> None:
    meeting = asyncio.Barrier(2)

    async def meet(state: State, emit: Emit) -> None:
        async with asyncio.timeout(2):
            await meeting.wait()

    graph = Graph([make_node("a"), make_node("left", meet, after=("a",)), make_node("right", meet, after=("a",)),
                   make_node("end", after=("left", "right"))])  # fmt: skip
    state = await graph.run(make_state())
    assert state.trace[-1].key == "end"


async def test_an_unwanted_node_is_skipped_and_its_followers_run() -> None:
    state = make_state()
    skipped = make_node("b", wanted=lambda self, state: False)
    await Graph([make_node("a"), skipped, make_node("c")]).run(state)
    assert {entry.key: entry.status for entry in state.trace} == {"a": "completed", "b": "skipped", "c": "completed"}


async def test_steps_are_reported_with_their_outcome() -> None:
    events = await collect(Graph([make_node("a", step=2, title="Think")]), make_state())
    assert [(event.step, event.status) for event in events if isinstance(event, StepEvent)] == [
        (2, "processing"), (2, "completed")
    ]  # fmt: skip
    assert isinstance(events[-1], StepEvent) and events[-1].ms is not None


async def fail(state: State, emit: Emit) -> None:
    raise RuntimeError("broken")


async def test_a_failing_node_that_may_be_skipped_does_not_end_the_turn() -> None:
    state = make_state()
    events = await collect(Graph([make_node("a", fail, on_error="skip", step=1), make_node("b")]), state)
    assert [entry.status for entry in state.trace] == ["error", "completed"]
    assert isinstance(events[-1], StepEvent) and events[-1].status == "error"


async def test_a_failing_node_ends_the_turn_after_what_came_before() -> None:
    state = make_state()
    seen: list[Event] = []
    with pytest.raises(NodeFailed) as raised:
        async for event in Graph([make_node("a", step=1), make_node("b", fail, step=2), make_node("c")]).stream(state):
            seen.append(event)
    assert raised.value.node == "b"
    assert [event.status for event in seen if isinstance(event, StepEvent)] == [
        "processing", "completed", "processing", "error"
    ]  # fmt: skip
    assert [entry.key for entry in state.trace] == ["a", "b"]


async def test_a_slow_node_is_ended_by_its_timeout() -> None:
    async def sleep(state: State, emit: Emit) -> None:
        await asyncio.sleep(5)

    with pytest.raises(NodeFailed) as raised:
        await Graph([make_node("a", sleep, timeout=0.01)]).run(make_state())
    assert isinstance(raised.value.cause, TimeoutError)


async def test_closing_the_stream_cancels_the_running_node() -> None:
    ended = asyncio.Event()

    async def forever(state: State, emit: Emit) -> None:
        try:
            await emit(StepEvent(step=1, key="a", step_name="a", status="processing"))
            await asyncio.sleep(60)
        finally:
            ended.set()

    stream = Graph([make_node("a", forever)]).stream(make_state())
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert ended.is_set()


async def test_nodes_that_always_run_run_once_after_a_failure() -> None:
    state = make_state()
    graph = Graph([make_node("a", fail), make_node("save", always=True)])
    with pytest.raises(NodeFailed):
        await graph.run(state)

    async def ignore(event: Event) -> None: ...

    await graph.finish(state, ignore)
    await graph.finish(state, ignore)
    assert [entry.key for entry in state.trace] == ["a", "save"]


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([make_node("a", after=("b",)), make_node("b", after=("a",))], "wait for each other"),
        ([make_node("a", after=("ghost",))], "ghost"),
        ([make_node("a"), make_node("a")], "same key"),
    ],
)
def test_what_is_no_graph_is_refused_in_words(nodes: list[Node], words: str) -> None:
    with pytest.raises(GraphError, match=words):
        Graph(nodes)


@pytest.mark.parametrize("path", ["conversations.nowhere.Node", "conversations.events.Delta"])
def test_a_path_that_is_no_node_is_refused(path: str) -> None:
    with pytest.raises(GraphError, match=r"conversations"):
        Graph.from_paths([path])


def test_the_graph_draws_itself() -> None:
    drawing = Graph([make_node("a", title="First"), make_node("b")]).mermaid()
    assert drawing.startswith("flowchart TD")
    assert 'a["First"]' in drawing and "a --> b" in drawing
