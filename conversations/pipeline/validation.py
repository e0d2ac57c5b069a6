"""Checks of an assembled graph for unreachable nodes, missing inputs and conflicts.

Nodes declare the fields of the state that they read and write, so that a pipeline that can't work is reported when the
site starts instead of in the middle of an answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from conversations.pipeline.graph import Graph
from conversations.pipeline.state import FIELDS, GIVEN

# Fields without which a turn can't start or answer.
_NEEDED = {"started": "the turn would never begin", "answer.blocks": "nothing would be answered"}
# Nodes may share values of their own under `State.extra`, as "extra.weather".
_OWN = "extra."

Kind = Literal["unreachable", "unknown field", "missing input", "side by side"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, with a hint on how to fix it."""

    kind: Kind
    message: str
    hint: str


def graph_problems(graph: Graph) -> list[Problem]:
    """Return the problems of a graph, in the order of its nodes."""
    before: dict[str, set[str]] = {}  # for each node, those that always run or are skipped before it
    for key in graph.order:
        parents = {edge.parent for edge in graph.parents[key]}
        before[key] = parents.union(*(before[parent] for parent in parents))
    return [
        *_unreachable(graph),
        *(
            Problem(
                "unknown field",
                f"The pipeline node {node.key!r} names {name!r}, which the state doesn't have.",
                f"Give a part and a field, such as 'plan.queries'; declare a value of your own as 'extra.{name}'.",
            )
            for node in graph.nodes.values()
            for name in (*node.reads, *node.may_read, *node.writes)
            if name not in FIELDS and not name.startswith(_OWN)
        ),
        *_missing_inputs(graph, before),
        *(
            Problem("missing input", f"No pipeline node writes {name!r}: {why}.", f"Add a node that writes {name!r}.")
            for name, why in _NEEDED.items()
            if not any(name in node.writes for node in graph.nodes.values())
        ),
        *_side_by_side(graph, before),
    ]


def _unreachable(graph: Graph) -> Iterator[Problem]:
    reached: set[str] = set()
    for key in graph.order:
        edges = graph.parents[key]
        branching = [(edge.parent, graph.nodes[edge.parent].branches) for edge in edges]
        shut = [parent for parent, branches in branching if branches is not None and key not in branches]
        open_edges = any(edge.parent in reached and edge.parent not in shut for edge in edges)
        if open_edges or not edges or graph.nodes[key].always:
            reached.add(key)
        elif shut:
            yield Problem(
                "unreachable",
                f"The pipeline node {key!r} is never reached: {shut[0]!r} leads only to its `branches`.",
                f"Add {key!r} to the `branches` of {shut[0]!r}, or change the `after` of {key!r}.",
            )
        else:
            yield Problem(
                "unreachable",
                f"The pipeline node {key!r} is never reached, because no node before it is.",
                f"Change the `after` of {key!r}.",
            )


def _missing_inputs(graph: Graph, before: dict[str, set[str]]) -> Iterator[Problem]:
    for key in graph.order:
        given = GIVEN.union(*(graph.nodes[other].writes for other in before[key]))
        for name in graph.nodes[key].reads:
            if name in given:
                continue
            writers = [node.key for node in graph.nodes.values() if name in node.writes and node.key != key]
            yield Problem(
                "missing input",
                f"The pipeline node {key!r} reads {name!r}, which no node before it writes.",
                f"Make {key!r} run after {' or '.join(map(repr, writers))}."
                if writers
                else f"Put a node that writes {name!r} before it, or declare {name!r} in `may_read`.",
            )


def _side_by_side(graph: Graph, before: dict[str, set[str]]) -> Iterator[Problem]:
    """Yield a problem for each field that a node writes while another that may run at the same time uses it."""
    for one, other in combinations(graph.nodes.values(), 2):
        if one.key in before[other.key] or other.key in before[one.key]:
            continue
        touched = [{*node.reads, *node.may_read, *node.writes} for node in (one, other)]
        for name in sorted(set(one.writes) & touched[1] | set(other.writes) & touched[0]):
            yield Problem(
                "side by side",
                f"The pipeline nodes {one.key!r} and {other.key!r} may run at the same time, and both use {name!r}, "
                "which one of them writes.",
                f"Make one run after the other: name {one.key!r} in the `after` of {other.key!r}.",
            )
