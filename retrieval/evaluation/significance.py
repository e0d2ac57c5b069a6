"""Statistical significance of the difference between two runs of the same questions. Pure and deterministic."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Differences below this count as none: figures are shown with three digits.
NONE = 0.0005
# Up to this many differing questions, all ways to swap their two runs are tried; beyond it, a sample.
_ALL_UP_TO = 16
_SAMPLE = 10_000
_AT_ONCE = 256
# The usual significance level.
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a figure between two runs: the `mean` over all questions, and how many are better or worse.

    `p` is the p-value of the mean, by randomisation; `p_sign` that of the counts alone.
    """

    mean: float
    better: int
    worse: int
    same: int
    p: float
    p_sign: float

    @property
    def is_chance(self) -> bool:
        """Whether the difference may be chance."""
        return self.p >= LEVEL

    @classmethod
    def of(cls, changes: Sequence[float]) -> "Difference":
        """Return the difference, given the change of each question that both runs have."""
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
    """Return the probability of a mean change at least as large, in either direction, if the runs are interchangeable.

    Fisher's paired randomisation test, two-sided: exact if few questions change, otherwise with 10,000 draws. Smucker,
    Allan and Carterette, "A Comparison of Statistical Significance Tests for Information Retrieval" (CIKM 2007).
    """
    sizes = np.array([abs(each) for each in changes if abs(each) >= NONE])
    if not len(sizes):
        return 1.0
    least = (
        abs(sum(each for each in changes if abs(each) >= NONE)) - 1e-9
    )  # tolerance, so that rounding loses no equal sum
    if len(sizes) <= _ALL_UP_TO:
        numbers = np.arange(2 ** len(sizes))[:, None]
        signs = 1 - 2 * (numbers >> np.arange(len(sizes)) & 1)
        return float(np.mean(np.abs(signs @ sizes) >= least))
    random = np.random.default_rng(0)
    sums = np.zeros(_SAMPLE)
    for begin in range(0, len(sizes), _AT_ONCE):
        part = sizes[begin : begin + _AT_ONCE]
        sums += (1 - 2 * random.integers(0, 2, (_SAMPLE, len(part)), dtype=np.int8)) @ part
    # The actual runs count as one of the draws, so that the result is never 0.
    return float((np.sum(np.abs(sums) >= least) + 1) / (_SAMPLE + 1))


def sign_test(better: int, worse: int) -> float:
    """Return the probability of counts at least as uneven if better and worse are equally likely; exact, two-sided."""
    if better == worse:
        return 1.0
    count, ways, few = better + worse, 1, 0
    for k in range(min(better, worse) + 1):
        few += ways
        ways = ways * (count - k) // (k + 1)
    return float(min(1.0, 2 * few / 2**count))
