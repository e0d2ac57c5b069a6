"""Which words of a conversation a question needs that leans on it, by how rare they are in the documents. Pure.

A question says enough by itself when its words together narrow the documents down to about one passage: were they
spread by chance, `N · Π df/N` passages would hold them all, which is one where Σ ln(N/df) reaches ln N.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from retrieval.analysis import LONGEST_WORD, terms
from retrieval.fulltext import Frequencies
from retrieval.words import QUESTION_WORDS

# Words that are carried over: 3 to 6 find the same, 2 less (see `manage.py bench_followups`).
CARRIED = 4
# What a word weighs less for each turn that it is older.
DECAY = 0.5

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NOT_HAN = rf"(?:(?![{_HAN}])\w)"
# Chinese titles are one word, and so are names with their marks: TL-SE2109, pg_hba.conf, C++.
_TOKEN = re.compile(rf"《[^《》\s]{{1,40}}》|[{_HAN}]+|{_NOT_HAN}+(?:[.'’/+#@&:-]{_NOT_HAN}+)*(?:\+\+|\#)?", re.UNICODE)


def content_terms(text: str) -> list[str]:
    """Return the terms of a text that name something, in order, repeats included: without those that only ask."""
    return [term for term in terms(text) if term not in QUESTION_WORDS]


def specificity(question: str, frequencies: Frequencies) -> float:
    """Return how far a question's words narrow the documents down, from 0; at 1 to about one passage."""
    rarities = sum(frequencies.rarity(term) for term in set(content_terms(question)))
    return rarities / math.log(max(frequencies.size, 2))


def salient(question: str, earlier: Sequence[str], frequencies: Frequencies) -> tuple[str, ...]:
    """Return the words of earlier questions (oldest first) that a question lacks, most telling first.

    A word counts by its rarity, and half as much for each turn that it is older. Words that no passage holds are taken
    only where there are no others.
    """
    said = set(terms(question))
    weights: dict[frozenset[str], float] = {}
    names: dict[frozenset[str], str] = {}
    for age, text in enumerate(reversed(earlier)):
        for word in words(text):
            named = _named(word) - said
            known = frozenset(term for term in named if frequencies.rarity(term))
            if key := known or named:
                weight = DECAY**age * max(map(frequencies.rarity, known), default=0.0)
                weights[key] = max(weight, weights.get(key, 0.0))
                names.setdefault(key, word)
    return _heaviest(weights, names)


def words(text: str) -> tuple[str, ...]:
    """Cut a text into words as a person reads them, in order; Chinese by the dictionary, with guesses at names.

    What is longer than any word, such as a hash, is left out.
    """
    return _words(text)


@lru_cache(256)  # the same turns are looked at for each question of a conversation
def _words(text: str) -> tuple[str, ...]:
    import rjieba  # reads its dictionary when loaded

    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        found += rjieba.cut(token, True) if re.match(f"[{_HAN}]", token) else [token]
    return tuple(word for word in found if len(word) <= LONGEST_WORD)


@lru_cache(4_096)
def _named(word: str) -> frozenset[str]:
    return frozenset(content_terms(word))


def _heaviest(weights: dict[frozenset[str], float], names: dict[frozenset[str], str]) -> tuple[str, ...]:
    """Return the heaviest words, without those whose terms the ones before have."""
    taken: list[str] = []
    seen: set[str] = set()
    known = any(weights.values())
    for key in sorted(weights, key=lambda key: -weights[key]):
        if len(taken) < CARRIED and not key <= seen and (weights[key] or not known):
            taken.append(names[key])
            seen |= key
    return tuple(taken)
