"""Answering without a language model: the sentences that answer best, quoted. Pure.

Sentences of the hits are scored by how much of the question they cover (each term weighed by its rarity among
the sentences), by what heading and sentence before them add, by their nearness in meaning where an embedding
model knows the language, and by the rank of their passage.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from conversations.meaning import Similarity
from knowledge.sections import MARK
from knowledge.sentences import split_sentences
from retrieval.analysis import terms
from retrieval.reorder import asked_terms, rarity, share
from retrieval.search import Hit

MAX_SENTENCES = 5
MAX_PASSAGES = 3
MAX_ROWS = 12
# Below this share of the question's terms in one passage, the passages do not speak of it. Terms count alike: weighed
# by their rarity among the passages, those that all of them hold would count least, and colloquial words that none
# holds most. Of 183 questions on four books 1 is refused (by weight, below 0.3, were 5), of 220 on other things 211
# (209 by weight).
MIN_COVERAGE = 0.42
# A sentence this much weaker than the best is not worth quoting.
KEEP = 0.62
# Columns: a passage up to the first is quoted whole; a procedure is quoted from its beginning up to the second.
SHORT_PASSAGE = 460
PROCEDURE = 620
# Columns between two quoted sentences that are quoted rather than left out: readers trust no gap.
SMALL_GAP = 200
# What counts beside the words of the sentence itself: those of its heading and of the sentence before it, the rank of
# its passage, and its nearness in meaning.
NEAR = 0.4
RANK_PRIOR = 0.4
MEANING = 0.4
# How many sentences are compared in meaning: each costs an embedding.
COMPARED = 24

_WANTS_PROCEDURE = re.compile(
    r"\bhow (do|can|to|should|would|does)\b|\bsteps?\b|怎么|怎样|如何|步骤|方法", re.IGNORECASE
)
_WANTS_NUMBER = re.compile(
    r"\b(how (many|much|long|often|old|far|big|large)|when|what (year|date|time|number|size|port|version|percentage))\b"
    r"|多少|几[个天年月次台人]|何时|什么时候|多久|多长|多大|哪一?年|日期|时间|价格|费用",
    re.IGNORECASE,
)
_WANTS_PICTURE = re.compile(
    r"\b(picture|figure|diagram|image|photo|screenshot|chart|drawing|look like)\b|图|照片|截图|长什么样", re.IGNORECASE
)
# The beginning of a definition: what is defined, and a colon.
_TERM = re.compile(r"[^\s-][^.。:：\n]{1,80}[:：] ?\S")
_FENCED = re.compile(r"^```.*?^```[^\S\n]*\n*", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\d|[一二三四五六七八九十百千万亿两]+[个天年月日次台人元小分]")


@dataclass(slots=True)
class Quote:
    """Sentences of one passage, in their order there, each with the white space after it.

    `hit` is its position among the hits; `gaps` are the indices of sentences before which something is left out.
    """

    hit: int
    sentences: list[str] = field(default_factory=list)
    gaps: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Extract:
    """What is quoted: sentences, table rows and pictures, each by the position of its hit."""

    quotes: list[Quote] = field(default_factory=list)
    tables: dict[int, list[list[str]]] = field(default_factory=dict)
    pictures: list[int] = field(default_factory=list)
    coverage: float = 0.0

    @property
    def hits(self) -> list[int]:
        """Return the positions of the hits that are used, the best first."""
        return sorted({*(quote.hit for quote in self.quotes), *self.tables, *self.pictures})


@dataclass(slots=True)
class _Sentence:
    hit: int
    position: int
    text: str
    terms: set[str]
    context: set[str]
    coverage: float = 0.0
    score: float = 0.0


def extract(question: str, hits: Sequence[Hit], similarity: Similarity | None = None, alone: str = "") -> Extract:
    """Choose what to quote of the hits for a question; empty when they don't speak of it.

    `alone` is the question as it was asked, where `question` has words of the conversation too: passages need not hold
    those when they hold its own.
    The hits come best first, and the first is always quoted: their order (see `retrieval.reorder`) is measured, while
    a single sentence that sounds right may stand anywhere.
    """
    wanted = asked_terms(question)
    sentences = [sentence for position, hit in enumerate(hits) for sentence in _sentences(position, hit)]
    if not sentences or not wanted:
        return Extract()
    weights = rarity(wanted, [sentence.terms for sentence in sentences])
    _score(question, sentences, weights, similarity)
    wordings = (wanted, asked_terms(alone)) if alone else (wanted,)
    result = Extract(coverage=max(_best_passage_coverage(sentences, wording) for wording in wordings))
    if result.coverage < MIN_COVERAGE and not _near(question, hits, similarity):
        return result
    best = sorted(sentences, key=lambda item: -item.score)
    _choose(result, hits, best, weights, bool(_WANTS_PROCEDURE.search(question)))
    _choose_pictures(result, question, hits, weights)
    return result


def _sentences(position: int, hit: Hit) -> list[_Sentence]:
    """Return a hit's sentences; a table's rows count as sentences of their own."""
    heading = set(terms(f"{hit.heading} {hit.filename.rsplit('.', 1)[0]}"))
    if hit.kind == "table" and hit.rows:
        columns = set(terms(" ".join(hit.columns or ())))
        return [
            _Sentence(position, number, " | ".join(row), set(terms(" ".join(row))), heading | columns)
            for number, row in enumerate(hit.rows)
        ]
    found: list[_Sentence] = []
    section: set[str] = set()
    before: set[str] = set()
    for number, text in enumerate(units(hit.content)):
        own = set(terms(text))
        if text.startswith(MARK):
            section, before = own, set()
            continue
        found.append(_Sentence(position, number, text.strip(), own, heading | section | before))
        before = own
    return [sentence for sentence in found if sentence.text]


def units(content: str) -> list[str]:
    """Return what can be quoted of a passage: its sentences, and each block of fenced code whole.

    Each keeps the white space after it, so that joined they are the passage.
    """
    found: list[str] = []
    end = 0
    for match in _FENCED.finditer(content):
        found += split_sentences(content[end : match.start()])
        found.append(match.group())
        end = match.end()
    return found + split_sentences(content[end:])


def _score(question: str, sentences: list[_Sentence], weights: dict[str, float], similarity: Similarity | None) -> None:
    whole = sum(weights.values())
    numeric = bool(_WANTS_NUMBER.search(question))
    for sentence in sentences:
        own = sum(weight for term, weight in weights.items() if term in sentence.terms)
        near = sum(
            weight for term, weight in weights.items() if term in sentence.context and term not in sentence.terms
        )
        sentence.coverage = own / whole
        score = (own + NEAR * near) / whole + RANK_PRIOR / (1 + 0.5 * sentence.hit)
        score += 0.08 if numeric and _NUMBER.search(sentence.text) else 0.0
        sentence.score = score * _length_factor(sentence.text)
    if similarity is not None:
        _blend(sentences, similarity)


def _length_factor(text: str) -> float:
    columns = _columns(text)
    if columns < 24:
        return 0.75
    return 1.0 if columns < 420 else 0.85


def _blend(sentences: list[_Sentence], similarity: Similarity) -> None:
    """Let nearness in meaning reorder the strongest sentences; the others keep a lowered score."""
    best = sorted(sentences, key=lambda item: -item.score)
    for sentence, near in zip(best[:COMPARED], similarity([item.text for item in best[:COMPARED]]), strict=True):
        sentence.score = (1 - MEANING) * sentence.score + MEANING * max(0.0, near)
    for sentence in best[COMPARED:]:
        sentence.score *= 1 - MEANING


def _best_passage_coverage(sentences: Sequence[_Sentence], wanted: Set[str]) -> float:
    """Return the largest share of the question's terms that one passage with its heading holds."""
    by_hit: dict[int, set[str]] = {}
    for sentence in sentences:
        by_hit.setdefault(sentence.hit, set()).update(sentence.terms, sentence.context)
    return max(len(wanted & found) for found in by_hit.values()) / max(1, len(wanted))


