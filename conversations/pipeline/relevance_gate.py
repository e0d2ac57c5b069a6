"""Decides whether passages answer a question: `answered`, `nearest` or `nothing`. Pure, except for `judge_result`.

Two weighted sums decide: `relevance`, whether the passages are about what is asked at all, and `answering`, whether
they contain all of it. Their weights come from logistic regressions over questions to small and large collections,
English and Chinese, then adjusted by hand so that both kinds of collection lose little; each decides at 0. Similarities
are those of the bundled model: another may need other thresholds, which `manage.py bench_answers` helps to find.
Figures, and what was tried and dropped: docs/decisions/relevance.md.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from conversations.citations.facts import is_named, names
from conversations.pipeline.understanding.answer_types import asked_for, holds_thing
from conversations.pipeline.understanding.question_terms import QuestionWord, coverage, question_words
from conversations.pipeline.writing.extractive import terms_above, unit_terms, units
from ragsite.db import in_database
from ragsite.language import language_of
from ragsite.site_settings.config import config
from retrieval.engine import fulltext
from retrieval.engine.analysis import terms
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.reorder import passage_terms
from retrieval.search import Hit, Ranking, SearchRequest, SearchResult

# From the best to the worst.
STATES = ("answered", "nearest", "nothing")
# How many of the first passages are judged: as many as an answer is given.
PASSAGES = 5
# The coverage and similarity below both of which nothing counts as an answer, however few passages there are.
HARDLY_COVERED, HARDLY_NEAR = 0.16, 0.4
# A passage that covers so much of so specific a question is about it, whatever their similarity, which is low for all
# tables. Of 220 questions about something else, asked of a large collection, this holds for none.
FULLY_COVERED, SPECIFIC = 0.9, 1.3
# For a table less suffices: its column headings use other words than questions do ("Date of death", "die").
MOSTLY_COVERED = 0.75


@dataclass(frozen=True, slots=True)
class Evidence:
    """Features of a question and the first passages; each is of the best passage unless stated otherwise.

    - `similarity`: cosine of the nearest passage, None if the embedding model doesn't know the question's language.
    - `covered`: share of the question's weight that one passage with its headings contains, from 0 to 1; `by_table`
      the same for tables, and `first` for the first passage.
    - `words`: how many of the question's words it contains, and `specific` how far these narrow down the passages
      searched, at 1 to about one (see `keywords`).
    - `near_thing`: coverage of the best sentence with a thing of the kind asked for (a date, a person …), relative to
      that of the best sentence; 1 if the question asks for no kind of thing.
    - `missing_names`: names and codes of the question that no passage contains.
    - `size`: number of passages searched. Among more, the best similarity by chance is higher.
    """

    similarity: float | None
    covered: float
    by_table: float
    first: float
    words: int
    specific: float
    near_thing: float
    missing_names: tuple[str, ...]
    size: int

    @property
    def relevance(self) -> float:
        """Below 0, the passages speak of something else."""
        size = math.log(max(self.size, 2))
        if self.similarity is None:
            return 6.1 * self.covered + 1.6 * self.words - 0.45 * size - 0.4
        told = 24.3 * self.similarity + 3.5 * self.first - 1.3 * bool(self.missing_names) - 0.75 * size - 4.0
        named = self.covered >= FULLY_COVERED or self.by_table >= MOSTLY_COVERED
        return max(told, 0.0) if named and self.specific >= SPECIFIC else told

    @property
    def answering(self) -> float:
        """Below 0, the passages lack something that is asked for."""
        if self.covered < HARDLY_COVERED and (self.similarity or 0.0) < HARDLY_NEAR:
            return -1.0
        size = math.log(max(self.size, 2))
        lacking = 1.2 * bool(self.missing_names) - 0.9 * self.near_thing
        if self.similarity is None:
            return 2 * self.covered + 1.05 * self.words - lacking - 0.36 * size - 0.9
        # The fewer passages were searched, the less a missing word means.
        told = (0.87 * size - 2.1) * self.covered
        return told + 5 * self.similarity - 1.75 * lacking - 0.65 * size - 0.7


@dataclass(frozen=True, slots=True)
class Judgement:
    """The state of an answer from the passages, and the evidence for it."""

    state: str
    evidence: Evidence

    def to_dict(self) -> dict[str, object]:
        """Return it for the trace: the state, both sums and their features."""
        told = {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self.evidence).items()
        }
        sums = {"relevance": round(self.evidence.relevance, 3), "answering": round(self.evidence.answering, 3)}
        return {"state": self.state} | sums | told


def judge(question: str, hits: Sequence[Hit], frequencies: Frequencies, nearest: float | None) -> Judgement:
    """Return what an answer to a question would be from hits (best first), of which the first `PASSAGES` count.

    `frequencies` are those of the question's terms in the passages searched, and `nearest` is the cosine similarity of
    the nearest passage, None if the embedding model doesn't know the question's language.
    """
    asked = question_words(question, frequencies)
    evidence = _evidence(question, asked, hits[:PASSAGES], frequencies.size, nearest)
    if not hits or evidence.relevance < config.RELEVANCE_THRESHOLD:
        return Judgement("nothing", evidence)
    return Judgement("answered" if evidence.answering >= config.ANSWER_THRESHOLD else "nearest", evidence)


def similarity(rankings: Sequence[Ranking], wordings: Collection[str]) -> float | None:
    """Return the highest similarity of a passage to one of some wordings; None if no ranking can be used."""
    asked = (ranking for ranking in rankings if ranking.type == "vector" and ranking.query.text in wordings)
    known = (ranking for ranking in asked if language_of(ranking.query.text) not in ranking.unknown)
    return max((score for ranking in known for _chunk, score in ranking.hits[:1]), default=None)


async def judge_result(question: str, request: SearchRequest, result: SearchResult) -> str:
    """Return the state of what a search found for a question. Asks the database once."""
    frequencies = await in_database(fulltext.frequencies, set(terms(question)), request.knowledge_base_ids)
    return judge(question, result.hits, frequencies, similarity(result.rankings, (question,))).state


def _evidence(
    question: str, asked: Sequence[QuestionWord], hits: Sequence[Hit], size: int, nearest: float | None
) -> Evidence:
    passages = [passage_terms(hit) for hit in hits]
    held = [sum(word.weight * word.held_by(passage) for word in asked) for passage in passages]
    shares = [coverage(asked, passage) for passage in passages]
    text = "\n".join(f"{hit.filename} {hit.title} {hit.heading}\n{hit.content}" for hit in hits)
    thing, near_thing = asked_for(question), 1.0
    if thing is not None:
        best = best_with_thing = 0.0
        for hit in hits:
            above = terms_above(hit)
            before: frozenset[str] = frozenset()
            for unit in units(hit):
                own = unit_terms(unit)
                share = 0.6 * coverage(asked, own) + 0.4 * coverage(asked, own | above | before)
                best, before = max(best, share), own
                if share > best_with_thing and holds_thing(thing, unit):
                    best_with_thing = share
        near_thing = best_with_thing / best if best else 1.0
    return Evidence(
        similarity=nearest,
        covered=max(shares, default=0.0),
        by_table=max((share for hit, share in zip(hits, shares, strict=True) if hit.kind == "table"), default=0.0),
        first=shares[0] if shares else 0.0,
        words=max((sum(word.held_by(passage) > 0 for word in asked) for passage in passages), default=0),
        specific=max(held, default=0.0) / math.log(max(size, 2)),
        near_thing=near_thing,
        missing_names=tuple(name for name in names(question) if not is_named(name, text)),
        size=size,
    )
