"""Branches: edges that depend on the state, and nodes that choose what follows."""

from collections.abc import Collection

import pytest

from conversations.pipeline.graph import PREVIOUS, Context, Emit, Graph, Node, NodeFailed, When
from conversations.pipeline.state import State
from tests.conversations.nodes import collect, make_node, make_state, outcome


def asks(state: State) -> bool:
    return state.plan.action == "retrieve_vector"


def chats(state: State) -> bool:
    return not asks(state)


def fork() -> Graph:
    """Return a graph with one fork: search and rank, or go straight to the answer."""
    return Graph([
        make_node("understand"),
        make_node("search", after=(When(PREVIOUS, asks, "search"),)),
        make_node("rank"),
        make_node("answer", after=(PREVIOUS, When("understand", chats))),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("action", "search", "rank"),
    [("retrieve_vector", "completed", "completed"), ("answer_chat", "skipped", "skipped")],
)
async def test_a_conditional_edge_is_taken_for_matching_states(action: str, search: str, rank: str) -> None:
    state = make_state()
    state.plan.action = action
    await collect(fork(), state)
    assert outcome(state) == {"understand": "completed", "search": search, "rank": rank, "answer": "completed"}


async def test_a_condition_sees_the_changes_of_the_node_before_it() -> None:
    async def decide(state: State, emit: Emit) -> None:
        state.plan.action = "answer_chat"

    state = make_state()
    graph = Graph(
        [make_node("understand", decide, writes=("plan.action",)), make_node("search", after=(When(PREVIOUS, asks),))]
    )
    await collect(graph, state)
    assert outcome(state)["search"] == "skipped"


class Choose(Node):
    """Continues with the nodes that the test named in the question."""

    key = "choose"
    branches = ("left", "right", "end")

    async def run(self, state: State, ctx: Context) -> None:
        pass

    def choose(self, state: State) -> Collection[str]:
        return state.request.question.split()


def crossroads() -> Graph:
    after = (Choose.key,)
    return Graph([Choose(), make_node("left", after=after), make_node("left_2"), make_node("right", after=after),
                  make_node("end", after=("left_2", "right")), make_node("save", always=True)])  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "ran"),
    [
        ("left", {"choose", "left", "left_2", "end", "save"}),
        ("right", {"choose", "right", "end", "save"}),
        ("left right", {"choose", "left", "left_2", "right", "end", "save"}),
        ("end", {"choose", "end", "save"}),
        ("", {"choose", "save"}),
    ],
)
async def test_a_node_chooses_its_branch_and_nodes_that_always_run_do(chosen: str, ran: set[str]) -> None:
    state = make_state(chosen)
    await collect(crossroads(), state)
    assert {key for key, status in outcome(state).items() if status == "completed"} == ran
    assert len(outcome(state)) == 6


async def test_only_branches_can_be_chosen() -> None:
    state = make_state("nowhere")
    with pytest.raises(NodeFailed, match=r"'nowhere', which is none of its branches"):
        await collect(crossroads(), state)


async def test_the_branches_of_an_unwanted_node_are_still_taken() -> None:
    state = make_state("right")
    node = type("Unwanted", (Choose,), {"wanted": lambda self, state: False})()
    await collect(Graph([node, make_node("left"), make_node("right", after=("choose",)), make_node("end")]), state)
    assert outcome(state) == {"choose": "skipped", "left": "skipped", "right": "completed", "end": "completed"}


async def test_a_broken_condition_fails_the_node_that_it_leads_to() -> None:
    def broken(state: State) -> bool:
        raise RuntimeError("broken")

    with pytest.raises(NodeFailed) as raised:
        await collect(Graph([make_node("a"), make_node("b", after=(When("a", broken),))]), make_state())
    assert raised.value.node == "b"
