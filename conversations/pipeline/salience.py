"""Which words of a conversation a question needs that leans on it, by how rare they are in the documents. Pure.

A question says enough by itself when its words together narrow the documents down to about one passage: were they
spread by chance, `N · Π df/N` passages would hold them all, which is one where Σ ln(N/df) reaches ln N.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.analysis import LONGEST_WORD, terms
from retrieval.fulltext import Frequencies
from retrieval.words import QUESTION_WORDS

# What a word weighs less for each turn that it is older.
DECAY = 0.5
# How specific the words are that a question shares with an earlier turn when it comes back to it; from .3 on the same.
COMES_BACK = 0.5

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NOT_HAN = rf"(?:(?![{_HAN}])\w)"
# Chinese titles are one word, and so are names with their marks: TL-SE2109, pg_hba.conf, C++.
_TOKEN = re.compile(rf"《[^《》\s]{{1,40}}》|[{_HAN}]+|{_NOT_HAN}+(?:[.'’/+#@&:-]{_NOT_HAN}+)*(?:\+\+|\#)?", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of earlier questions that a question lacks, as it was written.

    `terms` are those that passages hold, and all where they hold none; `rarity` is that of the rarest, in inverse
    document frequency, and `age` how many turns lie between.
    """

    text: str
    terms: frozenset[str]
    rarity: float
    age: int


def content_terms(text: str) -> list[str]:
    """Return the terms of a text that name something, in order, repeats included: without those that only ask."""
    return [term for term in terms(text) if term not in QUESTION_WORDS]


def specificity(question: str, frequencies: Frequencies) -> float:
    """Return how far a question's words narrow the documents down, from 0; at 1 to about one passage."""
    return _narrowing(set(content_terms(question)), frequencies)


def lacking(question: str, earlier: Sequence[str], frequencies: Frequencies) -> list[Word]:
    """Return the words of earlier questions (oldest first) that a question lacks, the last first, each once.

    Words that no passage holds are among them only where there are no others. A number of the question stands in the
    place of those with as many digits: another year. What the question comes back to is as near as the last turn.
    """
    said = set(terms(question))
    digits = {len(word) for word in words(question) if word.isdigit()}
    found: dict[frozenset[str], Word] = {}
    for turns, text in enumerate(reversed(earlier)):
        age = 0 if _comes_back(question, text, frequencies) else turns
        for word in words(text):
            if word.isdigit() and len(word) in digits:
                continue
            named = _named(word) - said
            known = frozenset(term for term in named if frequencies.rarity(term))
            if key := known or named:
                rarity = max(map(frequencies.rarity, known), default=0.0)
                found.setdefault(key, Word(word, key, rarity, age))
    held = [word for word in found.values() if word.rarity]
    return held or list(found.values())


def salient(question: str, earlier: Sequence[str], frequencies: Frequencies, count: int) -> tuple[str, ...]:
    """Return so many words of earlier questions (oldest first) that a question lacks, most telling first.

    A word counts by its rarity, and half as much for each turn that it is older.
    """
    found = lacking(question, earlier, frequencies)
    return heaviest([(DECAY**word.age * word.rarity, word) for word in found], count)


def heaviest(weighted: Iterable[tuple[float, Word]], count: int, least: float = 0.0) -> tuple[str, ...]:
    """Return so many of the heaviest words, without those whose terms the ones before have.

    `least` is the share of the heaviest's weight that a word must have.
    """
    ordered = sorted(weighted, key=lambda item: -item[0])
    taken: list[str] = []
    seen: set[str] = set()
    for weight, word in ordered:
        if len(taken) < count and not word.terms <= seen and weight >= least * ordered[0][0]:
            taken.append(word.text)
            seen |= word.terms
    return tuple(taken)


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


def _comes_back(question: str, turn: str, frequencies: Frequencies) -> bool:
    return _narrowing({*content_terms(question)} & {*content_terms(turn)}, frequencies) >= COMES_BACK


def _narrowing(found: Iterable[str], frequencies: Frequencies) -> float:
    return sum(map(frequencies.rarity, found)) / math.log(max(frequencies.size, 2))


@lru_cache(4_096)
def _named(word: str) -> frozenset[str]:
    return frozenset(content_terms(word))
