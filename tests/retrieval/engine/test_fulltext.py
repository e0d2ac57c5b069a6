"""Widening a word search: it misses no passage that could still enter the list. Pure."""

import random
import re
from collections.abc import Sequence
from itertools import combinations

import pytest

from retrieval.engine import fulltext
from retrieval.engine.fulltext import Term, candidates_tsquery


def matches(query: str, lexemes: set[str]) -> bool:
    """Return whether a passage with these lexemes matches a `tsquery` of lexemes, `&`, `|` and brackets."""
    held = re.sub(r"'([^']+)'", lambda match: str(match[1] in lexemes), query)
    return bool(eval(held.replace("&", " and ").replace("|", " or ")))


def passages(terms: Sequence[Term]) -> list[list[Term]]:
    """Yield every set of terms that a passage may contain."""
    return [list(chosen) for size in range(1, len(terms) + 1) for chosen in combinations(terms, size)]


@pytest.mark.parametrize("most", [1, 4, 150])
@pytest.mark.parametrize("seed", range(12))
def test_no_passage_that_could_reach_the_score_is_missed(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "MOST_ALTERNATIVES", most)
    rng = random.Random(seed)
    terms = [Term(rng.uniform(0.1, 9), rng.randint(1, 10_000), (f"1:{n}", f"2:{n}")) for n in range(rng.randint(1, 7))]
    terms.sort(key=lambda term: term.frequency)
    total = sum(term.highest_score for term in terms)
    for needed in (0.0, *(rng.uniform(0, total) for _ in range(6))):
        query = candidates_tsquery(terms, needed)
        for held in passages(terms):
            if sum(term.highest_score for term in held) > needed:
                assert matches(query, {term.lexemes[rng.randrange(2)] for term in held})


@pytest.mark.parametrize("seed", range(12))
def test_passages_that_cannot_reach_the_score_are_not_scored(seed: int) -> None:
    rng = random.Random(seed)
    terms = [Term(rng.uniform(0.1, 9), 1, (f"1:{n}",)) for n in range(6)]
    needed = rng.uniform(0.1, sum(term.highest_score for term in terms))
    query = candidates_tsquery(terms, needed)
    for held in passages(terms):
        if sum(term.highest_score for term in held) < needed * (1 - 1e-9):
            assert not matches(query, {term.lexemes[0] for term in held})
