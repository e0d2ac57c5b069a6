"""Rerankers: models that read a query and a passage together and say how well the one answers the other."""

import math
from collections.abc import Sequence
from typing import Protocol

# A passage's score from 0 to 1, or None where the model did not judge it.
Scores = list[float | None]
# What a score may miss 0 or 1 by, from rounding, and still be one from 0 to 1.
_ROUNDING = 0.01


class Reranker(Protocol):
    """Scores passages for a query. What goes wrong is raised as `LLMError`."""

    async def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return each text's score from 0 to 1, in the order of the texts."""

    async def aclose(self) -> None:
        """Let go of what was opened for this reranker alone."""


def to_unit(values: Sequence[float]) -> list[float]:
    """Return finite scores as numbers from 0 to 1, in the same order.

    Some servers give probabilities, some the model's logits. Where any value lies outside 0 to 1, all are taken for
    logits, of which the logistic function makes what these models were trained to give.
    """
    if all(-_ROUNDING <= value <= 1 + _ROUNDING for value in values):
        return [min(max(value, 0.0), 1.0) for value in values]
    return [logistic(value) for value in values]


def logistic(value: float) -> float:
    """Return 1 / (1 + e^-value), for any finite value."""
    return 0.5 * (1 + math.tanh(value / 2))
