"""Decides whether passages answer a question: `answered`, `nearest` or `nothing`. Pure, except for `judge_result`.

Two weighted sums decide, each at 0: `relevance`, whether the passages are about what is asked at all, and `answering`,
whether one of them answers it. Both go by what the reader made of the passages; where it was left out, by how near they
are and how much of the question they hold, which tells less. Where the weights come from, and what was tried and
dropped: docs/decisions/relevance.md.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.language.detection import language_of
from ragsite.site_settings.config import config
from retrieval.answerability.question_weights import coverage, weigh_words
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.reorder import passage_terms
from retrieval.search import Hit, Ranking, SearchRequest, SearchResult

# From the best to the worst.
STATES = ("answered", "nearest", "nothing")
# Of how many of the first passages words are counted: as many as an answer is given.
PASSAGES = 5
# Of how many passages readings count, the best before they were read: of more, one seems to answer sooner by chance.
READINGS = 10


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature of `Evidence` adds to a sum; those that aren't known add nothing."""

    constant: float
    similarity: float = 0.0
    related: float = 0.0
    answers: float = 0.0
    covered: float = 0.0
    words: float = 0.0


# By whether passages were read, and whether similarities are known. Fitted on tests/conversations/data/answers/dev-*,
# by `manage.py bench_answers --json`; of read passages on the small and mixed ones (730 questions), commit 9463f448, of
# others on the large ones too (1,320), commit 3e47c02a; the constants so that of answerable questions 1 to 2 % get
# "nothing" and 10 % "nearest".
RELEVANCE = {
    (True, True): Weights(-1.6, similarity=1.15, related=0.46, answers=0.2),
    (True, False): Weights(-1.1, related=0.98),
    (False, True): Weights(-3.12, similarity=2.03, covered=5.7),
    (False, False): Weights(-1.08, covered=4.26, words=0.89),
}
ANSWERING = {
    (True, True): Weights(-0.8, similarity=0.4, answers=1.0),
    (True, False): Weights(0.0, answers=1.0),
    (False, True): Weights(-1.98, similarity=0.99, covered=3.03),
    (False, False): Weights(-1.06, covered=2.58, words=0.48),
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Features of a question and the first passages; each is of the best passage.

    - `similarity` in meaning (see `Calibration`), None where the embedding model doesn't know the question's language.
    - `answers` and `related`, log odds by the reader that a passage answers, and that it is about what is asked; None
      where none was read.
    - `covered`: share of the question's weight that one passage with its headings contains, from 0 to 1, and `words`
      how many of the question's words.
    """

    similarity: float | None
    answers: float | None
    related: float | None
    covered: float
    words: int

    @property
    def relevance(self) -> float:
        """Below 0, the passages speak of something else."""
        return self._sum(RELEVANCE[self.related is not None, self.similarity is not None])

    @property
    def answering(self) -> float:
        """Below 0, no passage holds what is asked for."""
        return self._sum(ANSWERING[self.answers is not None, self.similarity is not None])

    def _sum(self, weights: Weights) -> float:
        return (
            weights.constant
            + weights.similarity * (self.similarity or 0.0)
            + weights.related * (self.related or 0.0)
            + weights.answers * (self.answers or 0.0)
            + weights.covered * self.covered
            + weights.words * self.words
        )


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
    """Return what an answer to a question would be from hits, best first.

    `frequencies` are those of the question's terms in the passages searched, and `nearest` is the similarity of the
    nearest passage, None if the embedding model doesn't know the question's language.
    """
    asked = weigh_words(question, frequencies)
    passages = [passage_terms(hit) for hit in hits[:PASSAGES]]
    read = [hit for hit in hits if hit.reading is not None]
    read.sort(key=lambda hit: -(hit.score if hit.worth is None else hit.worth))
    readings = [hit.reading for hit in read[:READINGS] if hit.reading is not None]
    evidence = Evidence(
        similarity=nearest,
        answers=max((reading.answers for reading in readings if reading.answers is not None), default=None),
        related=max((reading.related for reading in readings if reading.related is not None), default=None),
        covered=max((coverage(asked, passage) for passage in passages), default=0.0),
        words=max((sum(word.held_by(passage) > 0 for word in asked) for passage in passages), default=0),
    )
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
