"""Decides whether passages answer a question: `answered`, `nearest` or `nothing`.

Two weighted sums are compared with 0: `relevance`, whether the passages are about the question at all, and `answering`,
whether one of them answers it. Both use the reader's scores; without the reader, they use similarity and the share of
the question's words, which are less reliable. docs/decisions/relevance.md has the origin of the weights and the
alternatives that were tried and dropped.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.language.content_words import content_terms
from ragsite.language.detection import language_of
from ragsite.language.questions import names_topic
from ragsite.site_settings.config import config
from retrieval.answerability.question_weights import coverage, weigh_words
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.reorder import passage_terms
from retrieval.search import Hit, Ranking, SearchRequest, SearchResult

# Best to worst.
STATES = ("answered", "nearest", "nothing")
# The number of first passages whose words count, and whose sentences may be quoted without a model.
FIRST_PASSAGES = 5
# The number of passages whose readings count, the best before reading: with more, one is likelier to seem an answer by
# chance.
READINGS = 10


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each feature of `Evidence` in a sum; unknown features add nothing."""

    constant: float
    similarity: float = 0.0
    related: float = 0.0
    answers: float = 0.0
    covered: float = 0.0
    words: float = 0.0


# Keys: whether passages were read, and whether similarities are known. Fitted on tests/conversations/data/answers/dev-*
# with `manage.py bench_answers --json`: for read passages on the small and mixed sets (730 questions), commit cb506880;
# for others on the large ones too (1,320), commit 1e08b7bd. ANSWERING[True, True] was chosen among fifteen pairs of
# weight and constant, commit 410c0d52. The constants are such that 1 to 2 % of answerable questions get "nothing" and
# 10 % "nearest".
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
    """Features of a question and the first passages, each the value of the best passage.

    - `similarity`: similarity in meaning (see `Calibration`); None if the embedding model doesn't know the question's
      language.
    - `answers` and `related`: the reader's log odds that a passage answers the question, and that it is about it; None
      if no passage was read.
    - `covered`: the share of the question's weight that one passage with its headings contains, from 0 to 1.
    - `words`: the number of the question's words that one passage contains.
    """

    similarity: float | None
    answers: float | None
    related: float | None
    covered: float
    words: int

    @property
    def relevance(self) -> float:
        """The sum for relevance; below 0, the passages are about something else."""
        return self._sum(RELEVANCE[self.related is not None, self.similarity is not None])

    @property
    def answering(self) -> float:
        """The sum for answering; below 0, no passage contains the answer."""
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
    """The state of an answer from the passages, with the evidence for it."""

    state: str
    evidence: Evidence

    def to_dict(self) -> dict[str, object]:
        """Return it for the trace: the state, both sums and their features."""
        features = {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self.evidence).items()
        }
        sums = {"relevance": round(self.evidence.relevance, 3), "answering": round(self.evidence.answering, 3)}
        return {"state": self.state} | sums | features


def judge(question: str, hits: Sequence[Hit], frequencies: Frequencies, nearest: float | None) -> Judgement:
    """Judge whether hits, best first, answer a question.

    `frequencies` are those of the question's terms in the searched passages. `nearest` is the similarity of the nearest
    passage, or None if the embedding model doesn't know the question's language.
    """
    question_words = weigh_words(question, frequencies)
    passages = [passage_terms(hit) for hit in hits[:FIRST_PASSAGES]]
    read = [hit for hit in hits if hit.reading is not None]
    read.sort(key=lambda hit: -(hit.score if hit.worth is None else hit.worth))
    readings = [hit.reading for hit in read[:READINGS] if hit.reading is not None]
    evidence = Evidence(
        similarity=nearest,
        answers=max((reading.answers for reading in readings if reading.answers is not None), default=None),
        related=max((reading.related for reading in readings if reading.related is not None), default=None),
        covered=max((coverage(question_words, passage) for passage in passages), default=0.0),
        words=max((sum(word.held_by(passage) > 0 for word in question_words) for passage in passages), default=0),
    )
    if not hits or evidence.relevance < config.RELEVANCE_THRESHOLD:
        return Judgement("nothing", evidence)
    # A section named like the topic answers a request for it, however few of its sentences do by themselves.
    topic = {*content_terms(question)} if names_topic(question) else set()
    is_section = bool(topic) and any(topic <= {*terms(hit.heading)} for hit in hits[:FIRST_PASSAGES])
    answers = is_section or evidence.answering >= config.ANSWER_THRESHOLD
    return Judgement("answered" if answers else "nearest", evidence)


def similarity(rankings: Sequence[Ranking], wordings: Collection[str]) -> float | None:
    """Return the highest similarity of a passage to any of the wordings, or None if no ranking can be used."""
    searched = (ranking for ranking in rankings if ranking.type == "vector" and ranking.query.text in wordings)
    known = (ranking for ranking in searched if language_of(ranking.query.text) not in ranking.unknown)
    return max((score for ranking in known for _chunk, score in ranking.hits[:1]), default=None)


async def judge_result(question: str, request: SearchRequest, result: SearchResult) -> str:
    """Return the answer state for a search's result. Makes one database query."""
    frequencies = await in_database(fulltext.frequencies, set(terms(question)), request.knowledge_base_ids)
    return judge(question, result.hits, frequencies, similarity(result.rankings, (question,))).state
