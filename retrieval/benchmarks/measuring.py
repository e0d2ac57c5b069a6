"""Timing, percentiles and tables."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from unicodedata import east_asian_width

import numpy as np


@dataclass
class Timing:
    """What the calls of one way took, in milliseconds, and what each returned."""

    milliseconds: list[float] = field(default_factory=list)
    found: list[list[int]] = field(default_factory=list)

    def percentile(self, percent: float) -> float:
        """Return the time that so many percent of the calls stayed within."""
        return float(np.percentile(self.milliseconds, percent))


def timed(call: Callable[[str, int], list[int]], queries: Sequence[str], k: int, rounds: int) -> Timing:
    """Time a way's answers to all queries, round after round; what comes before the first full round isn't counted.

    A query's time is the median of its rounds, so that a pause of a shared machine isn't taken for the query's own.
    """
    timing = Timing()
    for query in queries[: max(10, len(queries) // 10)]:
        call(query, k)
    rows = np.empty((rounds, len(queries)))
    for number in range(rounds):
        timing.found.clear()
        for place, query in enumerate(queries):
            started = time.perf_counter()
            timing.found.append(call(query, k))
            rows[number, place] = (time.perf_counter() - started) * 1000
    timing.milliseconds = [float(value) for value in np.median(rows, axis=0)]
    return timing


def overlap(found: Sequence[Sequence[int]], expected: Sequence[Sequence[int]], k: int) -> float:
    """Return the mean share of the expected k best that were found among k."""
    shares = [len({*a[:k]} & {*b[:k]}) / len(b[:k]) for a, b in zip(found, expected, strict=True) if b]
    return sum(shares) / len(shares) if shares else 1.0


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, its columns aligned."""
    columns = [list(column) for column in zip(headings, *rows, strict=True)]
    widths = [max(map(_width, column)) for column in columns]
    lines = [_line(headings, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _width(text: str) -> int:
    """Return the columns that a text takes: a wide character two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
