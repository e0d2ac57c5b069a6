"""A question that leans on the conversation, rewritten by a model to stand alone: for retrieval only."""

import hashlib
import json

from django.conf import settings
from django.core.cache import cache
from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.nodes.understand import note_queries, search_for_rewrite
from conversations.pipeline.state import State
from conversations.pipeline.understanding.plans import UNSURE, why_it_leans
from conversations.pipeline.understanding.rewriting import Unusable, usable_rewrite
from conversations.prompts import side_calls

# Seconds for which a rewriting is kept; the cache bounds how many there are.
CACHE_SECONDS = 3600


class Rewrite(Node):
    """Has a model rewrite the question; where that fails, the queries of the rules stay.

    The question shown and stored is never changed. What the understanding call has rewritten isn't rewritten again.
    """

    key = "rewrite"
    step = 2
    title = gettext_lazy("Rewrite the question for the search")
    timeout = None  # `REWRITE_TIMEOUT` bounds the model
    on_error = "skip"
    reads = ("question", "history", "action", "queries", "retrieval_query", "ranking_query")
    may_read = ("rewrite", "rewrite_reason", "confidence", "summary", "unanswered", "key_terms", "translations")
    writes = ("rewrite", "rewrite_reason", "queries", "retrieval_query", "ranking_query")

    def wanted(self, state: State) -> bool:
        """There must be a conversation, and a question that leans on it or was understood with little certainty."""
        return (
            settings.ENABLE_QUERY_REWRITE
            and state.action == "retrieve_vector"
            and bool(state.conversation)
            and not state.rewrite
            and bool(_why(state))
        )

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `rewrite`, and the queries with it."""
        why = _why(state)
        ctx.note(reason=why)
        try:
            rewrite = await self._rewritten(state)
        except side_calls.NoReply as none:
            ctx.note(kept=none.reason, kept_detail=none.detail)
            return
        except Unusable as unusable:
            ctx.note(kept=unusable.reason)
            return
        if not rewrite:
            ctx.note(kept="unchanged")
            return
        state.rewrite, state.rewrite_reason = rewrite, why
        search_for_rewrite(state)
        ctx.note(rewrite=rewrite)
        note_queries(self.key, state)

    async def _rewritten(self, state: State) -> str:
        """Return the rewritten question, empty where it is the question itself. Raises `NoReply`, `Unusable`."""
        language = state.question_language
        past, question = state.conversation, side_calls.quoted(state.question)
        history = side_calls.transcript(past, language, state.summary)
        async with side_calls.asker("rewrite", language, settings.REWRITE_TIMEOUT) as model:
            state.note(self.key, model=model.model)
            key = _cache_key(history, question, model.model, model.prompt_version)
            kept = await cache.aget(key)
            if isinstance(kept, str):
                state.note(self.key, cached=True)
                return kept
            answered = await model.ask(side_calls.spoken(past, language), question=question, history=history)
        state.note(self.key, reply=answered.text[:500])
        rewrite = usable_rewrite(answered.text, state.question, history, cut=answered.cut)
        await cache.aset(key, rewrite, CACHE_SECONDS)
        return rewrite

    def message(self, state: State) -> str:
        """Show the rewritten question."""
        return state.rewrite


def _why(state: State) -> str:
    """Return why the question is to be rewritten, a stable slug; empty when it stands alone."""
    leaning = why_it_leans(state.question)
    unsure = state.confidence is not None and state.confidence <= UNSURE
    return leaning or ("low confidence" if unsure else "")


def _cache_key(*parts: object) -> str:
    return "rewrite:" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()
