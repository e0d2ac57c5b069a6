"""The graph engine: order, conditions, concurrency, timeouts and errors."""

import asyncio
import logging
import re
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from conversations.events import BlockStart, Delta, Event, StepEvent, plain_text
from conversations.pipeline.graph import Context, Emit, Graph, GraphError, Node, NodeError, NodeFailed, When
from conversations.pipeline.state import Past, State
from ragsite.runtime.logs import RequestId, about_request
from tests.conversations.nodes import collect, make_node, make_state, outcome


async def test_a_failed_node_that_is_skipped_leaves_no_partial_changes() -> None:
    async def half(state: State, emit: Emit) -> None:
        state.plan.rewrite = "half"
        state.plan.key_terms += ("half",)
        state.past.memories.append("half")
        state.extra |= {"mine": "half", "new": "half"}
        raise ZeroDivisionError

    state = make_state(past=Past(memories=["whole"]), extra={"mine": "whole"})
    writes = ("plan.rewrite", "plan.key_terms", "past.memories", "extra.mine", "extra.new")
    await collect(Graph([make_node("a", half, on_error="skip", writes=writes), make_node("b")]), state)
    kept = (state.plan.rewrite, state.plan.key_terms, state.past.memories, state.extra)
    assert kept == ("", (), ["whole"], {"mine": "whole"})


@pytest.mark.parametrize(
    ("touch", "error"),
    [
        (lambda state: state.plan.queries, "'a' reads 'plan.queries'"),
        (lambda state: state.past.conversation, "'a' reads 'past.turns'"),
        (lambda state: state.details, "'a' reads 'details'"),
        (lambda state: setattr(state.plan, "rewrite", "x"), "'a' writes 'plan.rewrite'"),
        (lambda state: state.extra.get("theirs"), "'a' reads 'extra.theirs'"),
        (lambda state: state.extra.update(theirs=1), "'a' writes 'extra.theirs'"),
        (lambda state: (state.plan.k, state.extra.update(own=state.found.hits), state.request.question), ""),
    ],
)
@pytest.mark.parametrize("on_error", ["skip", "fail"])
async def test_a_node_can_only_use_declared_fields(touch: Callable[[State], object], error: str, on_error: str) -> None:
    async def body(state: State, emit: Emit) -> None:
        touch(state)

    node = make_node("a", body, reads=("plan.k",), may_read=("found.hits",), writes=("extra.own",), on_error=on_error)
    with pytest.raises(NodeFailed, match=re.escape(error)) if error else nullcontext():
        await collect(Graph([node]), make_state())


async def test_a_node_that_returns_a_value_fails() -> None:
    async def run(self: Node, state: State, ctx: Context) -> State:
        return state

    state = make_state()
    with pytest.raises(NodeFailed) as failed:
        await collect(Graph([make_node("a", run=run)]), state)
    assert isinstance(failed.value.cause, TypeError) and "'a' returned a DeclaredState" in str(failed.value.cause)
    # Administrators find it in the trace; the user is told only that the step failed.
    assert state.details["a"]["error_detail"].startswith("Node 'a' returned a DeclaredState: it must")
    assert "returned" not in state.details["a"]["error"]


async def test_a_node_that_returns_a_value_is_named_even_if_it_is_skipped(caplog: pytest.LogCaptureFixture) -> None:
    async def run(self: Node, state: State, ctx: Context) -> int:
        return 5

    state = make_state()
    await collect(Graph([make_node("glossary", run=run, on_error="skip")]), state)
    assert state.details["glossary"]["error_detail"].startswith("Node 'glossary' returned a int")
    assert "Node 'glossary' returned a int" in caplog.text


async def test_nodes_run_in_the_order_of_the_list() -> None:
    state = make_state()
    await Graph([make_node("a"), make_node("b"), make_node("c")]).run(state)
    assert [entry.key for entry in state.trace] == ["a", "b", "c"]
    assert all(entry.status == "completed" for entry in state.trace)


async def test_independent_nodes_run_concurrently() -> None:
    meeting = asyncio.Barrier(2)

    async def meet(state: State, emit: Emit) -> None:
        async with asyncio.timeout(20):
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


async def test_each_node_is_logged_at_debug_level_without_any_text(caplog: pytest.LogCaptureFixture) -> None:
    nodes = [make_node("a"), make_node("b", wanted=lambda self, state: False), make_node("c", fail, on_error="skip"),
             make_node("d", after=(When("c", lambda state: False),)), make_node("e", fail, after=("c",))]  # fmt: skip
    state = make_state("secret words")
    caplog.handler.addFilter(RequestId())
    with caplog.at_level(logging.DEBUG, "conversations.pipeline"), about_request(state.request.request_id):
        await Graph(nodes).run(state)
    lines = [re.sub(r"[\d.]+ ms", "# ms", record.message) for record in caplog.records if record.levelname == "DEBUG"]
    assert lines == [
        "Node a started", "Node a ended: completed, # ms", "Node b ended: skipped, # ms", "Node c started",
        "Node c ended: error, # ms", "Node d is not reached in this turn", "Node e started",
        "Node e ended: error, # ms",
    ]  # fmt: skip
    assert {record.__dict__["request_id"] for record in caplog.records} == {str(state.request.request_id)}
    assert "secret" not in caplog.text
    caplog.clear()
    await Graph(nodes).run(make_state())
    assert not [record for record in caplog.records if record.levelname == "DEBUG"]


async def test_a_failing_node_that_may_be_skipped_does_not_end_the_turn() -> None:
    state = make_state()
    events = await collect(Graph([make_node("a", fail, on_error="skip", step=1), make_node("b")]), state)
    assert [entry.status for entry in state.trace] == ["error", "completed"]
    assert isinstance(events[-1], StepEvent) and events[-1].status == "error"


