"""What a nightly run takes whole, other runs take a sample of: the same in each of them."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
# Set by pytest's option `--nightly` before any test is collected.
takes_all = False


def sample(cases: Sequence[T], most: int) -> list[T]:
    """Return all cases in a nightly run, else at most so many of them, in their order; the same ones in every run."""
    if takes_all or len(cases) <= most:
        return list(cases)
    chosen = random.Random(len(cases)).sample(range(len(cases)), most)
    return [cases[number] for number in sorted(chosen)]


def examples(whole: int) -> int:
    """Return how many examples hypothesis makes up: all in a nightly run, else a fifth."""
    return whole if takes_all else whole // 5
