"""Which words of a conversation a question needs that depends on it, by how rare they are in the documents. Pure.

A question says enough by itself when its words together narrow the documents down to about one passage: were they
spread by chance, `N · Π df/N` passages would hold them all, which is one where Σ ln(N/df) reaches ln N.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.engine.analysis import LONGEST_WORD, terms
from retrieval.engine.bm25 import inverse_document_frequency
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.query_words import QUESTION_WORDS

# What a word weighs less for each turn that it is older.
DECAY = 0.5
# How specific the words are that a question shares with an earlier turn when it comes back to it; from .3 on the same.
COMES_BACK = 0.5
# How often people carry a verb, a particle, or what a turn names later over to a question, beside how often a noun or
# a name that it names first (docs/decisions/followups.md). Of English words the kind isn't known.
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

    `terms` are those that passages hold, and all where they hold none; `rarity` is that of the rarest, in inverse
    document frequency, and `age` how many turns lie between. `likely` tells how likely a word of its kind and place is
    needed, at most 1, and `phrase` what words that name something side by side have in common; others have none.
    """

    text: str
    terms: frozenset[str]
    rarity: float
    age: int
    likely: float = 1.0
    phrase: tuple[int, int] | None = None


def content_terms(text: str) -> list[str]:
    """Return the terms of a text that name something, in order, repeats included: without those that only ask."""
    return [term for term in terms(text) if term not in QUESTION_WORDS]


def specificity(question: str, frequencies: Frequencies) -> float:
    """Return how far a question's words narrow the documents down, from 0; at 1 to about one passage."""
    return _narrowing(set(content_terms(question)), frequencies)


def lacking(question: str, earlier: Sequence[str], frequencies: Frequencies) -> list[Word]:
    """Return the words of earlier questions (oldest first) that a question lacks, the last first, each once.

    A number of the question stands in the place of those with as many digits: another year. What the question comes
    back to is as near as the last turn.
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
    """Return a term's inverse document frequency; of one that no passage holds, as if one did.

    Such a word may well be what a conversation is about, and the documents not.
    """
    return frequencies.rarity(term) or inverse_document_frequency(max(frequencies.size, 2), 1)


def salient(question: str, earlier: Sequence[str], frequencies: Frequencies, count: int) -> tuple[str, ...]:
    """Return at most `count` words of earlier questions (oldest first) that a question lacks, most telling first.

    A word counts by its rarity, and half as much for each turn that it is older.
    """
    found = lacking(question, earlier, frequencies)
    return heaviest([(DECAY**word.age * word.rarity, word) for word in found], count)


def heaviest(weighted: Iterable[tuple[float, Word]], count: int, least: float = 0.0) -> tuple[str, ...]:
    """Return at most `count` of the heaviest words, without those whose terms the ones before have.

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
