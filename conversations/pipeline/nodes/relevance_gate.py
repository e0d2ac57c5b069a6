"""Decides whether the hits answer the question, only come close to it, or are about something else.

A search by meaning always finds something. And a model that would rather not search is right only if the documents
contain nothing on the question.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.understanding.choices import choices_of
from conversations.pipeline.understanding.plans import asks_for_facts
from conversations.pipeline.understanding.scope import as_searched, cited_by
from conversations.pipeline.writing.quoting.editions import bare_name, concerns_versions
from conversations.prompts.endpoints import endpoint_for
from knowledge.models import Document
from knowledge.queries import languages_of
from ragsite.db import in_database
from ragsite.language.analysis import CHINESE_STOP_WORDS, STOP_WORDS, terms
from ragsite.language.content_words import words
from ragsite.language.context_dependence import dependence_on_context
from ragsite.language.detection import language_of
from ragsite.language.questions import question_words
from retrieval.answerability.gate import STATES, Judgement, judge, similarity
from retrieval.engine.fulltext import Frequencies
from retrieval.search import Hit, select_hits

# The similarity from which a passage overrules a model that would rather not search. Chosen by hand.
NEAR = 2.0


class RelevanceGate(Node):
    """Judges whether the hits answer the question; removes them only if they are about something else.

    If they are, or if none answers or is `NEAR`, the turn follows a model that planned not to search, unless the
    question asks for facts: a chat would answer it from general knowledge without saying so.
    """

    key = "relevance_gate"
    title = gettext_lazy("Check whether the documents cover it")
    timeout = 5.0
    on_error = "skip"
    reads = ("plan.action", "found.rankings", "found.hits")
    may_read = (
        "plan.deferred_action", "plan.ranking_query", "plan.rewrite", "plan.translations", "found.search_request",
        "found.frequencies", "found.knowledge_base_ids", "found.document_ids", "found.labels", "found.named",
        "found.spelling", "started",
    )  # fmt: skip
    writes = (
        "plan.action", "found.hits", "found.answer_state", "found.unsearched", "found.choices",
        "found.document_ids",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """Return whether the documents were searched."""
        return state.plan.action == "retrieve_vector"

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `answer_state` and `unsearched`; empty `hits` about something else, or follow the model's plan.

        If several documents answer of which the question means one, fill `choices`, from which the user chooses.
        """
        found, deferred, question = state.found, state.plan.deferred_action, state.request.asked
        if found.named.one_is_meant and await _asks_which(state):
            ctx.note(action=state.plan.action, choices=[choice["document_id"] for choice in found.choices])
            return
        await _keep_to_version(state)
        judgement = _judged(state, found.hits)
        found.answer_state = judgement.state
        ctx.note(**judgement.to_dict(), deferred_action=deferred)
        proven = judgement.state == "answered" or (judgement.evidence.similarity or 0.0) >= NEAR
        mine = state.request.question_language
        # A search by words finds only its own language, and one by meaning only those that the embedding model knows.
        unknown = frozenset[str]().union(*(ranking.unknown for ranking in found.rankings))
        if found.answer_state == "nothing" and asks_for_facts(question):
            # If most passages are in another language, a model may find an answer in them that words don't show.
            languages = [language_of(hit.content) for hit in found.hits]
            foreign = sum(language not in ("", mine) and bool({language, mine} & unknown) for language in languages)
            if foreign > len(found.hits) / 2 and await endpoint_for("answer") is not None:
                found.answer_state, proven = "nearest", True
        if found.answer_state != "answered" and unknown and _is_in_words(question, found.frequencies):
            ids = found.knowledge_base_ids
            held = await in_database(languages_of, ids, found.document_ids, found.labels) if ids else {}
            unsearched = {
                language: count
                for language, count in held.items()
                if language not in {mine, *state.plan.translations} and {language, mine} & unknown
            }
            # They are the reason only if they are most of the passages.
            found.unsearched = unsearched if sum(unsearched.values()) > held.get(mine, 0) else {}
        if found.answer_state == "nothing" or (deferred and not proven):
            for_facts = asks_for_facts(question) and not dependence_on_context(question)
            if deferred and not (deferred == "answer_chat" and for_facts):
                state.plan.action, found.answer_state, found.hits = deferred, "", []
            elif found.answer_state == "nothing":
                found.hits = []
        ctx.note(action=state.plan.action, unsearched=found.unsearched)

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe whether the documents cover the question, with the measures."""
        states = {
            "answered": _("an answer"),
            "nearest": _("only the closest passages, which may not answer it"),
            "nothing": _("nothing: the documents don't cover it"),
        }
        if detail.get("choices"):
            return Description([(_("Found"), _("an answer in several documents, of which one is meant"))])
        if detail.get("state") not in states:
            return Description()
        facts = [
            (_("Found"), states[detail["state"]]),
            (_("Question's words found"), f"{100 * detail['covered']:.0f}%"),
        ]
        if detail.get("similarity") is not None:
            facts.append((_("Highest similarity"), f"{detail['similarity']:.2f}"))
        if detail.get("answers") is not None:
            facts.append((_("Reader's answer score"), f"{detail['answers']:+.1f}"))
        return Description(facts)


def _is_in_words(question: str, frequencies: Frequencies) -> bool:
    """Return whether a question has a word of a passage or a function word, which nonsense hasn't."""
    function_words = STOP_WORDS | CHINESE_STOP_WORDS | question_words()
    return any(frequencies.holding.values()) or any(
        not function_words.isdisjoint((word.casefold(), *terms(word))) for word in words(question)
    )


