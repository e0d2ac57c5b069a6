"""Hooks around every node: their order, and what they may do."""

import asyncio

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks

from conversations.events import Delta, Event, StepEvent
from conversations.models import ChatSession, TraceStep
from conversations.pipeline import node_run
from conversations.pipeline.graph import Emit, Graph, Node, NodeError, NodeFailed
from conversations.pipeline.hooks import Hook, HookError, Proceed, load_hooks
from conversations.pipeline.state import State
from conversations.turns import lifecycle
from tests.conversations.conftest import run_turn
from tests.conversations.nodes import collect, make_node, make_state, outcome

HERE = "tests.conversations.pipeline.test_hooks"
seen: list[str] = []


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    seen.clear()


async def outer(node: Node, state: State, proceed: Proceed) -> None:
    seen.append(f"outer before {node.key}")
    await proceed()
    seen.append(f"outer after {node.key}")


class Inner:
    """A hook with state of its own."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, node: Node, state: State, proceed: Proceed) -> None:
        self.count += 1
        seen.append(f"inner {self.count}")
        await proceed()


async def skip_b(node: Node, state: State, proceed: Proceed) -> None:
    if node.key != "b":
        await proceed()


async def try_twice(node: Node, state: State, proceed: Proceed) -> None:
    try:
        await proceed()
    except RuntimeError:
        await proceed()


async def in_other_words(node: Node, state: State, proceed: Proceed) -> None:
    try:
        await proceed()
    except RuntimeError as error:
        raise NodeError("Ask the librarian.") from error


def not_a_coroutine(node: Node, state: State, proceed: Proceed) -> None: ...


async def takes_too_little(node: Node) -> None: ...


async def fail_once(state: State, emit: Emit) -> None:
    seen.append("failing")
    if seen.count("failing") == 1:
        raise RuntimeError("broken")


async def test_the_first_hook_is_the_outermost_and_each_node_is_wrapped() -> None:
    hooks = load_hooks([f"{HERE}.outer", f"{HERE}.Inner"])
    await collect(Graph([make_node("a"), make_node("b")], hooks), make_state())
    assert seen == ["outer before a", "inner 1", "outer after a", "outer before b", "inner 2", "outer after b"]


async def test_a_hook_may_skip_a_node() -> None:
    state = make_state()
    events = await collect(Graph([make_node("a"), make_node("b", step=3), make_node("c")], [skip_b]), state)
    assert outcome(state) == {"a": "completed", "b": "skipped", "c": "completed"}
    assert [event.status for event in events if isinstance(event, StepEvent)] == ["processing", "skipped"]
    assert not state.details["b"]


async def test_a_hook_may_run_a_node_again() -> None:
    state = make_state()
    await collect(Graph([make_node("a", fail_once)], [try_twice]), state)
    assert outcome(state) == {"a": "completed"}


async def test_a_hook_may_replace_an_error() -> None:
    with pytest.raises(NodeFailed) as raised:
        await collect(Graph([make_node("a", fail_once)], [in_other_words]), make_state())
    assert str(raised.value.cause) == "Ask the librarian."


async def hang(node: Node, state: State, proceed: Proceed) -> None:
    await proceed()
    await asyncio.sleep(20)


async def work_a_little(node: Node, state: State, proceed: Proceed) -> None:
    for _attempt in range(3):
        await asyncio.sleep(0.01)
        await proceed()


async def be_slow(state: State, emit: Emit) -> None:
    await asyncio.sleep(0.05)


async def test_a_hook_that_hangs_fails_its_node_by_the_nodes_timeout() -> None:
    state = make_state()
    async with asyncio.timeout(15):
        await collect(
            Graph([make_node("a", timeout=0.05, on_error="skip"), make_node("b", timeout=9)], [hang_at_a]), state
        )
    assert outcome(state) == {"a": "error", "b": "completed"}
    assert state.details["a"]["error"] == "This step took longer than 0.05 s."


async def hang_at_a(node: Node, state: State, proceed: Proceed) -> None:
    await (hang(node, state, proceed) if node.key == "a" else proceed())


async def test_a_hook_around_a_node_without_a_timeout_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_run, "HOOK_TIMEOUT", 0.02)
    state = make_state()
    async with asyncio.timeout(15):
        await collect(Graph([make_node("a", timeout=None, on_error="skip")], [hang]), state)
    assert outcome(state) == {"a": "error"}


async def test_the_nodes_own_time_is_not_that_of_its_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_run, "HOOK_TIMEOUT", 0.1)
    state = make_state()
    await collect(Graph([make_node("a", be_slow, timeout=None)], [work_a_little]), state)  # three times 0.05 s
    assert outcome(state) == {"a": "completed"}


async def test_unwanted_nodes_are_not_wrapped_but_final_ones_are() -> None:
    async def ignore(event: Event) -> None: ...

    graph = Graph([make_node("a", wanted=lambda self, state: False), make_node("save", always=True)], [outer])
    await graph.finish(make_state(), ignore)
    assert seen == ["outer before save", "outer after save"]


async def wait_for_what_is_cancelled(node: Node, state: State, proceed: Proceed) -> None:
    task = asyncio.create_task(proceed())  # type: ignore[arg-type]
    task.cancel()
    await task


async def leave(node: Node, state: State, proceed: Proceed) -> None:
    raise SystemExit


@pytest.mark.parametrize("hook", [wait_for_what_is_cancelled, leave])
@pytest.mark.parametrize("beside", [(), ("b",)])
async def test_a_misbehaving_hook_fails_its_node_without_blocking_others(hook: Hook, beside: list[str]) -> None:
    graph = Graph([make_node(key, after=()) for key in ("a", *beside)], [hook])
    with pytest.raises(NodeFailed) as failed:
        async with asyncio.timeout(20):
            await collect(graph, make_state())
    assert isinstance(failed.value.cause, RuntimeError)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"{HERE}.nowhere", "can't be loaded"),
        (f"{HERE}.not_a_coroutine", "not a pipeline hook"),
        (f"{HERE}.takes_too_little", "not a pipeline hook"),
        (f"{HERE}.HERE", "not a pipeline hook"),
    ],
)
def test_an_invalid_hook_is_refused_at_startup(path: str, words: str, settings: object) -> None:
    with pytest.raises(HookError, match=words):
        load_hooks([path])
    settings.PIPELINE_HOOKS = [path]  # type: ignore[attr-defined]
    assert [error.id for error in run_checks() if error.id.startswith("conversations")] == ["conversations.E005"]


async def shout(node: Node, state: State, proceed: Proceed) -> None:
    """Change the state before one node, and the result of another."""
    if node.key == "understand":
        state.extra["asked at"] = node.key
    await proceed()
    if node.key == "understand":
        state.plan.action = "clarify"


@pytest.mark.django_db(transaction=True)
async def test_a_hook_of_the_settings_works_on_a_real_turn(owner: User, session: ChatSession, settings: object) -> None:
    settings.PIPELINE_HOOKS = [f"{HERE}.outer", f"{HERE}.shout"]  # type: ignore[attr-defined]
    lifecycle.pipeline.cache_clear()
    try:
        events = await run_turn(owner, session, "Where is the reset button of the switch?")
    finally:
        lifecycle.pipeline.cache_clear()
    text = "".join(event.text or "" for event in events if isinstance(event, Delta))
    assert "What would you like to know?" in text
    ran = [key async for key in TraceStep.objects.exclude(status="skipped").values_list("key", flat=True)]
    assert {f"outer after {key}" for key in ran} <= set(seen)
