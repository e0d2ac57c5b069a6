"""Timing, percentiles and tables."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from unicodedata import east_asian_width

import numpy as np

Call = Callable[[str, int], list[int]]


@dataclass
class Timing:
    """The milliseconds of the calls of one way, and their results."""

    milliseconds: list[float] = field(default_factory=list)
    found: list[list[int]] = field(default_factory=list)

    def percentile(self, percent: float) -> float:
        """Return a percentile of the times."""
        return float(np.percentile(self.milliseconds, percent))


def timed(calls: Mapping[str, Call], queries: Sequence[str], k: int, rounds: int) -> dict[str, Timing]:
    """Time several ways, by name, on all queries. Each query is run in one way after the other.

    So load on a shared machine affects all ways alike. Some queries are run first, to warm up. A query's time is the
    median of its rounds.
    """
    for query in queries[: max(10, len(queries) // 10)]:
        for call in calls.values():
            call(query, k)
    timings = {name: Timing() for name in calls}
    for query in queries:
        taken: dict[str, list[float]] = {name: [] for name in calls}
        found: dict[str, list[int]] = {}
        for _round in range(rounds):
            for name, call in calls.items():
                started = time.perf_counter()
                found[name] = call(query, k)
                taken[name].append((time.perf_counter() - started) * 1000)
        for name, timing in timings.items():
            timing.milliseconds.append(median(taken[name]))
            timing.found.append(found[name])
    return timings


def overlap(found: Sequence[Sequence[int]], expected: Sequence[Sequence[int]], k: int) -> float:
    """Return the mean share of the expected k best results that are among the k found."""
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
    """Return the display width of a text, with two columns for wide characters."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
