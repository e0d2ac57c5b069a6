"""The geometry of the first page's drawings, which templates draw as SVG. Pure.

A drawing is stretched to the width that there is; words stand beside it as text, so that they keep their size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# Units of a drawing of columns: each column is so wide, the gap between two included.
COLUMN, HEIGHT = 10.0, 100.0
_GAP = 2.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a column; `slug` is its class in the style sheet."""

    slug: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its parts from below, and what it says in words."""

    x: float
    title: str
    segments: list[Segment]
    width: float = COLUMN - _GAP


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns, the width of the drawing, and the values at its top, middle and foot."""

    columns: list[Column]
    width: float
    values: list[str]
    height: float = HEIGHT


def stacked(counts: Sequence[Sequence[int]], slugs: Sequence[str], titles: Sequence[str]) -> Chart:
    """Return columns of counts by kind (`slugs`), one for each title."""
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
    """Return the end of an axis: even, at least 2, and 1, 2, 4, 6 or 8 with noughts."""
    unit = 1
    while True:
        for step in (2, 4, 6, 8, 10):
            if most <= step * unit:
                return step * unit
        unit *= 10
