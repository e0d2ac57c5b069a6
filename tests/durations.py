"""Durations of slow tests in seconds, as measured in a full run and stored in `tests/durations.json`.

`make nightly` with `--record-durations` writes the file. Tests in it are marked as slow.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import nightly

FILE = Path(__file__).with_suffix(".json")
# Seconds, including setup and teardown. Four fifths of the tests take less; together they run in under two minutes.
SLOW = 0.12


def recorded() -> dict[str, float]:
    """Return the seconds of each slow test by its pytest ID."""
    found: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark the recorded tests as slow, and most variants of those with many as nightly.

    Of the slow variants of a parametrized test, runs by day take a sample of `nightly.VARIANTS`, always the same.
    """
    slow = recorded()
    variants: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)
            variants[item.nodeid.partition("[")[0]].append(item)
    for each in variants.values():
        sampled = nightly.sample(each, nightly.VARIANTS)
        for item in each:
            if item not in sampled:
                item.add_marker(pytest.mark.nightly)


class Recorder:
    """Writes the file at the end of a run; tests that weren't run keep their durations."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up a test's phases; with several workers, all report to the main process."""
        self._seconds[report.nodeid.rpartition("@")[0] or report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the slow tests, one per line."""
        left_out = {test: seconds for test, seconds in recorded().items() if test not in self._seconds}
        measured = {test: round(seconds, 2) for test, seconds in self._seconds.items() if seconds >= SLOW}
        text = json.dumps(left_out | measured, indent=0, sort_keys=True, ensure_ascii=False)
        FILE.write_text(f"{text}\n", encoding="utf-8")
