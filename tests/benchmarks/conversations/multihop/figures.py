"""Figures of outcomes by set, language and kind, and comparisons of pipelines on the same questions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from tests.benchmarks.conversations.multihop.asking import Outcome
from tests.benchmarks.conversations.multihop.questions import KINDS, MULTI

ALL = "all"
_SAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of some questions through a pipeline.

    `recall` is the mean share of needed passages that were found, `whole` the share of questions for which all were,
    `reaching` the mean share that reaches the answer, and `reported` the share of questions with a missing part whose
    answer says so (None if the pipeline can't).
    """

    language: str
    kind: str
    questions: int
    recall: float
    whole: float
    reaching: float
    reported: float | None
    searches: float
    ms: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference in recall of a second pipeline from a first one, on the same questions.

    `low` and `high` are the 95 % bootstrap interval of the mean difference; `p` is that of the two-sided sign test.
    """

    difference: float
    low: float
    high: float
    better: int
    worse: int
    p: float


def groups(outcomes: Sequence[Outcome]) -> list[tuple[str, str, Callable[[Outcome], bool]]]:
    """Return languages and kinds with a predicate for their outcomes, first all questions for several searches."""
    languages = [*dict.fromkeys(outcome.question.language for outcome in outcomes), ALL]
    kinds = [("several searches", MULTI), *((kind, (kind,)) for kind in KINDS)]

    def of(language: str, among: Sequence[str]) -> Callable[[Outcome], bool]:
        return lambda each: each.question.kind in among and language in (ALL, each.question.language)

    every = [(language, name, of(language, among)) for name, among in kinds for language in languages]
    return [group for group in every if any(map(group[2], outcomes))]


def row(language: str, kind: str, outcomes: Sequence[Outcome]) -> Row:
    """Return the figures of a non-empty list of outcomes."""
    reported = [outcome.reported for outcome in outcomes if outcome.reported is not None]
    return Row(
        language,
        kind,
        len(outcomes),
        fmean(outcome.recall for outcome in outcomes),
        fmean(all(outcome.found) for outcome in outcomes),
        fmean(outcome.reaching for outcome in outcomes),
        fmean(reported) if reported else None,
        fmean(outcome.searches for outcome in outcomes),
        fmean(outcome.ms for outcome in outcomes),
    )


def compare(first: Sequence[Outcome], second: Sequence[Outcome]) -> Comparison:
    """Compare the recall of two pipelines on the same questions, in the same order."""
    differences = np.array([b.recall - a.recall for a, b in zip(first, second, strict=True)])
    samples = np.random.default_rng(0).choice(differences, (_SAMPLES, len(differences))).mean(axis=1)
    low, high = np.percentile(samples, (2.5, 97.5))
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    fewer, several = min(better, worse), better + worse
    tail = sum(math.comb(several, count) for count in range(fewer + 1)) / 2**several
    return Comparison(float(differences.mean()), float(low), float(high), better, worse, min(1.0, 2 * tail))