def _near(question: str, hits: Sequence[Hit], similarity: Similarity | None) -> bool:
    """Whether the first passages are near in meaning though they share few words with the question."""
    if similarity is None:
        return False
    return max(similarity([hit.content[:1000] for hit in hits[:2]]), default=0.0) >= 0.5


def _choose(
    result: Extract, hits: Sequence[Hit], best: list[_Sentence], weights: dict[str, float], procedural: bool
) -> None:
    taken = _take(best)
    quotes: dict[int, Quote] = {}
    for sentence in taken:
        hit = hits[sentence.hit]
        if hit.kind == "table" and hit.rows:
            result.tables.setdefault(sentence.hit, [])
        elif hit.kind == "image":
            result.pictures.append(sentence.hit)
        else:
            quotes.setdefault(sentence.hit, Quote(sentence.hit))
    for quote in quotes.values():
        positions = {sentence.position for sentence in taken if sentence.hit == quote.hit}
        texts = units(hits[quote.hit].content)
        whole_section = procedural and share(terms(hits[quote.hit].heading), weights) >= 0.5
        chosen = _stretch(texts, positions, whole_section)
        quote.sentences = [texts[position] for position in chosen]
        quote.gaps = {index for index, (a, b) in enumerate(pairwise(chosen), 1) if b != a + 1}
    for position in result.tables:
        result.tables[position] = _rows(hits[position], weights)
    result.quotes = list(quotes.values())


