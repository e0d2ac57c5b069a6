"""The weights of a question's words, and the share of them that a text contains. Pure."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from ragsite.language.content_words import content_terms, naming_likelihood, words
from ragsite.language.simplified import simplified
from retrieval.engine.bm25 import inverse_document_frequency
from retrieval.engine.fulltext import Frequencies

# The value of a word's parts in a text without the whole word, e.g. those of `pg_basebackup` or 英文单词.
IN_PARTS = 0.8


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A content word of a question: its terms, whole and in parts, each with its rarity.

    `weight` is the inverse document frequency of the rarest term in the searched passages; less for Chinese words that
    are likely verbs or particles.
    """

    text: str
    rarity: Mapping[str, float]
    weight: float

    def held_by(self, found: Set[str]) -> float:
        """Return the share of the word that is among the terms, from 0 to 1."""
        whole = max(self.rarity, key=len)
        if whole in found:
            return 1.0
        parts = {term: rarity for term, rarity in self.rarity.items() if term != whole}
        held = sum(rarity for term, rarity in parts.items() if term in found)
        return IN_PARTS * held / (sum(parts.values()) or 1.0)


def weigh_words(question: str, frequencies: Frequencies) -> tuple[QuestionWord, ...]:
    """Return the content words of a question, each once; `frequencies` are those of the searched passages."""
    found: dict[frozenset[str], QuestionWord] = {}
    for word in words(simplified(question)):
        named = frozenset(content_terms(word))
        if not named or named in found:
            continue
        size = max(frequencies.size, 2)
        known = {term for term in named if frequencies.holding.get(term)}
        # Parts of a Chinese word overlap: 班费 isn't a part of 加班费 if passages contain 加班.
        real = [term for term in named if term in known or not any(_overlaps(word, term, each) for each in known)]
        rarity = {term: inverse_document_frequency(size, frequencies.holding.get(term, 0)) for term in real}
        found[named] = QuestionWord(word, rarity, naming_likelihood(word) * max(rarity.values()))
    return tuple(found.values())


def _overlaps(word: str, one: str, other: str) -> bool:
    """Return whether two parts of a word share characters and neither contains the other."""
    begin, start = word.find(one), word.find(other)
    within = one in other or other in one
    return min(begin, start) >= 0 and not within and max(begin, start) < min(begin + len(one), start + len(other))


def coverage(asked: Sequence[QuestionWord], found: Set[str]) -> float:
    """Return the share of a question's weight that the terms cover, from 0 to 1."""
    return sum(word.weight * word.held_by(found) for word in asked) / (sum(word.weight for word in asked) or 1.0)