async def test_a_failing_node_ends_the_turn_after_earlier_nodes() -> None:
    state = make_state()
    seen: list[Event] = []
    with pytest.raises(NodeFailed) as raised:
        await collect(Graph([make_node("a", step=1), make_node("b", fail, step=2), make_node("c")]), state, seen)
    assert raised.value.node == "b"
    assert [event.status for event in seen if isinstance(event, StepEvent)] == [
        "processing", "completed", "processing", "error"
    ]  # fmt: skip
    assert [entry.key for entry in state.trace] == ["a", "b"]


async def test_a_slow_node_is_ended_by_its_timeout() -> None:
    async def sleep(state: State, emit: Emit) -> None:
        await asyncio.sleep(5)

    with pytest.raises(NodeFailed) as raised:
        await collect(Graph([make_node("a", sleep, timeout=0.01)]), make_state())
    assert isinstance(raised.value.cause, TimeoutError)


async def test_a_failed_turn_keeps_the_partial_answer_and_says_what_went_wrong() -> None:
    async def write(state: State, emit: Emit) -> None:
        for event in (BlockStart(id="b1", kind="text"), Delta(id="b1", text="Half an ans")):
            await emit(event)

    async def refuse(state: State, emit: Emit) -> None:
        raise NodeError("The weather office is closed.", code="closed", retryable=False)

    nodes = [make_node("a", write), make_node("b", refuse), make_node("c"), make_node("save", always=True)]
    state = await Graph(nodes).run(make_state())
    assert plain_text(state.answer.blocks) == "Half an ans"
    assert state.answer.error is not None
    assert (state.answer.error["code"], state.answer.error["message"]) == ("closed", "The weather office is closed.")
    assert outcome(state) == {"a": "completed", "b": "error", "save": "completed"}


async def test_an_unexpected_error_only_names_the_step() -> None:
    state = await Graph([make_node("a", fail, title="Count the sheep")]).run(make_state())
    assert state.answer.error is not None
    assert "Count the sheep" in state.answer.error["message"] and "broken" not in state.answer.error["message"]


async def test_errors_in_conditions_and_messages_belong_to_their_node() -> None:
    def broken(*args: object) -> bool:
        raise RuntimeError("broken")

    state = await Graph([make_node("a", wanted=broken, on_error="skip"), make_node("b")]).run(make_state())
    assert outcome(state) == {"a": "error", "b": "completed"}
    state = await Graph([make_node("a", message=broken, step=1), make_node("b")]).run(make_state())
    assert outcome(state) == {"a": "completed", "b": "completed"}


async def test_all_events_before_a_failure_arrive() -> None:
    async def chatter(state: State, emit: Emit) -> None:
        for number in range(600):
            await emit(Delta(id="b1", text=str(number)))
        raise RuntimeError("broken")

    seen: list[Event] = []
    with pytest.raises(NodeFailed):
        async with asyncio.timeout(20):
            await collect(Graph([make_node("a", chatter)]), make_state(), seen)
    assert len(seen) == 600


async def test_a_turn_that_is_cancelled_cancels_the_running_node() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def forever(state: State, emit: Emit) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    turn = asyncio.create_task(collect(Graph([make_node("a", forever)]), make_state()))
    await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert ended.is_set()


async def test_nodes_that_always_run_run_once_after_a_failure() -> None:
    state = make_state()
    graph = Graph([make_node("a", fail), make_node("save", always=True)])
    with pytest.raises(NodeFailed):
        await collect(graph, state)

    async def ignore(event: Event) -> None: ...

    await graph.finish(state, ignore)
    await graph.finish(state, ignore)
    assert [entry.key for entry in state.trace] == ["a", "save"]


async def test_a_node_that_always_runs_runs_again_after_it_was_stopped() -> None:
    reached = asyncio.Event()
    waits = [60, 0]

    async def slow(state: State, emit: Emit) -> None:
        await emit(StepEvent(step=1, key="save", step_name="", status="processing"))
        reached.set()
        await asyncio.sleep(waits.pop(0))

    async def ignore(event: Event) -> None: ...

    state, graph = make_state(), Graph([make_node("save", slow, always=True)])
    turn = asyncio.create_task(collect(graph, state))
    await reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await graph.finish(state, ignore)
    assert [entry.status for entry in state.trace] == ["stopped", "completed"]


async def test_a_failure_at_the_end_of_a_failed_turn_does_not_prevent_saving() -> None:
    async def ignore(event: Event) -> None: ...

    state = make_state()
    await Graph([make_node("check", fail, always=True), make_node("save", always=True)]).finish(state, ignore)
    assert outcome(state) == {"check": "error", "save": "completed"}


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([make_node("a", after=("b",)), make_node("b", after=("a",))], "wait for each other"),
        ([make_node("a", after=("ghost",))], "ghost"),
        ([make_node("a"), make_node("a")], "same key"),
        ([make_node("a", branches=("ghost",))], "branch 'ghost'"),
        ([], "no nodes"),
    ],
)
def test_an_invalid_graph_is_refused_with_a_message(nodes: list[Node], words: str) -> None:
    with pytest.raises(GraphError, match=words):
        Graph(nodes)


@pytest.mark.parametrize("path", ["conversations.nowhere.Node", "conversations.events.Delta"])
def test_a_path_that_is_not_a_node_is_refused(path: str) -> None:
    with pytest.raises(GraphError, match=r"conversations"):
        Graph.from_paths([path])
