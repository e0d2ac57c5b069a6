"""Samples of test cases: nightly runs use all cases, other runs a fixed sample."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
# The most slow variants of a parametrized test that runs by day take.
VARIANTS = 2
# Set by pytest's option `--nightly` before any test is collected.
takes_all = False


def sample(cases: Sequence[T], most: int) -> list[T]:
    """Return all cases in a nightly run, else the same sample of at most `most` in every run, in order."""
    if takes_all or len(cases) <= most:
        return list(cases)
    chosen = random.Random(len(cases)).sample(range(len(cases)), most)
    return [cases[number] for number in sorted(chosen)]


def examples(whole: int) -> int:
    """Return the number of examples for hypothesis: all in a nightly run, else a fifth."""
    return whole if takes_all else whole // 5