def _take(best: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentences to quote: the best one of the first hit, then the best of all, of few passages."""
    taken = [next((sentence for sentence in best if sentence.hit == 0), best[0])]
    least = best[0].score * KEEP
    for sentence in best:
        if len(taken) >= MAX_SENTENCES or sentence.score < least:
            break
        passages = {other.hit for other in taken}
        full = sentence.hit not in passages and len(passages) >= MAX_PASSAGES
        if not full and not _repeats(sentence, taken):
            taken.append(sentence)
    return taken


def _repeats(sentence: _Sentence, taken: Sequence[_Sentence]) -> bool:
    """Whether the sentence says nearly what a taken one says."""
    return any(len(sentence.terms & other.terms) >= 0.8 * max(1, len(sentence.terms | other.terms)) for other in taken)


def _stretch(texts: list[str], positions: set[int], procedural: bool) -> list[int]:
    """Return the positions of what is quoted around the chosen sentences.

    A short passage is quoted whole, and a section on what "how" asks for from its beginning; an entry of a list of
    definitions brings the term that it defines, and a sentence that announces a list what it announces. Each brings the
    sentence after it while that is not much ("To avoid this, …"), and little between two isn't left out.
    """
    wanted = set(positions)
    if sum(map(_columns, texts)) <= SHORT_PASSAGE:
        wanted.update(range(len(texts)))
    elif procedural:
        wanted.update(position for position, total in enumerate(accumulate(map(_columns, texts))) if total <= PROCEDURE)
    if texts and _TERM.match(texts[0]):
        wanted.add(0)
    for position in positions:
        if texts[position].rstrip().endswith((":", "：")):
            wanted.update(range(position + 1, min(position + 7, len(texts))))
    for position in sorted(positions):
        following = {*wanted, min(position + 1, len(texts) - 1)}
        if len(positions) == 1 or sum(_columns(texts[each]) for each in following) <= PROCEDURE:
            wanted = following
    quoted = sorted(wanted)
    for before, after in pairwise(quoted):
        if sum(map(_columns, texts[before + 1 : after])) <= SMALL_GAP:
            wanted.update(range(before + 1, after))
    return _with_headings(texts, sorted(position for position in wanted if texts[position].strip()))


def _with_headings(texts: list[str], positions: list[int]) -> list[int]:
    """Return the positions with the heading right above one, and without those that nothing quoted follows."""
    above = {position - 1 for position in positions if position and texts[position - 1].startswith(MARK)}
    wanted = sorted({*positions, *above})
    return [
        position
        for position, following in zip(wanted, [*wanted[1:], None], strict=True)
        if not texts[position].startswith(MARK) or (following is not None and not texts[following].startswith(MARK))
    ]


def _columns(text: str) -> int:
    """Return the width of a text in columns; a Chinese character is two wide."""
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)


def _rows(hit: Hit, weights: dict[str, float]) -> list[list[str]]:
    """Return the rows of a table that speak of the question, in their order; of a short table all."""
    rows = hit.rows or []
    scores = [sum(weights.get(term, 0.0) for term in set(terms(" ".join(row)))) for row in rows]
    top = max(scores, default=0.0)
    if len(rows) <= 6 or top == 0:
        return [list(row) for row in rows[:MAX_ROWS]]
    return [list(row) for row, score in zip(rows, scores, strict=True) if score >= 0.5 * top][:MAX_ROWS]


def _choose_pictures(result: Extract, question: str, hits: Sequence[Hit], weights: dict[str, float]) -> None:
    """Show a picture when the question asks for one, or when its caption covers most of the question."""
    asked = bool(_WANTS_PICTURE.search(question))
    for position, hit in enumerate(hits):
        if hit.kind != "image" or len(result.pictures) >= 2 or position in result.pictures:
            continue
        if share(terms(hit.content), weights) >= (0.3 if asked else 0.6):
            result.pictures.append(position)
