"""Rerankers: models that read a query and a passage together and score how well the passage answers the query."""

import math
from collections.abc import Sequence
from typing import Protocol

# Scores of passages from 0 to 1, or None if the model didn't judge the passage.
Scores = list[float | None]
# The tolerance for rounding errors of scores from 0 to 1.
_ROUNDING = 0.01


class Reranker(Protocol):
    """Scores passages for a query. Failures are raised as `LLMError`."""

    async def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return each text's score from 0 to 1, in the order of the texts."""

    async def aclose(self) -> None:
        """Release the resources of this reranker that aren't shared."""


def to_unit(values: Sequence[float]) -> list[float]:
    """Return finite scores as numbers from 0 to 1, in the same order.

    Some servers return probabilities, others the model's logits. If any value is outside 0 to 1, all are treated as
    logits and converted by the logistic function, with which these models were trained.
    """
    if all(-_ROUNDING <= value <= 1 + _ROUNDING for value in values):
        return [min(max(value, 0.0), 1.0) for value in values]
    return [logistic(value) for value in values]


def logistic(value: float) -> float:
    """Return 1 / (1 + e^-value), for any finite value."""
    return 0.5 * (1 + math.tanh(value / 2))
