"""Step 2: what to do with the question, and what to search for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.understanding import rules
from conversations.pipeline.understanding.answer_types import as_called
from conversations.pipeline.understanding.plans import (
    INTENTS,
    Plan,
    leans_on,
    may_ask_for_facts,
    read_plan,
    reconcile,
)
from conversations.pipeline.understanding.rewriting import Unusable
from conversations.pipeline.understanding.scope import known_words
from conversations.prompts import side_calls
from conversations.prompts.defaults import TRANSLATIONS
from retrieval.engine.analysis import terms
from retrieval.search import Query

# CHAT's usual number of passages: what a model says that wants as many as the site is set to.
USUAL_K = 6
# The weight of a model's key terms, all together, beside the question.
TERMS_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class _Asked:
    """A model's plan, or why there is none (`fallback`, a stable slug); the rest is for the trace."""

    plan: Plan | None = None
    fallback: str = ""
    detail: str = ""
    model: str = ""
    reply: str = ""


class Understand(Node):
    """Has a model decide whether to search, to chat or to ask back, and decides by rules where it can't.

    The question shown is never changed.
    """

    key = "understand"
    step = 2
    title = gettext_lazy("Understand the question")
    timeout = None  # `UNDERSTAND_TIMEOUT` bounds the model, and leaves the rules
    after = ("load_history", "memory", "system_context")
    reads = ("user_id", "session_id", "question", "history")
    may_read = ("reply", "summary", "unanswered")
    writes = (
        "action", "intent", "confidence", "followup", "deferred_action", "k", "rewrite", "rewrite_reason", "key_terms",
        "translations", "queries", "retrieval_query", "ranking_query",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """What is replied already has nothing to decide."""
        return not state.reply

    async def run(self, state: State, ctx: Context) -> None:
        """Fill what is to be done, the queries and what passages are judged by."""
        known = await known_words(state)
        ruled = rules.understand(state.question, state.conversation, known)
        asked = await self._ask(state, ruled, known.languages - {state.question_language})
        leans = leans_on(state.question)
        if asked.plan is not None:
            asks = may_ask_for_facts(state.question)
            plan = reconcile(asked.plan, ruled.action, asks=asks, leans=leans, alone=not state.conversation)
            asked = replace(asked, plan=plan)
            _follow(state, plan, ruled, leans)
        else:
            state.action, state.intent = ruled.action, INTENTS[ruled.action]
            if ruled.action == "retrieve_vector":
                search_for(state, ruled.queries, ruled.ranking_query)
        self._note(state, ruled, asked)

    async def _ask(self, state: State, ruled: rules.Understanding, foreign: frozenset[str]) -> _Asked:
        """Ask the model, unless the rules are certain: a greeting, or nothing to search for.

        It is also asked for the question in the documents' other languages, `foreign`.
        """
        if not settings.ENABLE_UNDERSTANDING or not ruled.queries:
            return _Asked()
        language, question = state.question_language, side_calls.quoted(state.question)
        history = side_calls.transcript(state.conversation, language, state.summary)
        try:
            async with side_calls.asker("understand", language, settings.UNDERSTAND_TIMEOUT) as model:
                also = TRANSLATIONS[language] if foreign else ""
                turns = side_calls.spoken(state.conversation, language)
                answered = await model.ask(turns, also, question=question, history=history)
        except side_calls.NoReply as none:
            return _Asked(fallback=none.reason, detail=none.detail)
        try:
            plan = read_plan(answered.text, state.question, history)
        except Unusable as unusable:
            return _Asked(None, unusable.reason, "", answered.model, answered.text)
        wanted = tuple((code, text) for code, text in plan.translations if code in foreign)
        return _Asked(replace(plan, translations=wanted), "", "", answered.model, answered.text)

    def _note(self, state: State, ruled: rules.Understanding, asked: _Asked) -> None:
        note_queries(self.key, state)
        if ruled.carried and state.ranking_query == ruled.ranking_query:
            state.note(self.key, carried=list(ruled.carried))
        state.note(self.key, action=state.action, reason=ruled.reason, by="model" if asked.plan else "rules")
        if asked.fallback not in ("", "no model"):
            state.note(self.key, fallback=asked.fallback, fallback_detail=asked.detail)
        if asked.model:
            state.note(self.key, model=asked.model, reply=asked.reply[:2000])
        if asked.plan is not None:
            state.note(
                self.key,
                intent=state.intent,
                confidence=state.confidence,
                followup=state.followup,
                key_terms=list(asked.plan.queries),
                translations=dict(asked.plan.translations),
                k=asked.plan.k,
                deferred_action=state.deferred_action,
                notes=list(asked.plan.notes),
            )

    def message(self, state: State) -> str:
        """Name the action."""
        return {
            "retrieve_vector": _("Search your documents"),
            "answer_chat": _("Reply"),
            "clarify": _("Ask back"),
        }.get(state.action, state.action)


def search_for(state: State, queries: Sequence[tuple[str, float]], ranking_query: str) -> None:
    """Fill the queries, and what passages are judged by: the one that says most.

    Beside the queries, with their weights, stand the question in the documents' languages and in their words for what
    it asks for (a price), which count as much as the question, and the model's key terms, each by itself. With these,
    of questions and their words cut at the small ones, nDCG@10 of SciFact is .734 and was .735, that of MTRAG's
    government part .581 and was .578 (rewritten, the question beside it), .517 and .502 (later turns as they stand).
    """
    state.queries = [Query(text, weight) for text, weight in queries]
    state.queries += [Query(text) for text in state.translations.values()]
    if renamed := as_called(ranking_query):
        state.queries.append(Query(renamed))
    asked = {frozenset(terms(query.text)) for query in state.queries}
    by_words = {frozenset(terms(term)): term for term in state.key_terms}
    each = [term for found, term in by_words.items() if found and found not in asked]
    state.queries += [Query(term, round(TERMS_WEIGHT / len(each), 3)) for term in each]
    state.retrieval_query = state.ranking_query = ranking_query


def search_for_rewrite(state: State) -> None:
    """Fill the queries and what passages are judged by from the rewritten question."""
    search_for(state, rules.queries_with_rewrite(state.question, state.rewrite), state.rewrite)


def note_queries(key: str, state: State) -> None:
    """Remember for the trace what is searched for."""
    state.note(key, queries=[{"text": query.text, "weight": query.weight} for query in state.queries])


def _follow(state: State, plan: Plan, ruled: rules.Understanding, leans: bool) -> None:
    state.action, state.intent, state.deferred_action = plan.action, plan.intent, plan.deferred_action
    state.confidence, state.followup = plan.confidence, bool(plan.followup)
    if plan.k is not None and plan.k < USUAL_K:
        state.k = min(plan.k, settings.DEFAULT_TOP_K)
    elif plan.k is not None and plan.k > USUAL_K:
        state.k = max(min(plan.k, settings.FUSED_K), settings.DEFAULT_TOP_K)
    if plan.action != "retrieve_vector":
        return
    state.key_terms, state.translations = plan.queries, dict(plan.translations)
    if plan.rewrite and (plan.followup or leans or not state.conversation):
        state.rewrite, state.rewrite_reason = plan.rewrite, "understanding"
        search_for_rewrite(state)
    elif plan.followup is False and not leans and not plan.is_unsure:
        # What stands alone is asked as it stands; the conversation would only be mixed into it.
        search_for(state, [(state.question, 1.0)], state.question)
    else:
        search_for(state, ruled.queries, ruled.ranking_query)
