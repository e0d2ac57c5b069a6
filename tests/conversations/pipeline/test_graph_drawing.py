"""The graph as Mermaid text, and the command that writes it."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from conversations.pipeline.drawing import mermaid
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
    assert 'c(["c"])' in lines, "what may be skipped is round"
    assert 'a -. "yes" .-> b' in lines and "b --> c" in lines
    assert 'end_["end"]' in lines and "c --> end_" in lines, "Mermaid has words of its own"


def test_mermaid_draws_nodes_with_branches_as_diamonds() -> None:
    text = mermaid(Graph([make_node("x", branches=("y",)), make_node("y"), make_node("z", after=("y",))]))
    assert 'x{"x"}' in text and "x --> y" in text


def test_the_command_prints_or_writes_the_chart(tmp_path: Path) -> None:
    printed, target = StringIO(), tmp_path / "graph.mmd"
    call_command("pipeline_graph", stdout=printed)
    call_command("pipeline_graph", output=target, stdout=StringIO())
    assert printed.getvalue() == target.read_text() == mermaid(Graph.from_settings())


def test_the_command_reports_a_file_that_it_can_not_write(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be written"):
        call_command("pipeline_graph", output=tmp_path / "nowhere" / "graph.mmd", stdout=StringIO())
