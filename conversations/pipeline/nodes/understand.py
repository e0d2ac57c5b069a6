"""Decides what to do with the question, and what to search for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.description import REASONS, Description, reason
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.understanding import rules
from conversations.pipeline.understanding.plans import (
    ACTIONS,
    INTENTS,
    ModelPlan,
    may_ask_for_facts,
    read_plan,
    reconcile,
)
from conversations.pipeline.understanding.scope import known_words
from conversations.prompts import side_calls
from conversations.prompts.defaults import TRANSLATIONS
from conversations.prompts.no_reply import NoReply
from ragsite.language.analysis import terms
from ragsite.language.context_dependence import dependence_on_context
from ragsite.language.small_talk import asks_to_translate
from ragsite.site_settings.config import config
from retrieval.search import Query

# The number of passages that the prompt calls usual: a model that asks for this many gets the site's setting.
USUAL_K = 6
# The total weight of a model's key terms, relative to the question.
TERMS_WEIGHT = 0.3
# Reasons for the rules' decision, and notes on a model's plan, by slug.
WHY: dict[str, Any] = {
    "greeting": gettext_lazy("a greeting"),
    "no searchable word": gettext_lazy("it names nothing to search for"),
    "no object": gettext_lazy("it does not say what it is about"),
    "chat alone": gettext_lazy("the assistant only chats, without searching"),
    "about the documents": gettext_lazy("it asks about the documents as a whole"),
    "stands alone": gettext_lazy("it stands alone"),
    "pronoun": gettext_lazy("it refers to what came before"),
    "continuation": gettext_lazy("it continues what came before"),
    "fragment": gettext_lazy("it is too short to stand alone"),
    "low confidence": gettext_lazy("it was understood with low confidence"),
}
NOTES: dict[str, Any] = {
    "contradiction": gettext_lazy("its intent and its action contradict each other"),
    "unsure": gettext_lazy("the model is not confident enough to skip the search"),
    "several objects": gettext_lazy("the reply contains several plans; the first is used"),
}


class Understand(Node):
    """Has a model decide whether to search, chat or ask for clarification; if it can't, the rules decide.

    The question shown is never changed.
    """

    key = "understand"
    step = 2
    title = gettext_lazy("Understand the question")
    progress = gettext_lazy("Understanding the question")
    timeout = None  # `UNDERSTAND_TIMEOUT` limits the model; then the rules decide
    after = ("load_history", "memory", "system_context", "wait_for_files")
    reads = ("past.turns",)
    may_read = ("plan.reply", "plan.whole", "past.summary", "past.unanswered")
    writes = (
        "plan.action", "plan.intent", "plan.confidence", "plan.followup", "plan.deferred_action", "plan.k",
        "plan.rewrite", "plan.rewrite_reason", "plan.key_terms", "plan.translations", "plan.queries",
        "plan.retrieval_query", "plan.ranking_query",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """Return whether there is something to decide: neither a reply yet nor a request about whole documents."""
        return not (state.plan.reply or state.plan.whole)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill the action, the queries and the query that passages are judged by."""
        request, conversation = state.request, state.past.conversation
        if config.ANSWER_MODE == "chat":
            state.plan.action, state.plan.intent = "answer_chat", INTENTS["answer_chat"]
            ctx.note(action="answer_chat", reason="chat alone", by="rules")
            return
        known = await known_words(state)
        ruled = rules.understand(request.asked, conversation, known)
        depends = bool(dependence_on_context(request.asked))
        action, plan = ruled.action, None
        try:
            plan = await self._ask(state, ctx, ruled, known.languages - {request.question_language})
        except NoReply as none:
            if none.reason != "no model":
                ctx.note(fallback=none.reason, fallback_detail=none.detail)
            elif asks_to_translate(request.asked):
                action = "answer_chat"
        if plan is not None:
            asks = may_ask_for_facts(request.asked)
            plan = reconcile(plan, ruled.action, asks=asks, depends=depends, alone=not conversation)
            chats = "answer_chat" in (plan.action, plan.deferred_action)
            if config.ANSWER_MODE == "documents" and chats and ruled.action != "answer_chat":
                plan = replace(plan, action="retrieve_vector", deferred_action="")
            _follow(state, plan, ruled, depends)
        else:
            state.plan.action, state.plan.intent = action, INTENTS[action]
            if action == "retrieve_vector":
                search_for(state, ruled.queries, ruled.ranking_query)
        note_queries(state, ctx)
        if ruled.carried and state.plan.ranking_query == ruled.ranking_query:
            ctx.note(carried=list(ruled.carried))
        ctx.note(action=state.plan.action, reason=ruled.reason, by="model" if plan else "rules")
        if plan is not None:
            ctx.note(
                intent=state.plan.intent,
                confidence=state.plan.confidence,
                followup=state.plan.followup,
                key_terms=list(plan.queries),
                translations=dict(plan.translations),
                k=plan.k,
                deferred_action=state.plan.deferred_action,
                notes=list(plan.notes),
            )

    async def _ask(
        self, state: State, ctx: Context, ruled: rules.Understanding, foreign: frozenset[str]
    ) -> ModelPlan | None:
        """Return the model's plan, or None if the rules are certain, as for a greeting. Raises `NoReply`.

        The model is also asked to translate the question into the documents' other languages, `foreign`.
        """
        if not config.ENABLE_UNDERSTANDING or not ruled.queries:
            return None
        language, question = state.request.question_language, side_calls.quoted(state.request.question)
        conversation = state.past.conversation
        history = side_calls.transcript(conversation, language, state.past.summary)
        async with side_calls.model_for("understand", language, config.UNDERSTAND_TIMEOUT) as model:
            also = TRANSLATIONS[language] if foreign else ""
            turns = side_calls.spoken(conversation, language)
            answered = await model.ask(turns, also, question=question, history=history)
        ctx.note(model=answered.model, reply=answered.text[:2000])
        plan = read_plan(answered.text, state.request.question, history)
        return replace(plan, translations=tuple(each for each in plan.translations if each[0] in foreign))

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return the action in words."""
        return {
            "retrieve_vector": _("Search your documents"),
            "answer_chat": _("Reply"),
            "clarify": _("Ask for clarification"),
        }.get(state.plan.action, state.plan.action)

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe what was decided, by which model or the rules, and which words come from the conversation."""
        would_rather = {
            "answer_chat": _("the model would rather chat; the search results decide"),
            "clarify": _("the model would rather ask for clarification; the search results decide"),
        }
        action = detail.get("action", "")
        if not action:
            return Description()
        description, why = Description([(_("Plan"), str(ACTIONS.get(action, action)))]), detail.get("reason", "")
        description.add(_("Why"), WHY.get(why, why))
        description.add(_("Carried over"), " · ".join(detail.get("carried", ())))
        if detail.get("by") == "model":
            description.facts.append((_("Decided by"), str(detail.get("model", ""))))
            if detail.get("confidence") is not None:
                description.add(_("Confidence"), f"{100 * detail['confidence']:.0f}%")
            description.add(_("Key terms"), " · ".join(detail.get("key_terms", ())))
            for text in detail.get("translations", {}).values():
                description.add(_("In the documents' language"), text)
            description.add(_("Note"), would_rather.get(detail.get("deferred_action", "")))
            for slug in detail.get("notes", []):
                unusable = REASONS.get(slug.removeprefix("rewrite: "), "") if slug.startswith("rewrite: ") else ""
                description.add(_("Note"), unusable or NOTES.get(slug))
        elif detail.get("fallback"):
            description.add(_("Decided by"), _("rules"))
            description.add(_("No model used"), reason(detail["fallback"], detail.get("fallback_detail", "")))
        description.facts += query_facts(detail)
        return description


