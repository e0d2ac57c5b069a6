"""Finds the words of a conversation that a follow-up question needs, by their rarity in the documents. Pure.

A question is specific enough by itself if its words together narrow the documents down to about one passage: if they
were independent, `N · Π df/N` passages would contain them all, which is one where Σ ln(N/df) reaches ln N.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.engine.analysis import LONGEST_WORD, terms
from retrieval.engine.bm25 import inverse_document_frequency
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.query_words import question_words

# Factor of a word's weight for each turn that it is older.
DECAY = 0.5
# A question returns to an earlier turn if the words they share are this specific; from .3 on results are the same.
COMES_BACK = 0.5
# How often people carry over a verb, a particle, or something that a turn names later, relative to a noun or name that
# it names first (docs/decisions/followups.md). The kind of English words isn't known.
VERB, PARTICLE, LATER = 0.3, 0.1, 0.5

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NOT_HAN = rf"(?:(?![{_HAN}])\w)"
# Chinese titles are one word, and so are names with their marks: TL-SE2109, pg_hba.conf, C++.
_IS_HAN = re.compile(f"[{_HAN}]")
_TOKEN = re.compile(rf"《[^《》\s]{{1,40}}》|[{_HAN}]+|{_NOT_HAN}+(?:[.'’/+#@&:-]{_NOT_HAN}+)*(?:\+\+|\#)?", re.UNICODE)
# The dictionary's marks of what names something, nouns, names, set phrases and roots, and of words without a matter.
_NAMES = re.compile(r"n|[ijlxz]|[av]n$|eng|.*g$")
_PARTICLES = re.compile(r"[cdefmopruy]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of earlier questions that a question lacks, as it was written.

    `terms` are those that passages contain, or all if they contain none; `rarity` is the highest inverse document
    frequency of these, and `age` the number of turns in between. `likely` is how likely a word of its kind and position
    is needed, at most 1. Adjacent words that name something have the same `phrase`; others have none.
    """

    text: str
    terms: frozenset[str]
    rarity: float
    age: int
    likely: float = 1.0
    phrase: tuple[int, int] | None = None


def content_terms(text: str) -> list[str]:
    """Return the terms of a text without question words, in order, including repeats."""
    return [term for term in terms(text) if term not in question_words()]


def specificity(question: str, frequencies: Frequencies) -> float:
    """Return how far a question's words narrow the documents down, from 0; at 1 to about one passage."""
    return _narrowing(set(content_terms(question)), frequencies)


def lacking(question: str, earlier: Sequence[str], frequencies: Frequencies) -> list[Word]:
    """Return the words of earlier questions (oldest first) that a question lacks, latest first, each once.

    A number in the question replaces earlier ones with as many digits, such as another year. A turn to which the
    question returns counts like the last one.
    """
    said = set(terms(question))
    digits = {len(word) for word in words(question) if word.isdigit()}
    found: dict[frozenset[str], Word] = {}
    for turns, text in enumerate(reversed(earlier)):
        age = 0 if _narrowing({*content_terms(question)} & {*content_terms(text)}, frequencies) >= COMES_BACK else turns
        for word, likely, phrase in _placed(text):
            if word.isdigit() and len(word) in digits:
                continue
            named = _named(word) - said
            known = frozenset(term for term in named if frequencies.rarity(term))
            if key := known or named:
                rarity = max(rarity_of(term, frequencies) for term in key)
                found.setdefault(key, Word(word, key, rarity, age, likely, (turns, phrase) if phrase else None))
    return list(found.values())


def rarity_of(term: str, frequencies: Frequencies) -> float:
    """Return a term's inverse document frequency; if no passage contains it, as if one did.

    Such a word may be the subject of the conversation even if it is not in the documents.
    """
    return frequencies.rarity(term) or inverse_document_frequency(max(frequencies.size, 2), 1)


def rarest_lacking(question: str, earlier: Sequence[str], frequencies: Frequencies, count: int) -> tuple[str, ...]:
    """Return at most `count` words of earlier questions (oldest first) that a question lacks, best first.

    A word counts by its rarity, and half as much for each turn that it is older.
    """
    found = lacking(question, earlier, frequencies)
    return top_words([(DECAY**word.age * word.rarity, word) for word in found], count)


def top_words(weighted: Iterable[tuple[float, Word]], count: int, least: float = 0.0) -> tuple[str, ...]:
    """Return at most `count` words, heaviest first, without those whose terms the ones before have.

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


@lru_cache(256)  # the same turns are looked at for each question of a conversation
def words(text: str) -> tuple[str, ...]:
    """Split a text into words, in order; Chinese by jieba, with guesses at names.

    Longer strings, such as hashes, are left out.
    """
    import rjieba  # reads its dictionary when loaded

    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        found += rjieba.cut(token, True) if _IS_HAN.match(token) else [token]
    return tuple(word for word in found if len(word) <= LONGEST_WORD)


def _placed(turn: str) -> list[tuple[str, float, int]]:
    """Return a turn's words, each with how likely it is needed and the number of the phrase that it is of, from 1."""
    found: list[tuple[str, float, int]] = []
    phrases, within = 0, False
    for word in words(turn):
        likely = likely_needed(word)
        names = likely == 1.0 and bool(_named(word))
        phrases += names and not within
        within = names
        is_later = names and phrases > 1 and _IS_HAN.match(word)
        found.append((word, LATER if is_later else likely, phrases if names else 0))
    return found


@lru_cache(4_096)
def likely_needed(word: str) -> float:
    """Return how likely a Chinese word of its kind names what is spoken of: 1 for nouns and names, and for Latin."""
    import rjieba  # reads its dictionary when loaded

    if not _IS_HAN.match(word):
        return 1.0
    kind = rjieba.tag(word, True)[-1][1]
    if _NAMES.match(kind):
        return 1.0
    return PARTICLE if _PARTICLES.match(kind) else VERB


def _narrowing(found: Iterable[str], frequencies: Frequencies) -> float:
    return sum(map(frequencies.rarity, found)) / math.log(max(frequencies.size, 2))


@lru_cache(4_096)
def _named(word: str) -> frozenset[str]:
    return frozenset(content_terms(word))
