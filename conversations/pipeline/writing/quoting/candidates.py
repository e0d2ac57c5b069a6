"""The candidates for quoting: each sentence, row and code block of the first passages, with its score. Pure.

The score is a weighted sum (see `Candidate.score`), fitted so that the sentence containing the answer comes first: by
the reader's score, or else by its words and its similarity in meaning.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from conversations.pipeline.writing.quoting.similarity import Similarity
from knowledge.chunking.sections import MARK
from knowledge.parsing.mail.quotes import is_quoted
from ragsite.language.answer_types import wants_picture
from ragsite.language.detection import language_of
from retrieval.answerability.question_weights import QuestionWord, coverage
from retrieval.answerability.units import terms_above, unit_terms, units
from retrieval.search import Hit

# A sentence whose score is this much lower than the best is not worth quoting; for table rows and code the margin is
# smaller. Chosen by hand on the same questions as the weights, like the limits in `extractive`.
MARGIN, ROW_MARGIN = 3.0, 1.0
# The number of sentences that are compared in meaning; each costs an embedding.
COMPARED = 8
# The assumed reader's score of a sentence that it didn't read, if it read others.
_UNREAD_STRENGTH = -15.0


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each feature of a candidate in its score. `place` is its passage's: 1, 1/2, 1/3 …"""

    strength: float = 0.0
    own: float = 0.0
    context: float = 0.0
    meaning: float = 0.0
    place: float = 0.0


# Fitted as a choice of one sentence among a question's (softmax), on the answerable questions of
# tests/conversations/data/answers/dev-*, by `manage.py bench_answers --json`: commit cb506880 with a reader, 3b1f9d03
# across languages, 1255aa00 without a reader. docs/decisions/reader.md.
READ = Weights(strength=0.39, own=3.0, place=1.89)
READ_AND_COMPARED = Weights(strength=0.67 * 0.39, own=0.67 * 3.0, place=0.67 * 1.89, meaning=2.0)
UNREAD = Weights(own=5.0, context=4.5, meaning=1.8, place=3.5)


@dataclass(slots=True)
class Candidate:
    """A sentence, a table row or a code block that may answer the question."""

    hit: int
    position: int
    text: str
    terms: frozenset[str]
    paragraph: int
    own: float  # the share of the question that it covers, a row together with its columns' names
    context: float  # the share that its headings add
    strength: float | None  # the reader's preference for an answer within it over none; None without a reader
    meaning: float | None = None  # its similarity to the question; None if sentences were not compared

    @property
    def score(self) -> float:
        """The weighted sum that sentences are ordered by."""
        if self.strength is None:
            weights = UNREAD
        else:
            weights = READ if self.meaning is None else READ_AND_COMPARED
        return (
            weights.strength * (self.strength or 0.0)
            + weights.own * self.own
            + weights.context * self.context
            + weights.meaning * (self.meaning or 0.0)
            + weights.place / (1 + self.hit)
        )


def rank(
    question: str, asked: Sequence[QuestionWord], hits: Sequence[Hit], similarity: Similarity | None
) -> list[Candidate]:
    """Return the sentences of the hits, the most likely answer first."""
    # Captions of pictures that the question doesn't ask for are skipped; `extract` shows those that cover the question.
    pictured = wants_picture(question) or all(hit.kind == "image" for hit in hits)
    quotable = [(position, hit) for position, hit in enumerate(hits) if pictured or hit.kind != "image"]
    is_read = any(hit.reading and hit.reading.sentences for _position, hit in quotable)
    found = [unit for position, hit in quotable for unit in candidates_of(position, hit, asked, is_read)]
    found.sort(key=lambda unit: -unit.score)
    compared = found[:COMPARED]
    # Within a language the reader alone is better than with similarity; across languages the two add up.
    language = language_of(question)
    if similarity is not None and not (
        is_read and all(language_of(hits[unit.hit].content) in ("", language) for unit in compared)
    ):
        similarities = similarity([unit.text for unit in compared])
        for number, unit in enumerate(found):
            unit.meaning = max(0.0, similarities[number]) if number < len(similarities) else 0.0
        found.sort(key=lambda unit: -unit.score)
    # What a mail quotes from older ones is an answer only if it is far better than the mail's own words.
    own: dict[int, float] = {}
    for unit in reversed(found):
        if not is_quoted(hits[unit.hit].heading):
            own[hits[unit.hit].document_id] = unit.score
    return [
        unit
        for unit in found
        if not is_quoted(hits[unit.hit].heading)
        or unit.score > own.get(hits[unit.hit].document_id, float("-inf")) + MARGIN
    ]


def candidates_of(position: int, hit: Hit, asked: Sequence[QuestionWord], is_read: bool) -> list[Candidate]:
    """Return the candidates of a hit at a position among the hits; `is_read` if the reader has read some of them."""
    texts = units(hit)
    is_table = hit.kind == "table" and bool(hit.rows)
    above = terms_above(hit)
    # The names of a table's columns belong to each of its rows.
    columns = unit_terms(" ".join(map(str, hit.columns or ()))) if is_table else frozenset[str]()
    strengths = _strengths(hit, texts, is_table) if is_read else [None] * len(texts)
    found: list[Candidate] = []
    section: frozenset[str] = frozenset()
    paragraph = 0
    for number, (text, strength) in enumerate(zip(texts, strengths, strict=True)):
        own = unit_terms(text)
        is_asked = text.rstrip().endswith(("?", "？")) and (text.startswith("> ") or is_quoted(hit.heading))
        if text.startswith(MARK):
            section, paragraph = own, paragraph + 1
            continue
        held = coverage(asked, own | columns)
        # A number alone says nothing, and what a mail quotes may be the question.
        if is_table or (any(map(str.isalpha, text)) and not is_asked):
            context = coverage(asked, own | above | section) - held
            found.append(Candidate(position, number, text.strip(), own, paragraph, held, context, strength))
        if "\n\n" in text[len(text.rstrip()) :]:
            paragraph += 1
    return found


def _strengths(hit: Hit, texts: Sequence[str], is_table: bool) -> list[float | None]:
    """Return the reader's score of each sentence or row: the highest of the spans read within it."""
    read = hit.reading.sentences if hit.reading else ()
    if is_table:  # the rows are the table's last lines
        rows = [strength for _start, strength in read[-len(texts) :]]
        return [*[_UNREAD_STRENGTH] * (len(texts) - len(rows)), *rows]
    ends = [*accumulate(map(len, texts))]
    found: list[float | None] = [_UNREAD_STRENGTH] * len(texts)
    for start, strength in read:
        number = min(bisect_right(ends, start), len(texts) - 1)
        found[number] = max(strength, found[number] or _UNREAD_STRENGTH)
    return found


def overlap(one: Candidate, other: Candidate) -> float:
    """Return the share of the terms of both that they have in common."""
    return len(one.terms & other.terms) / max(1, len(one.terms | other.terms))
