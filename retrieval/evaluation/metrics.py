"""Metrics of ranked retrieval. Pure.

A ranking is a sequence of unique ids, best first; `relevant` maps ids to grades, where a grade of 0 or less means not
relevant. All metrics are in [0, 1], and 0 if nothing is relevant.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import fmean

# The names in tables, stored runs and pages, in display order.
FIGURES = ("nDCG@10", "recall@5", "recall@10", "MRR@10")


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """Return the normalised discounted cumulative gain at k: Σ grade / log2(rank + 1), divided by the ideal one.

    Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques" (TOIS 2002), with the grade itself as
    the gain, as in trec_eval's `ndcg_cut`, pytrec_eval and BEIR.
    """
    gained = _discounted(max(0, relevant.get(item, 0)) for item in ranked[:k])
    best = _discounted(sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[:k])
    return gained / best if best else 0.0


def recall(ranked: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """Return the share of the relevant ids that are among the first k (trec_eval's `recall`)."""
    wanted = {item for item, grade in relevant.items() if grade > 0}
    return len(wanted.intersection(ranked[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """Return 1 / rank of the first relevant id among the first k, or 0; the mean is MRR@k.

    Voorhees, "The TREC-8 Question Answering Track Report" (1999), cut at k.
    """
    ranks = (rank for rank, item in enumerate(ranked[:k], start=1) if relevant.get(item, 0) > 0)
    return 1.0 / next(ranks, math.inf)


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


@dataclass(frozen=True, slots=True)
class Figures:
    """The metrics of one question, or their means over many."""

    ndcg_10: float = 0.0
    recall_5: float = 0.0
    recall_10: float = 0.0
    mrr_10: float = 0.0

    @classmethod
    def of(cls, ranked: Sequence[str], relevant: Mapping[str, int]) -> "Figures":
        """Return the metrics of one question's ranking."""
        return cls(
            ndcg(ranked, relevant, 10),
            recall(ranked, relevant, 5),
            recall(ranked, relevant, 10),
            reciprocal_rank(ranked, relevant, 10),
        )

    @classmethod
    def mean(cls, figures: Sequence["Figures"]) -> "Figures":
        """Return the means over questions, equally weighted; zeros if there are none."""
        if not figures:
            return cls()
        return cls(*map(fmean, zip(*map(astuple, figures), strict=True)))

    def to_dict(self) -> dict[str, float]:
        """Return the metrics by the names in `FIGURES`."""
        return dict(zip(FIGURES, astuple(self), strict=True))
