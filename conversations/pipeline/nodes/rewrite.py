"""Has a model rewrite a follow-up question to stand alone, for retrieval only."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.core.cache import cache
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.conditions import searches
from conversations.pipeline.description import Description, reason
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.nodes.understand import WHY, note_queries, query_facts, search_for_rewrite
from conversations.pipeline.state import State
from conversations.pipeline.understanding.plans import UNSURE
from conversations.pipeline.understanding.rewriting import usable_rewrite
from conversations.prompts import side_calls
from conversations.prompts.no_reply import NoReply
from ragsite.language.context_dependence import dependence_on_context
from ragsite.site_settings.config import config

# Seconds for which a rewritten question is cached; the cache limits how many there are.
CACHE_SECONDS = 3600


class Rewrite(Node):
    """Has a model rewrite the question; if that fails, the queries of the rules stay.

    The question shown and stored is never changed. A question that was rewritten when it was understood isn't rewritten
    again.
    """

    key = "rewrite"
    step = 2
    title = gettext_lazy("Rewrite the question for the search")
    progress = gettext_lazy("Rewriting the question")
    timeout = None  # `REWRITE_TIMEOUT` limits the model
    on_error = "skip"
    reads = ("past.turns", "plan.action", "plan.queries", "plan.retrieval_query", "plan.ranking_query")
    may_read = (
        "plan.rewrite", "plan.rewrite_reason", "plan.confidence", "plan.key_terms", "plan.translations", "plan.whole",
        "past.summary", "past.unanswered",
    )  # fmt: skip
    writes = ("plan.rewrite", "plan.rewrite_reason", "plan.queries", "plan.retrieval_query", "plan.ranking_query")

    def wanted(self, state: State) -> bool:
        """Return whether the question depends on the conversation or was understood with low confidence."""
        return (
            config.ENABLE_QUERY_REWRITE
            and searches(state)
            and bool(state.past.conversation)
            and not state.plan.rewrite
            and bool(_why(state))
        )

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `rewrite`, and the queries from it."""
        why = _why(state)
        ctx.note(reason=why)
        try:
            rewrite = await self._rewritten(state, ctx)
        except NoReply as none:
            ctx.note(kept=none.reason, kept_detail=none.detail)
            return
        if not rewrite:
            ctx.note(kept="unchanged")
            return
        state.plan.rewrite, state.plan.rewrite_reason = rewrite, why
        search_for_rewrite(state)
        ctx.note(rewrite=rewrite)
        note_queries(state, ctx)

    async def _rewritten(self, state: State, ctx: Context) -> str:
        """Return the rewritten question, or an empty string if it is unchanged. Raises `NoReply`."""
        language = state.request.question_language
        past, question = state.past.conversation, side_calls.quoted(state.request.question)
        history = side_calls.transcript(past, language, state.past.summary)
        async with side_calls.model_for("rewrite", language, config.REWRITE_TIMEOUT) as model:
            ctx.note(model=model.model)
            asked = json.dumps([history, question, model.model, model.prompt_version])
            key = "rewrite:" + hashlib.sha256(asked.encode()).hexdigest()
            kept = await cache.aget(key)
            if isinstance(kept, str):
                ctx.note(cached=True)
                return kept
            answered = await model.ask(side_calls.spoken(past, language), question=question, history=history)
        ctx.note(reply=answered.text[:500])
        rewrite = usable_rewrite(answered.text, state.request.question, history, cut=answered.cut)
        await cache.aset(key, rewrite, CACHE_SECONDS)
        return rewrite

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return the rewritten question."""
        return state.plan.rewrite

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe why the question was to be rewritten, and the result or why it was kept."""
        description, why = Description(), detail.get("reason", "")
        description.add(_("Why"), WHY.get(why, why))
        description.add(_("Rewritten"), detail.get("rewrite"))
        description.add(_("Not rewritten"), reason(detail.get("kept", ""), detail.get("kept_detail", "")))
        description.add(_("Note"), detail.get("cached") and _("reused from the same question earlier"))
        description.add(_("Model"), detail.get("model"))
        description.facts += query_facts(detail)
        return description


def _why(state: State) -> str:
    """Return why the question is to be rewritten, as a stable slug; empty if it stands alone."""
    dependence = dependence_on_context(state.request.question)
    unsure = state.plan.confidence is not None and state.plan.confidence <= UNSURE
    return dependence or ("low confidence" if unsure else "")
