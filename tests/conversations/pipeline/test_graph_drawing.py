"""The graph as Mermaid text and as a picture, the command that writes it and the page that shows it."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from conversations.pipeline.drawing import drawing, mermaid
from conversations.pipeline.graph import PREVIOUS, Graph, When
from tests.conversations.nodes import make_node


def forked() -> Graph:
    return Graph([
        make_node("a", title='Say "hi" <b>#1'),
        make_node("b", after=(When(PREVIOUS, lambda state: True, "yes"),)),
        make_node("c", wanted=lambda self, state: True),
        make_node("end", after=(PREVIOUS, When("a", lambda state: False, "no"))),
    ])  # fmt: skip


def test_mermaid_names_nodes_edges_and_conditions() -> None:
    lines = [line.strip() for line in mermaid(forked()).splitlines()]
    assert lines[0] == "flowchart TD"
    assert 'a["Say #quot;hi#quot; #lt;b#gt;#35;1"]' in lines
    assert 'c("c")' in lines, "what may be skipped is round"
    assert 'a -. "yes" .-> b' in lines and "b --> c" in lines
    assert 'end_["end"]' in lines and "c --> end_" in lines, "Mermaid has words of its own"


def test_mermaid_draws_who_chooses() -> None:
    text = mermaid(Graph([make_node("x", branches=("y",)), make_node("y"), make_node("z", after=("y",))]))
    assert 'x{"x"}' in text and "x --> y" in text


def test_the_picture_has_every_node_and_edge_within_its_frame() -> None:
    graph = Graph.from_settings()
    picture = drawing(graph)
    assert [box.key for box in picture.boxes] and {box.key for box in picture.boxes} == set(graph.nodes)
    assert len(picture.lines) == len(graph.edges)
    for box in picture.boxes:
        assert box.x >= 0 and box.x + box.width <= picture.width and box.bottom <= picture.height
    for line in picture.lines:
        numbers = [int(number) for number in re.findall(r"-?\d+", line.path)]
        assert min(numbers) >= 0 and max(numbers) <= max(picture.width, picture.height)


def test_boxes_do_not_cover_each_other_and_edges_lead_down() -> None:
    picture = drawing(Graph.from_settings())
    places = [(box.x, box.y) for box in picture.boxes]
    assert len(set(places)) == len(places)
    below = {box.key: box.y for box in picture.boxes}
    assert all(below[edge.parent] < below[edge.child] for edge in Graph.from_settings().edges)


def test_long_edges_side_by_side_have_lanes_of_their_own() -> None:
    nodes = [make_node("a"), make_node("b"), make_node("c", after=("a", "b")), make_node("d", after=("a", "c"))]
    ways = [line.path for line in drawing(Graph(nodes)).lines if "H" in line.path]
    assert len(ways) == 2 and len({re.findall(r"Q(\d+)", way)[0] for way in ways}) == 2


def test_the_command_prints_or_writes_the_chart(tmp_path: Path) -> None:
    printed, target = StringIO(), tmp_path / "graph.mmd"
    call_command("pipeline_graph", stdout=printed)
    call_command("pipeline_graph", output=target, stdout=StringIO())
    assert printed.getvalue() == target.read_text() == mermaid(Graph.from_settings())


def test_the_command_says_what_it_can_not_write(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be written"):
        call_command("pipeline_graph", output=tmp_path / "nowhere" / "graph.mmd", stdout=StringIO())
