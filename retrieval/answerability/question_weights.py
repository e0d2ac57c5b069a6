"""What a question speaks of, word by word, and how much of it a text holds. Pure."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from ragsite.language.content_words import content_terms, naming_likelihood, words
from retrieval.engine.bm25 import inverse_document_frequency
from retrieval.engine.fulltext import Frequencies

# What the parts of a word count that a text holds without the whole: those of `pg_basebackup`, of 英文单词.
IN_PARTS = 0.8


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of a question that names something: its terms, whole and in parts, each with its rarity.

    `weight` is the rarity of the rarest, in inverse document frequency over what is searched; of a Chinese word that
    rather says something of another (a verb, a particle), less.
    """

    text: str
    rarity: Mapping[str, float]
    weight: float

    def held_by(self, found: Set[str]) -> float:
        """Return how much of the word is among some terms, from 0 to 1."""
        whole = max(self.rarity, key=len)
        if whole in found:
            return 1.0
        parts = {term: rarity for term, rarity in self.rarity.items() if term != whole}
        held = sum(rarity for term, rarity in parts.items() if term in found)
        return IN_PARTS * held / (sum(parts.values()) or 1.0)


def weigh_words(question: str, frequencies: Frequencies) -> tuple[QuestionWord, ...]:
    """Return the words of a question that name something, each once; `frequencies` are of what is searched."""
    found: dict[frozenset[str], QuestionWord] = {}
    for word in words(question):
        named = frozenset(content_terms(word))
        if not named or named in found:
            continue
        size = max(frequencies.size, 2)
        known = {term for term in named if frequencies.holding.get(term)}
        # Parts of a Chinese word overlap: 班费 of 加班费 is none where passages hold 加班.
        real = [term for term in named if term in known or not any(_overlaps(word, term, each) for each in known)]
        rarity = {term: inverse_document_frequency(size, frequencies.holding.get(term, 0)) for term in real}
        found[named] = QuestionWord(word, rarity, naming_likelihood(word) * max(rarity.values()))
    return tuple(found.values())


def _overlaps(word: str, one: str, other: str) -> bool:
    """Whether two parts of a word share some of its characters, and neither holds the other."""
    begin, start = word.find(one), word.find(other)
    within = one in other or other in one
    return min(begin, start) >= 0 and not within and max(begin, start) < min(begin + len(one), start + len(other))


def coverage(asked: Sequence[QuestionWord], found: Set[str]) -> float:
    """Return the share of a question's weight that some terms hold, from 0 to 1."""
    return sum(word.weight * word.held_by(found) for word in asked) / (sum(word.weight for word in asked) or 1.0)
