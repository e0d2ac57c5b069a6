"""The geometry of the first page's charts, which templates render as SVG. Pure.

A chart is stretched to the available width; its labels are HTML text beside it, so that they keep their size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# Units of a column chart; the width of a column includes the gap to the next.
COLUMN, HEIGHT = 10.0, 100.0
_GAP = 2.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a column; `slug` is its CSS class."""

    slug: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its segments from the bottom up, and its tooltip."""

    x: float
    title: str
    segments: list[Segment]
    width: float = COLUMN - _GAP


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns, the width of the chart, and the labels of its axis at the top, middle and bottom."""

    columns: list[Column]
    width: float
    values: list[str]
    height: float = HEIGHT


def stacked(counts: Sequence[Sequence[int]], slugs: Sequence[str], titles: Sequence[str]) -> Chart:
    """Return a chart of stacked counts by kind (`slugs`), with a column per title."""
    top = round_up(max((sum(each) for each in counts), default=0))
    columns = []
    for number, (each, title) in enumerate(zip(counts, titles, strict=True)):
        below, segments = 0, []
        for slug, count in zip(slugs, each, strict=True):
            if count:
                below += count
                segments.append(Segment(slug, HEIGHT * (1 - below / top), HEIGHT * count / top))
        columns.append(Column(COLUMN * number + _GAP / 2, title, segments))
    return Chart(columns, COLUMN * max(1, len(columns)), [f"{top:,}", f"{top // 2:,}", "0"])


def round_up(most: int) -> int:
    """Return the end of an axis: at least 2, and 2, 4, 6, 8 or 10 times a power of ten."""
    unit = 1
    while True:
        for step in (2, 4, 6, 8, 10):
            if most <= step * unit:
                return step * unit
        unit *= 10
