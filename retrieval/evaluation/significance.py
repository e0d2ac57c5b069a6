"""Whether two runs of the same questions differ by more than chance. Pure, and the same for the same figures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Below this a difference is none: figures are shown with three digits.
NONE = 0.0005
# Up to so many questions that differ, all ways to swap their two runs are gone through; beyond it, a sample of them.
_ALL_UP_TO = 16
_SAMPLE = 10_000
_AT_ONCE = 256
# The usual bound below which a difference is hardly chance.
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """How a figure differs, question by question: `mean` over all questions; how many are better, worse and the same.

    `p` is of the mean, by randomisation; `p_sign` is of the counts alone.
    """

    mean: float
    better: int
    worse: int
    same: int
    p: float
    p_sign: float

    @property
    def is_chance(self) -> bool:
        """Whether it may well be chance."""
        return self.p >= LEVEL

    @classmethod
    def of(cls, changes: Sequence[float]) -> "Difference":
        """Return the difference of two runs by the change of each question that both have."""
        better, worse = sum(each >= NONE for each in changes), sum(each <= -NONE for each in changes)
        return cls(
            sum(changes) / len(changes) if changes else 0.0,
            better,
            worse,
            len(changes) - better - worse,
            randomisation(changes),
            sign_test(better, worse),
        )


def randomisation(changes: Sequence[float]) -> float:
    """Return how likely the mean change is at least as large, either way, if it is chance which run is which.

    Fisher's randomisation test for pairs, two-sided: exact where few questions change, else by 10,000 draws. Smucker,
    Allan and Carterette, "A Comparison of Statistical Significance Tests for Information Retrieval" (CIKM 2007).
    """
    sizes = np.array([abs(each) for each in changes if abs(each) >= NONE])
    if not len(sizes):
        return 1.0
    least = abs(sum(each for each in changes if abs(each) >= NONE)) - 1e-9  # of equal sums none is lost to rounding
    if len(sizes) <= _ALL_UP_TO:
        numbers = np.arange(2 ** len(sizes))[:, None]
        signs = 1 - 2 * (numbers >> np.arange(len(sizes)) & 1)
        return float(np.mean(np.abs(signs @ sizes) >= least))
    random = np.random.default_rng(0)
    sums = np.zeros(_SAMPLE)
    for begin in range(0, len(sizes), _AT_ONCE):
        part = sizes[begin : begin + _AT_ONCE]
        sums += (1 - 2 * random.integers(0, 2, (_SAMPLE, len(part)), dtype=np.int8)) @ part
    # The runs as they are count as one of the draws, so that it is never 0.
    return float((np.sum(np.abs(sums) >= least) + 1) / (_SAMPLE + 1))


def sign_test(better: int, worse: int) -> float:
    """Return how likely the counts are at least as uneven if better and worse are equally likely; exact, two-sided."""
    if better == worse:
        return 1.0
    count, ways, few = better + worse, 1, 0
    for k in range(min(better, worse) + 1):
        few += ways
        ways = ways * (count - k) // (k + 1)
    return float(min(1.0, 2 * few / 2**count))
