"""The graph as Mermaid text, and as boxes and lines that a template draws as SVG. Pure; sizes in pixels."""

from collections.abc import Iterable
from dataclasses import dataclass

from conversations.pipeline.graph import Edge, Graph
from conversations.pipeline.node import Node

# Words that mean something to Mermaid and can't be ids.
_RESERVED = frozenset(
    {"call", "class", "click", "default", "direction", "end", "flowchart", "graph", "href", "style", "subgraph"}
)
_ESCAPES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "\n": " "})

_WIDTH, _HEIGHT = 280, 46
_GAP_X, _GAP_Y = 30, 34
_LANE = 26
_MARGIN = 12


def mermaid(graph: Graph) -> str:
    """Return the graph as a Mermaid flow chart, in the active language.

    Round boxes are nodes that some turns skip, rhombs choose what follows; edges taken for some states carry a label.
    """
    lines = ["flowchart TD"]
    for key in graph.order:
        node = graph.nodes[key]
        opens, closes = "{}" if node.branches is not None else "()" if is_optional(node) else "[]"
        lines.append(f'    {_ident(key)}{opens}"{str(node.title or node.key).translate(_ESCAPES)}"{closes}')
    for edge in _ordered(graph):
        label = str(edge.label).translate(_ESCAPES) if edge.condition is not None else ""
        arrow = "-->" if edge.condition is None else f'-. "{label}" .->' if label else "-.->"
        lines.append(f"    {_ident(edge.parent)} {arrow} {_ident(edge.child)}")
    return "\n".join(lines) + "\n"


def _ident(key: str) -> str:
    return f"{key}_" if key in _RESERVED else key


def is_optional(node: Node) -> bool:
    """Whether the node itself may find that a turn doesn't need it."""
    return type(node).wanted is not Node.wanted


def _ordered(graph: Graph) -> Iterable[Edge]:
    return (edge for key in graph.order for edge in graph.parents[key])


@dataclass(frozen=True, slots=True)
class Box:
    """A node; `x` and `y` are of its upper left corner, `middle` and the baselines of its two lines of text."""

    key: str
    title: str
    kind: str  # "plain", "optional" or "branching"
    x: int
    y: int

    width, height = _WIDTH, _HEIGHT

    @property
    def middle(self) -> int:
        """The x of its middle, where it is entered and left."""
        return self.x + _WIDTH // 2

    @property
    def bottom(self) -> int:
        """The y of its lower side."""
        return self.y + _HEIGHT

    @property
    def baselines(self) -> tuple[int, int]:
        """The y of its title and of its key."""
        return self.y + 20, self.y + 36


@dataclass(frozen=True, slots=True)
class Line:
    """An edge as an SVG path; its label stands at `label_x`, `label_y`."""

    path: str
    label: str
    conditional: bool
    label_x: int
    label_y: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """The whole picture, `width` × `height`."""

    boxes: list[Box]
    lines: list[Line]
    width: int
    height: int


def drawing(graph: Graph) -> Drawing:
    """Lay the graph out from top to bottom: nodes that may run side by side stand so, and long edges go round."""
    depths: dict[str, int] = {}  # the length of the longest way to each node
    for key in graph.order:
        depths[key] = max((depths[edge.parent] + 1 for edge in graph.parents[key]), default=0)
    rows: list[list[str]] = [[] for _ in range(max(depths.values()) + 1)]
    for key in graph.nodes:  # in the order of the setting
        rows[depths[key]].append(key)
    widest = max(len(row) for row in rows)
    boxes = {}
    for depth, row in enumerate(rows):
        left = _MARGIN + (widest - len(row)) * (_WIDTH + _GAP_X) // 2
        for column, key in enumerate(row):
            node = graph.nodes[key]
            kind = "branching" if node.branches is not None else "optional" if is_optional(node) else "plain"
            x, y = left + column * (_WIDTH + _GAP_X), _MARGIN + depth * (_HEIGHT + _GAP_Y)
            boxes[key] = Box(key, str(node.title or key), kind, x, y)
    right = _MARGIN + widest * (_WIDTH + _GAP_X)
    # Long edges have lanes at the right, so that those side by side don't cover each other.
    edges = [edge for edge in _ordered(graph) if depths[edge.child] - depths[edge.parent] > 1]
    lanes: dict[Edge, int] = {}
    for edge in sorted(edges, key=lambda item: depths[item.child] - depths[item.parent]):
        taken = {
            lanes[other]
            for other in lanes
            if depths[other.parent] < depths[edge.child] and depths[edge.parent] < depths[other.child]
        }
        lanes[edge] = next(lane for lane in range(len(edges)) if lane not in taken)
    lines = [_line(edge, boxes, right, lanes) for edge in _ordered(graph)]
    longest = max((len(str(edge.label)) for edge in lanes), default=0)
    width = right + (1 + max(lanes.values(), default=-1)) * _LANE + (_MARGIN + 12 * longest if longest else _MARGIN)
    return Drawing(list(boxes.values()), lines, width, len(rows) * (_HEIGHT + _GAP_Y) + 2 * _MARGIN - _GAP_Y)


def _line(edge: Edge, boxes: dict[str, Box], right: int, lanes: dict[Edge, int]) -> Line:
    start, end = boxes[edge.parent], boxes[edge.child]
    label = str(edge.label)
    if edge in lanes:
        x = right + lanes[edge] * _LANE
        y, to = start.y + _HEIGHT * 3 // 4, end.y + _HEIGHT // 4  # a node's own comings and goings stay apart
        down, back = f"Q{x} {y} {x} {y + 8} V{to - 8}", f"Q{x} {to} {x - 8} {to} H{end.x + _WIDTH}"
        path = f"M{start.x + _WIDTH} {y} H{x - 8} {down} {back}"
        return Line(path, label, edge.condition is not None, x + 6, (y + to) // 2)
    half = (start.bottom + end.y) // 2
    path = f"M{start.middle} {start.bottom} C{start.middle} {half} {end.middle} {half} {end.middle} {end.y}"
    return Line(path, label, edge.condition is not None, (start.middle + end.middle) // 2 + 8, half + 4)
