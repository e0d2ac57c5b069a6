"""Conversion of a graph to Mermaid text, which pages draw. Pure."""

from conversations.pipeline.graph import Graph
from conversations.pipeline.node import Node

# Mermaid's reserved words, which can't be ids.
_RESERVED = frozenset(
    {"call", "class", "click", "default", "direction", "end", "flowchart", "graph", "href", "style", "subgraph"}
)
_ESCAPES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "\n": " "})


def mermaid(graph: Graph) -> str:
    """Return the graph as a Mermaid flow chart, in the active language.

    Round boxes are nodes that some turns skip, and diamonds choose the next node. Conditional edges have a label.
    """
    lines = ["flowchart TD"]
    for key in graph.order:
        node = graph.nodes[key]
        opens, closes = "[", "]"
        if node.branches is not None:
            opens, closes = "{", "}"
        elif type(node).wanted is not Node.wanted:
            opens, closes = "([", "])"
        lines.append(f'    {_ident(key)}{opens}"{str(node.title or node.key).translate(_ESCAPES)}"{closes}')
    for edge in (edge for key in graph.order for edge in graph.parents[key]):
        label = str(edge.label).translate(_ESCAPES) if edge.condition is not None else ""
        arrow = "-->"
        if edge.condition is not None:
            arrow = f'-. "{label}" .->' if label else "-.->"
        lines.append(f"    {_ident(edge.parent)} {arrow} {_ident(edge.child)}")
    return "\n".join(lines) + "\n"


def _ident(key: str) -> str:
    return f"{key}_" if key in _RESERVED else key
