"""Metrics and their confidence intervals."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DRAWS = 400


def auc(wanted: ArrayLike, others: ArrayLike) -> float:
    """Return how often a wanted score is above one of the others, counting ties half; NaN if either is empty."""
    above, below = np.asarray(wanted, float), np.asarray(others, float)
    if not len(above) or not len(below):
        return float("nan")
    return float(((above[:, None] > below) + 0.5 * (above[:, None] == below)).mean())


def share(hits: ArrayLike) -> float:
    """Return the mean, or NaN if there are no values."""
    values = np.asarray(hits, float)
    return float(values.mean()) if len(values) else float("nan")


def interval(figure: Callable[..., float], *samples: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a figure of samples.

    Each sample is resampled separately, with a fixed seed.
    """
    arrays: list[NDArray[np.float64]] = [np.asarray(sample, float) for sample in samples]
    if not all(map(len, arrays)):
        return float("nan"), float("nan")
    draw = np.random.default_rng(0)
    figures = [figure(*(draw.choice(array, len(array)) for array in arrays)) for _ in range(_DRAWS)]
    low, high = np.percentile(figures, [2.5, 97.5])
    return float(low), float(high)


def with_interval(figure: Callable[..., float], *samples: Sequence[float]) -> str:
    """Return a figure with its interval as text: `.74 (.65–.82)`."""
    low, high = interval(figure, *samples)
    return f"{_short(figure(*samples))} ({_short(low)}–{_short(high)})"


def _short(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}".removeprefix("0")