async def _asks_which(state: State) -> bool:
    """Return whether the user is asked which document is meant: several of those that fit the question answer it.

    The document that the last answer cites is meant again: then the other hits are removed.
    """
    found = state.found
    hits: dict[int, list[Hit]] = {}
    for hit in found.hits:
        hits.setdefault(hit.document_id, []).append(hit)
    if sum(_judged(state, own).state == "answered" for own in hits.values()) < 2:
        return False
    last = await in_database(cited_by, state.parent_turn_id, found.named.document_ids)
    if last in hits:
        found.document_ids, found.hits = (last,), hits[last]
        return False
    documents = await in_database(lambda: list(Document.objects.filter(pk__in=found.named.document_ids)))
    state.plan.action, found.choices = "clarify", choices_of(documents)
    found.hits, found.answer_state = [], ""
    return True


async def _keep_to_version(state: State) -> None:
    """Remove the hits of other versions of the document that the last answer cites, if it answers a follow-up too.

    "And the profit?", after the revenue of 2022, is not about 2023.
    """
    found, question = state.found, state.request.asked
    documents = {hit.document_id for hit in found.hits}
    follows = bool(dependence_on_context(question)) and not concerns_versions(question)
    if len(documents) < 2 or found.named.document_ids or not follows:
        return
    last = await in_database(cited_by, state.parent_turn_id, documents)
    own = [hit for hit in found.hits if hit.document_id == last]
    if not own or _judged(state, own).state != "answered":
        return
    names = _names(own[0])
    found.hits = [hit for hit in found.hits if hit.document_id == last or names.isdisjoint(_names(hit))]


def _names(hit: Hit) -> set[str]:
    stem = hit.filename.rpartition(".")[0] or hit.filename
    return {name for name in map(bare_name, (hit.title, stem)) if name}


def _judged(state: State, hits: list[Hit]) -> Judgement:
    """Return the best judgement of hits, all or those of one document, among the wordings that were searched.

    A follow-up question is judged by its expanded wording, any other by its own or its rewritten one, and each also by
    its translations. If the model planned not to search (`deferred_action`), only the question itself counts.
    """
    plan, found, question = state.plan, state.found, state.request.asked
    if plan.deferred_action:
        wordings = [as_searched(question, found)]
    else:
        stands_alone = plan.ranking_query if dependence_on_context(question) else plan.rewrite
        wordings = [as_searched(stands_alone or question, found), *plan.translations.values()]
    rankings = found.rankings
    if len(hits) < len(found.hits):
        own = {chunk_id for hit in hits for chunk_id in (hit.chunk_id, *hit.merged)}
        rankings = [replace(each, hits=[scored for scored in each.hits if scored[0] in own]) for each in rankings]
    if found.search_request is not None:
        hits, _stages = select_hits(found.search_request, hits)
    judgements = []
    for text in wordings:
        rewritten = plan.rewrite and text == as_searched(plan.rewrite, found)
        nearest = similarity(rankings, {text, as_searched(question, found)} if rewritten else {text})
        judgements.append(judge(text, hits, found.frequencies, nearest))
    return min(judgements, key=lambda judgement: STATES.index(judgement.state))