class UnderstandByRules(Understand):
    """Decides by rules alone."""

    async def _ask(self, state: State, ctx: Context, ruled: rules.Understanding, foreign: frozenset[str]) -> None:
        """Return None: no model is asked."""


def search_for(state: State, queries: Sequence[tuple[str, float]], ranking_query: str) -> None:
    """Fill the queries, and the query that passages are judged by: the most specific one.

    The weighted queries are followed by the question in the documents' languages, which counts as much as the question,
    and by the model's key terms, one query each: docs/decisions/fusion.md.
    """
    plan = state.plan
    plan.queries = [Query(text, weight) for text, weight in queries]
    plan.queries += [Query(text) for text in plan.translations.values()]
    asked = {frozenset(terms(query.text)) for query in plan.queries}
    by_words = {frozenset(terms(term)): term for term in plan.key_terms}
    each = [term for found, term in by_words.items() if found and found not in asked]
    plan.queries += [Query(term, round(TERMS_WEIGHT / len(each), 3)) for term in each]
    plan.retrieval_query = plan.ranking_query = ranking_query


def search_for_rewrite(state: State) -> None:
    """Fill the queries, and the query that passages are judged by, from the rewritten question."""
    search_for(state, rules.queries_with_rewrite(state.request.question, state.plan.rewrite), state.plan.rewrite)


def note_queries(state: State, ctx: Context) -> None:
    """Add the queries to the trace."""
    ctx.note(queries=[{"text": query.text, "weight": query.weight} for query in state.plan.queries])


def query_facts(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the queries as facts, with weights other than 1."""
    queries = [(query["text"], query.get("weight", 1)) for query in detail.get("queries", [])]
    return [(_("Query"), text if weight == 1 else f"{text} × {weight:g}") for text, weight in queries]


def _follow(state: State, model: ModelPlan, ruled: rules.Understanding, depends: bool) -> None:
    """Copy a model's plan to the state's."""
    plan, question = state.plan, state.request.asked
    plan.action, plan.intent, plan.deferred_action = model.action, model.intent, model.deferred_action
    plan.confidence, plan.followup = model.confidence, bool(model.followup)
    if model.k is not None and model.k < USUAL_K:
        plan.k = min(model.k, config.ANSWER_TOP_K)
    elif model.k is not None and model.k > USUAL_K:
        plan.k = max(min(model.k, config.FUSED_K), config.ANSWER_TOP_K)
    if model.action != "retrieve_vector":
        return
    plan.key_terms, plan.translations = model.queries, dict(model.translations)
    if model.rewrite and (model.followup or depends or not state.past.conversation):
        plan.rewrite, plan.rewrite_reason = model.rewrite, "understanding"
        search_for_rewrite(state)
    elif model.followup is False and not depends and not model.is_unsure:
        # A question that stands alone is searched as it is: words of the conversation would only interfere.
        search_for(state, [(question, 1.0)], question)
    else:
        search_for(state, ruled.queries, ruled.ranking_query)
