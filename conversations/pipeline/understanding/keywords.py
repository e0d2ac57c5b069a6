"""Finds the words of a conversation that a follow-up question needs, by their rarity in the documents. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragsite.language.analysis import terms
from ragsite.language.content_words import content_terms, naming_likelihood, words
from ragsite.language.context_dependence import dependence_on_context, names_more_than_enough
from ragsite.language.detection import HAN_CHARACTER
from retrieval.engine.bm25 import inverse_document_frequency
from retrieval.engine.fulltext import Frequencies

# Factor of a word's weight for each turn that it is older.
DECAY = 0.5
# A question returns to an earlier turn if the words they share are this specific; from .3 on results are the same.
COMES_BACK = 0.5
# How many turns older what was said before the topic counts, by whether the topic's question names more than it needs
# to stand alone; one that names just enough may be a follow-up question (docs/decisions/followups.md).
BEFORE_TOPIC = {False: 1, True: 2}
# How often people carry over something that a turn names later, relative to what it names first
# (docs/decisions/followups.md).
LATER = 0.5


@dataclass(frozen=True, slots=True)
class Word:
    """A word of earlier questions that a question lacks, as it was written.

    `terms` are those that passages contain, or all if they contain none; `rarity` is the highest inverse document
    frequency of these, and `age` the number of turns in between that count, see `lacking`. `likely` is how likely a
    word of its kind and position is needed, at most 1. Adjacent words that name something have the same `phrase`;
    others have none.
    """

    text: str
    terms: frozenset[str]
    rarity: float
    age: int
    likely: float = 1.0
    phrase: tuple[int, int] | None = None


def lacking(question: str, earlier: Sequence[str], frequencies: Frequencies) -> list[Word]:
    """Return the words of earlier questions (oldest first) that a question lacks, latest first, each once.

    A number in the question replaces earlier ones with as many digits, such as another year. The last question that
    stands alone, or else the first, begins the topic, so it counts as the last turn but one; those between it and the
    last turn count as one turn older, and those before it by `BEFORE_TOPIC`. A turn to which the question returns
    counts like the last one.
    """
    said = set(terms(question))
    complete = (turns for turns, text in enumerate(reversed(earlier)) if not dependence_on_context(text))
    topic = next(complete, len(earlier) - 1)
    before_topic = BEFORE_TOPIC[bool(earlier) and names_more_than_enough(earlier[-1 - topic])]
    digits = {len(word) for word in words(question) if word.isdigit()}
    found: dict[frozenset[str], Word] = {}
    for turns, text in enumerate(reversed(earlier)):
        again = {*content_terms(question)} & {*content_terms(text)}
        narrowing = sum(map(frequencies.rarity, again)) / math.log(max(frequencies.size, 2))
        if not turns or narrowing >= COMES_BACK:
            age = 0
        elif turns < topic:
            age = turns + 1
        else:
            age = min(topic, 1) + (turns - topic + before_topic if turns > topic else 0)
        for word, likely, phrase in _placed(text):
            if word.isdigit() and len(word) in digits:
                continue
            named = _named(word) - said
            known = frozenset(term for term in named if frequencies.rarity(term))
            # A word of no passage may be the subject, but not that of an earlier topic.
            if key := known or (named if turns <= topic else known):
                rarity = max(rarity_of(term, frequencies) for term in key)
                if key not in found or age < found[key].age:
                    found[key] = Word(word, key, rarity, age, likely, (turns, phrase) if phrase else None)
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


def _placed(turn: str) -> list[tuple[str, float, int]]:
    """Return a turn's words, each with how likely it is needed and the number of the phrase that it is of, from 1."""
    found: list[tuple[str, float, int]] = []
    phrases, within = 0, False
    for word in words(turn):
        likely = naming_likelihood(word)
        names = likely == 1.0 and bool(_named(word))
        phrases += names and not within
        within = names
        is_later = names and phrases > 1 and HAN_CHARACTER.match(word)
        found.append((word, LATER if is_later else likely, phrases if names else 0))
    return found


@lru_cache(4_096)
def _named(word: str) -> frozenset[str]:
    return frozenset(content_terms(word))
