"""Significance tests, compared with known values."""

import pytest

from retrieval.evaluation.significance import Difference, randomisation, sign_test

# Differences in eighths of an inch between cross- and self-fertilised plants, of Darwin; Fisher, "The Design of
# Experiments" (1935), §21: of the 2^15 ways to give them signs, 863 have a sum as large as theirs or larger.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_randomisation_matches_fisher() -> None:
    assert randomisation(DARWIN) == pytest.approx(2 * 863 / 2**15)
    assert randomisation([-each for each in DARWIN]) == pytest.approx(2 * 863 / 2**15)


def test_a_sample_approximates_the_exact_value() -> None:
    same = [0.0] * 50
    assert randomisation(DARWIN + same) == randomisation(DARWIN), "what is the same tells nothing"
    # All of 20 better by as much: 2 of 2^20 ways are as uneven, fewer than 10,000 draws can tell.
    assert randomisation([0.1] * 20) == pytest.approx(1 / 10_001, abs=2e-4)
    many = DARWIN * 4  # the same for the same figures
    assert randomisation(many) == randomisation(many) < 0.01


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(13, 2, 242 / 2**15), (8, 2, 0.109375), (12, 5, 0.1434631), (5, 5, 1.0), (0, 0, 1.0), (1, 0, 1.0), (0, 6, 2 / 64)],
)
def test_signs_are_counted_exactly(better: int, worse: int, p: float) -> None:
    assert sign_test(better, worse) == pytest.approx(p)


def test_large_sets_are_compared() -> None:
    """If the time grew faster than the set, this would time out."""
    found = Difference.of([0.1, -0.1, 0.0, 0.2] * 2500)
    assert (found.better, found.worse, found.same) == (5000, 2500, 2500) and not found.is_chance
    assert found.mean == pytest.approx(0.05) and found.p_sign < 1e-9


def test_no_difference_is_chance() -> None:
    found = Difference.of([])
    assert (found.mean, found.p, found.p_sign, found.is_chance) == (0.0, 1.0, 1.0, True)
    assert Difference.of([0.0004, -0.0004]).same == 2
