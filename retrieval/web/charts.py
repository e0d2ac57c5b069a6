"""The geometry of a line chart of figures over runs, which a template draws as SVG. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# The size of the template's view box, in its units.
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
    """A figure of a run; `title` describes it."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """One figure over the runs. `slug` is its CSS class."""

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
    """A chart: lines, the grid's values from the bottom up, and the labels of the first and last run."""

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
    """A run to plot: its label on the axis, and its figures, from 0 to 1, by name."""

    label: str
    figures: Mapping[str, float]


def plot(columns: Sequence[Column], names: Sequence[str]) -> Chart | None:
    """Return the chart of the named figures over the runs, oldest first; None if there is nothing to draw."""
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
    """Return the bounds of an axis that includes both values, within 0 and 1, and the step of its grid."""
    for step in _STEPS:
        low = math.floor(least / step + 1e-9) * step
        high = math.ceil(most / step - 1e-9) * step
        if high - low < step / 2:  # one value: room above and below
            low, high = max(0.0, low - step), min(1.0, high + step)
        if (high - low) / step <= _MOST_LINES and high - low >= 0.1 - 1e-9:
            return low, min(1.0, high), step
    return 0.0, 1.0, _STEPS[-1]
