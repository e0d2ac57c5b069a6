"""The geometry of a plot of figures over runs, drawn as SVG by a template. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Units of the drawing; the template's view box is this large.
WIDTH, HEIGHT = 720, 200
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 14, 34
# Gaps between lines of the grid, the finest first.
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)
_MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid or a label of an axis, at `at` units from the drawing's top or left."""

    label: str
    at: float


@dataclass(frozen=True, slots=True)
class Point:
    """A figure of a run; `title` says it in words."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """One figure over the runs. `slug` is its class in the style sheet; `path` draws it."""

    name: str
    slug: str
    points: list[Point]
    last: float

    @property
    def path(self) -> str:
        """The line as an SVG path."""
        return "M" + " L".join(f"{point.x:.1f} {point.y:.1f}" for point in self.points)


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot: lines, the grid's values from below, and the labels of the first and last run."""

    lines: list[Line]
    values: list[Tick]
    runs: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True, slots=True)
class Column:
    """A run to be plotted: its label on the axis, and its figures, from 0 to 1, by name."""

    label: str
    figures: Mapping[str, float]


def plot(columns: Sequence[Column], names: Sequence[str]) -> Chart | None:
    """Return the plot of the named figures over the runs, oldest first; None when there is nothing to draw."""
    found = [column.figures[name] for column in columns for name in names if name in column.figures]
    if not found:
        return None
    low, high, step = scale(min(found), max(found))

    def across(index: int) -> float:
        room = WIDTH - RIGHT - LEFT
        return LEFT + (room * index / (len(columns) - 1) if len(columns) > 1 else room / 2)

    def down(value: float) -> float:
        return TOP + (HEIGHT - BOTTOM - TOP) * (high - value) / (high - low)

    lines = []
    for number, name in enumerate(names, 1):
        shown = [(index, column) for index, column in enumerate(columns) if name in column.figures]
        points = [
            Point(across(index), down(column.figures[name]), f"{name} {column.figures[name]:.3f} · {column.label}")
            for index, column in shown
        ]
        if shown:
            lines.append(Line(name, f"line-{number}", points, shown[-1][1].figures[name]))
    count = round((high - low) / step)
    values = [Tick(f"{low + step * index:.2f}", down(low + step * index)) for index in range(count + 1)]
    ends = dict.fromkeys((0, len(columns) - 1))
    return Chart(lines, values, [Tick(columns[index].label, across(index)) for index in ends])


def scale(least: float, most: float) -> tuple[float, float, float]:
    """Return an axis from below the least figure to above the most, within 0 and 1, and the step of its grid."""
    for step in _STEPS:
        low = math.floor(least / step + 1e-9) * step
        high = math.ceil(most / step - 1e-9) * step
        if high - low < step / 2:  # one value: room above and below
            low, high = max(0.0, low - step), min(1.0, high + step)
        if (high - low) / step <= _MOST_LINES and high - low >= 0.1 - 1e-9:
            return low, min(1.0, high), step
    return 0.0, 1.0, _STEPS[-1]
