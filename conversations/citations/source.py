"""The passages that a sentence is compared with, split into clauses. Pure."""

import re
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

from conversations.citations.rules.polarity import Word, read
from ragsite.language.analysis import terms
from ragsite.language.detection import HAN_BMP, language_of
from ragsite.language.facts import names
from ragsite.language.quantities import Quantity, quantities
from ragsite.language.sentences import split_sentences
from ragsite.language.simplified import as_written, simplified
from ragsite.language.word_tokens import is_han
from retrieval.engine.bm25 import inverse_document_frequency

# Boundaries between the clauses of a sentence; commas within numbers don't count.
_CLAUSE = re.compile(rf"(?<=[;；，])\s*|(?<=[,:：])\s+(?=\S)|(?<=[,:：])(?=[{HAN_BMP}])|(?<=[{HAN_BMP}][,:：])(?=\S)")
# Fewer terms than this are an aside or a list item, and are joined to the neighbouring clause.
_SHORTEST = 2
# A clause with this share of a claim's words is about the same subject.
ABOUT = 0.2


def terms_without_numbers(text: str) -> set[str]:
    """Return a text's terms without its numbers, which are compared separately."""
    return {term for term in terms(text) if not term[0].isdigit()}


def split_clauses(text: str) -> list[str]:
    """Return the clauses of a text, joining those with too few terms."""
    return [clause for sentence in split_sentences(text) for clause in _clauses_of(sentence)]


def _clauses_of(sentence: str) -> list[str]:
    clauses: list[str] = []
    for piece in _CLAUSE.split(sentence):
        if clauses and (len(terms(piece)) < _SHORTEST or len(terms(clauses[-1])) < _SHORTEST):
            clauses[-1] += " " + piece
        elif piece.strip():
            clauses.append(piece)
    return clauses


@dataclass(frozen=True)
class Clause:
    """A clause or sentence of the source, its terms, and for a clause its sentence and that sentence's first clause."""

    text: str
    terms: Set[str]
    sentence: str = ""
    subject: str = ""

    @cached_property
    def signs(self) -> tuple[Word, ...]:
        """Its words with their signs."""
        return read(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Its quantities."""
        return quantities(self.text)

    @cached_property
    def names(self) -> list[str]:
        """Its names and codes."""
        return names(self.text)


class Source:
    """Passages as one text in simplified Chinese, with its sentences, clauses and terms."""

    def __init__(self, text: str) -> None:
        self._written = text
        self.text = text = simplified(text)
        self.terms = terms_without_numbers(text)
        self.sentences = [Clause(sentence, terms_without_numbers(sentence)) for sentence in split_sentences(text)]
        self.clauses: list[Clause] = []
        for sentence in self.sentences:
            clauses = _clauses_of(sentence.text)
            self.clauses += (
                Clause(clause, terms_without_numbers(clause), sentence.text, clauses[0]) for clause in clauses
            )
        frequencies = Counter(term for clause in self.clauses for term in clause.terms)
        self._weights = {term: self._rarity(frequency) for term, frequency in frequencies.items()}
        self._weight_of_others = self._rarity(0)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """All quantities."""
        return [quantity for clause in self.clauses for quantity in clause.quantities]

    def as_written(self, part: str) -> str:
        """Return a part of the text in the script of the passages."""
        return as_written(part, self._written)

    def has_in_code(self, quantity: Quantity) -> bool:
        """Return whether a number without a unit is part of a code or version in the source, such as 5.3 in V5.3."""
        number = re.escape(f"{quantity.value:f}")
        return not quantity.unit and re.search(rf"[A-Za-z]-?{number}(?!\d|\.\d)", self.text) is not None

    def is_foreign(self, language: str) -> bool:
        """Return whether the source is in another language, with no clause in this one."""
        languages = {language_of(clause.text) for clause in self.clauses} - {""}
        return bool(language and languages) and language not in languages

    def lacking(self, wanted: Set[str]) -> list[str]:
        """Return the terms, of some, that the source doesn't contain; a Chinese word may be part of another."""
        return [term for term in wanted if term not in self.terms and not (is_han(term[0]) and term in self.text)]

    def coverage(self, wanted: Set[str], numbers: int) -> float:
        """Return the share, from 0 to 1, of some terms that the source contains; `numbers` more count as found."""
        count = len(wanted) + numbers
        return 1 - len(self.lacking(wanted)) / count if count else 1.0

    def share(self, wanted: Set[str], clause: Clause) -> float:
        """Return the share of some terms that a clause contains, weighted by their rarity among the clauses."""
        whole = sum(map(self.weight, wanted)) or 1.0
        return sum(self.weight(term) for term in wanted if term in clause.terms) / whole

    def basis(self, wanted: Set[str], whole: bool = False) -> Clause | None:
        """Return the clause, or the `whole` sentence, that contains most of some terms, or None if none does."""
        best = max(self.units(whole), key=lambda clause: (self.share(wanted, clause), -len(clause.text)), default=None)
        return best if best is not None and self.share(wanted, best) > 0 else None

    def units(self, whole: bool) -> list[Clause]:
        """Return the clauses, or the `whole` sentences."""
        return self.sentences if whole else self.clauses

    def about(self, wanted: Set[str]) -> list[Clause]:
        """Return the clauses of the sentences that share enough of some terms to be about the same subject."""
        near = {sentence.text for sentence in self.sentences if self.share(wanted, sentence) >= ABOUT}
        return [clause for clause in self.clauses if clause.sentence in near]

    def weight(self, term: str) -> float:
        """Return the rarity of a term among the clauses."""
        return self._weights.get(term, self._weight_of_others)

    def _rarity(self, frequency: int) -> float:
        return inverse_document_frequency(len(self.clauses), frequency)
