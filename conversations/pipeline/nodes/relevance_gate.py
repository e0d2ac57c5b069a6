"""Whether what was found answers the question, holds only what is closest to it, or speaks of something else.

A search by meaning always finds something. And a model that would rather not search is right only where the documents
have nothing to say.
"""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.relevance_gate import STATES, Evidence, Judgement, judge, similarity
from conversations.pipeline.state import State
from conversations.pipeline.understanding.plans import asks_for_facts, leans_on
from conversations.prompts.endpoints import endpoint_for
from knowledge.queries import languages_of
from ragsite.db import in_database
from ragsite.language import language_of
from retrieval.search import selected

# The cosine similarity from which a passage proves wrong a model that would rather not search.
NEAR = 0.45
# What passages must hold of a question, or how near they must be, to be its answer where other documents can't be
# searched by it. To 20 questions in English on the Chinese samples, the nearest English passage is .36 near or less.
WELL_COVERED, WELL_COVERED_UNKNOWN, WELL_NEAR = 0.45, 0.3, 0.38


class RelevanceGate(Node):
    """Judges what an answer from the hits would be, and empties them where it would be none.

    Then a model that had other plans is followed, but for a question for facts: a chat would answer it from general
    knowledge and not say so.
    """

    key = "relevance_gate"
    title = gettext_lazy("See whether the documents speak of it")
    timeout = 5.0
    on_error = "skip"
    reads = ("question", "action", "rankings", "hits")
    may_read = (
        "deferred_action", "ranking_query", "rewrite", "translations", "search_request", "frequencies",
        "knowledge_base_ids",
    )  # fmt: skip
    writes = ("action", "hits", "answer_state", "unsearched")

    def wanted(self, state: State) -> bool:
        """The documents must have been asked."""
        return state.action == "retrieve_vector"

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `answer_state` and `unsearched`; empty `hits`, or change `action`, where there is no answer."""
        judgement = _judged(state)
        state.answer_state = judgement.state
        ctx.note(**judgement.to_dict(), deferred_action=state.deferred_action)
        proven = judgement.state == "answered" or (judgement.evidence.similarity or 0.0) >= NEAR
        if state.answer_state == "nothing" and await _may_be_read(state):
            state.answer_state, proven = "nearest", True
        if state.answer_state != "answered" or not _tells_enough(judgement.evidence):
            state.unsearched = await _unsearched(state)
        if state.answer_state == "answered" and state.unsearched:
            state.answer_state = "nearest"  # what answers may stand in the documents that were not searched
        if state.answer_state == "nothing" or (state.deferred_action and not proven):
            for_facts = asks_for_facts(state.question) and not leans_on(state.question)
            if state.deferred_action and not (state.deferred_action == "answer_chat" and for_facts):
                state.action, state.answer_state, state.hits = state.deferred_action, "", []
            elif state.answer_state == "nothing":
                state.hits = []
        ctx.note(action=state.action, unsearched=state.unsearched)

    def message(self, state: State) -> str:
        """Say what came of it."""
        return {
            "answered": _("they do"),
            "nearest": _("they come close"),
        }.get(state.answer_state, _("they don't"))


def _judged(state: State) -> Judgement:
    """Return the best judgement of the wordings that were searched.

    Of a question that points at what was said before it, that is the one with words of it; of another only its own
    words, or its stand-alone form, prove something. Where a model had other plans, only the question by itself counts.
    """
    leans = leans_on(state.question) and not state.deferred_action
    wording = (
        state.question if state.deferred_action else (state.ranking_query if leans else state.rewrite) or state.question
    )
    wordings = [wording] if state.deferred_action else [wording, *state.translations.values()]
    hits = state.hits
    if state.search_request is not None:
        hits, _stages = selected(state.search_request, hits)
    judgements = []
    for text in wordings:
        nearest = similarity(state.rankings, {text, state.question} if text == state.rewrite else {text})
        judgements.append(judge(text, hits, state.frequencies, nearest))
    return min(judgements, key=lambda judgement: STATES.index(judgement.state))


def _tells_enough(evidence: Evidence) -> bool:
    if evidence.similarity is None:
        return evidence.covered >= WELL_COVERED_UNKNOWN
    return evidence.covered >= WELL_COVERED or evidence.similarity >= WELL_NEAR


async def _unsearched(state: State) -> dict[str, int]:
    """Return how many documents are in which languages that the question can't be searched in.

    Words are found in their own language alone, and meaning where the embedding model knows both.
    """
    if not state.knowledge_base_ids:
        return {}
    unknown = frozenset[str]().union(*(ranking.unknown for ranking in state.rankings))
    searched = {state.question_language, *state.translations}
    return {
        language: count
        for language, count in (await in_database(languages_of, state.knowledge_base_ids)).items()
        if language not in searched and {language, state.question_language} & unknown
    }


async def _may_be_read(state: State) -> bool:
    """Whether a model may find an answer where neither words nor meaning can tell of one: in another language."""
    foreign = sum(language_of(hit.content) not in ("", state.question_language) for hit in state.hits)
    if foreign <= len(state.hits) / 2 or not asks_for_facts(state.question):
        return False
    return await endpoint_for("answer") is not None
