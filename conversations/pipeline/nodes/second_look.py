"""Whether what was found speaks of the question at all.

A search by meaning always finds something. And a model that would rather not search is right only where the documents
have nothing to say.
"""

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.plans import asks_for_facts, leans_on
from conversations.pipeline.state import State
from ragsite.language import language_of
from retrieval.analysis import terms
from retrieval.reorder import asked_terms, rarity, share
from retrieval.search import Hit, Ranking

# The share of a question's words, each weighed by its rarity among the hits, that one of them must hold.
COVERED = 0.5
# The cosine similarity from which a passage speaks of a question that it shares few words with.
NEAR = 0.45
# The share of a query that must be in languages which the embedding model knows for its similarities to tell something.
UNDERSTOOD = 0.8


class SecondLook(Node):
    """Empties the hits where they don't speak of the question; then a model that had other plans is followed.

    A question for facts that nothing speaks of stays one without hits: a chat would answer it from general knowledge
    and not say so.
    """

    key = "second_look"
    title = gettext_lazy("See whether the documents speak of it")
    timeout = 5.0
    on_error = "skip"
    reads = ("question", "action", "rankings", "hits")
    may_read = ("instead", "focus", "rewrite")
    writes = ("action", "hits", "answer_state")

    def wanted(self, state: State) -> bool:
        """The documents must have been asked."""
        return state.action == "retrieve_vector"

    async def run(self, state: State, emit: Emit) -> State:
        """Empty `hits` where they don't speak of the question; change `action` where that proves a model right."""
        if (state.hits and settings.RELEVANCE_FLOOR > 0) or state.instead:
            state.note(self.key, instead=state.instead)
            spoken_of = self._proves_wrong(state) if state.instead else self._speak_of_it(state)
            if not spoken_of:
                state.hits = []
                _follow_other_plans(state)
            state.note(self.key, spoken_of=spoken_of, action=state.action)
        if state.action == "retrieve_vector":
            state.answer_state = "answered" if state.hits else "nothing"
        return state

    def _speak_of_it(self, state: State) -> bool:
        """Whether the hits have anything to do with the question, or with what it leans on."""
        nearest = similarity(_telling_rankings(state))
        state.note(self.key, similarity=nearest)
        if nearest is not None and nearest >= settings.RELEVANCE_FLOOR:
            return True
        if in_another_language(state.question_language, state.hits):
            return True
        covered = coverage(_judged_by(state), state.hits)
        state.note(self.key, coverage=round(covered, 3))
        return not is_unrelated(covered, nearest)

    def _proves_wrong(self, state: State) -> bool:
        """Whether the hits answer a question for which a model had other plans.

        What came before may be what the documents speak of, so only the question by itself counts.
        """
        nearest = similarity([ranking for ranking in state.rankings if ranking.query.text == state.question])
        covered = coverage(state.question, state.hits)
        state.note(self.key, similarity=nearest, coverage=round(covered, 3))
        if in_another_language(state.question_language, state.hits) and asks_for_facts(state.question):
            return True
        return not is_unrelated(covered, nearest) and (covered >= COVERED or (nearest or 0.0) >= NEAR)

    def message(self, state: State) -> str:
        """Say what came of it."""
        return _("they do") if state.hits else _("they don't")


def _judged_by(state: State) -> str:
    return (state.focus if leans_on(state.question) else state.rewrite) or state.question


def _telling_rankings(state: State) -> list[Ranking]:
    """Return the rankings that tell: of a question that points at nothing before it, not those with words of that."""
    if leans_on(state.question):
        return state.rankings
    return [ranking for ranking in state.rankings if ranking.query.text in (state.question, state.rewrite)]


def coverage(question: str, hits: Sequence[Hit]) -> float:
    """Return the largest share of a question's weight that one hit holds, from 0 to 1."""
    wanted = asked_terms(question)
    passages = [set(terms(f"{hit.filename} {hit.heading} {hit.content}")) for hit in hits]
    weights = rarity(wanted, passages)
    return max((share(found, weights) for found in passages), default=0.0)


def similarity(rankings: Sequence[Ranking]) -> float | None:
    """Return the cosine similarity of the nearest passage; None where the embedding model can't tell."""
    telling = (ranking for ranking in rankings if ranking.type == "vector" and ranking.understood >= UNDERSTOOD)
    return max((round(score, 4) for ranking in telling for _chunk, score in ranking.hits[:1]), default=None)


def in_another_language(language: str, hits: Sequence[Hit]) -> bool:
    """Whether most passages are in another language than the question, so that neither words nor meaning can tell."""
    foreign = sum(language_of(hit.content) not in ("", language) for hit in hits)
    return foreign > len(hits) / 2


def is_unrelated(covered: float, nearest: float | None) -> bool:
    """Whether passages have nothing to do with a question.

    They hold little of its words and are far from it in meaning, or, where the meaning can't be told, hold none of its
    words. On public sets (MTRAG's government part, SciFact) no question that stands alone, of 200, was found unrelated
    to its own corpus; of questions put to the other's corpus, half were.
    """
    return covered == 0 if nearest is None else covered < COVERED and nearest < settings.RELEVANCE_FLOOR


def _follow_other_plans(state: State) -> None:
    for_facts = asks_for_facts(state.question) and not leans_on(state.question)
    if not state.instead or (state.instead == "answer_chat" and for_facts):
        return
    state.action = state.instead
