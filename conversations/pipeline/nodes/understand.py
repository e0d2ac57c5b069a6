"""Step 2: what to do with the question, and what to search for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import asking
from conversations.pipeline import rules
from conversations.pipeline.bases import known_words
from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.plans import INTENTS, Plan, adds_words, leans_on, read_plan, reconcile
from conversations.pipeline.rewriting import Unusable
from conversations.pipeline.state import State
from retrieval.search import Query

# CHAT's usual number of passages; a plan gets more than the site is set to where it asks for more than this.
USUAL_K = 6
# The weight of a model's key terms beside the question, where they hold words that it lacks.
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
        "action", "intent", "confidence", "followup", "instead", "k", "rewrite", "rewrite_reason", "queries",
        "retrieval_query", "focus",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """What is replied already has nothing to decide."""
        return not state.reply

    async def run(self, state: State, emit: Emit) -> State:
        """Fill what is to be done, the queries and what passages are judged by."""
        ruled = rules.understand(state.question, state.conversation, await known_words(state))
        asked = await self._ask(state, ruled)
        leans = leans_on(state.question)
        if asked.plan is not None:
            plan = reconcile(asked.plan, ruled.action, leans=leans, alone=not state.conversation)
            asked = replace(asked, plan=plan)
            _follow(state, plan, ruled, leans)
        else:
            state.action, state.intent = ruled.action, INTENTS[ruled.action]
            search_for(state, ruled.queries, ruled.focus)
        self._note(state, ruled, asked)
        return state

    async def _ask(self, state: State, ruled: rules.Understanding) -> _Asked:
        """Ask the model, unless the rules are certain: a greeting, or nothing to search for."""
        if not settings.ENABLE_UNDERSTANDING or ruled.action != "retrieve_vector":
            return _Asked()
        history = asking.transcript(state.conversation, state.question_language, state.summary)
        try:
            answered = await asking.ask(
                "understand",
                state.question_language,
                settings.UNDERSTAND_TIMEOUT,
                question=asking.quoted(state.question),
                history=history,
                turns=asking.spoken(state.conversation, state.question_language),
            )
        except asking.NoReply as none:
            return _Asked(fallback=none.reason, detail=none.detail)
        try:
            plan = read_plan(answered.text, state.question, history)
        except Unusable as unusable:
            return _Asked(None, unusable.reason, "", answered.model, answered.text)
        return _Asked(plan, "", "", answered.model, answered.text)

    def _note(self, state: State, ruled: rules.Understanding, asked: _Asked) -> None:
        note_queries(self.key, state)
        if ruled.carried and state.focus == ruled.focus:
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
                k=asked.plan.k,
                instead=state.instead,
                notes=list(asked.plan.notes),
            )

    def message(self, state: State) -> str:
        """Name the action."""
        return {
            "retrieve_vector": _("Search your documents"),
            "answer_chat": _("Reply"),
            "clarify": _("Ask back"),
        }.get(state.action, state.action)


def search_for(state: State, queries: Sequence[tuple[str, float]], focus: str) -> None:
    """Fill the queries, and what passages are judged by: the one that says most."""
    state.queries, state.focus = [Query(text, weight) for text, weight in queries], focus
    state.retrieval_query = focus


def search_for_rewrite(state: State) -> None:
    """Fill the queries and what passages are judged by from the rewritten question."""
    search_for(state, rules.queries_with_rewrite(state.question, state.rewrite), state.rewrite)


def note_queries(key: str, state: State) -> None:
    """Remember for the trace what is searched for."""
    state.note(key, queries=[{"text": query.text, "weight": query.weight} for query in state.queries])


def _follow(state: State, plan: Plan, ruled: rules.Understanding, leans: bool) -> None:
    state.action, state.intent, state.instead = plan.action, plan.intent, plan.instead
    state.confidence, state.followup = plan.confidence, bool(plan.followup)
    if plan.k is not None and plan.k > USUAL_K:
        state.k = min(plan.k, max(settings.FUSED_K, settings.DEFAULT_TOP_K))
    if plan.action != "retrieve_vector":
        return
    if plan.rewrite and state.conversation and (plan.followup or leans):
        state.rewrite, state.rewrite_reason = plan.rewrite, "understanding"
        search_for_rewrite(state)
    elif plan.followup is False and not leans and not plan.is_unsure:
        # What stands alone is asked as it stands; the conversation would only be mixed into it.
        search_for(state, [(state.question, 1.0)], state.question)
    else:
        search_for(state, ruled.queries, ruled.focus)
    terms = " ".join(plan.queries)
    if terms and adds_words(terms, [query.text for query in state.queries]):
        state.queries.append(Query(terms, TERMS_WEIGHT))
