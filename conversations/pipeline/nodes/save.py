"""Stores everything about the turn except its message."""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

from channels.layers import get_channel_layer
from django.db import transaction
from django.utils.translation import gettext_lazy

from conversations import services, turn_store
from conversations.events import plain_text
from conversations.groups import session_group
from conversations.history import with_continuation
from conversations.memory import summaries
from conversations.memory.relevance import store_vector
from conversations.models import ContextEntry, Turn
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.writing import extractive_answer
from conversations.prompts import calibration
from conversations.turn_store import Started
from ragsite.db import PATIENCE, in_database, retry_while_database_is_down
from ragsite.llm.passage_tokens import count_tokens


class Save(Node):
    """Saves context entry, citations, tokens and the session's last activity; defers vector and summary.

    It also runs after a failure or a stop, so that an incomplete answer keeps its sources.
    """

    key = "save"
    step = 9
    title = gettext_lazy("Save the answer")
    progress = gettext_lazy("Finishing")
    timeout = PATIENCE + 30.0  # keep trying for as long as the database may come back
    always = True
    on_error = "skip"
    reads = ("started", "plan.action", "answer.blocks", "prompt.citations", "prompt.cited", "prompt.model")
    may_read = (
        "plan.retrieval_query", "past.branch", "prompt.messages", "prompt.left_out", "prompt.cut_turns",
        "prompt.reported", "prompt.system",
    )  # fmt: skip
    writes = ("answer.usage",)

    async def run(self, state: State, ctx: Context) -> None:
        """Store the turn's data; the message itself is stored by the turn's runner."""
        started, prompt, usage = state.started, state.prompt, state.answer.usage
        by_kind = await asyncio.to_thread(_tokens_by_kind, state.answer.blocks)
        state.answer.usage = usage | prompt.left_out | ({"by_kind": by_kind} if by_kind else {})
        if prompt.reported:
            ctx.later.append(partial(in_database, calibration.learn, prompt.model, prompt.messages, prompt.reported))
        if started is None:  # without a session nothing is stored
            return
        text = plain_text(state.answer.blocks)
        cut = state.request.continued
        whole = with_continuation(cut.answer, text) if cut is not None else text  # including the part before the cut
        await retry_while_database_is_down(_save, state, started, whole, sum(by_kind.values()))
        if text:
            branch, language = [*state.past.branch, started.turn_id], state.request.question_language
            ctx.later.append(partial(store_vector, started.turn_id, state.request.question, whole))
            ctx.later.append(partial(_summarise, started.session_id, branch, prompt.cut_turns, language))


def _tokens_by_kind(blocks: list[dict[str, Any]]) -> dict[str, int]:
    """Return the estimated number of tokens of an answer's text by the kind of its blocks."""
    counts: Counter[str] = Counter()
    for block in blocks:
        counts[block["kind"]] += count_tokens(plain_text([block]))
    return dict(+counts)


async def _summarise(session_id: int, branch: list[int], cut_turns: list[int], language: str) -> None:
    """Update the branch's summary, and notify the pages that show the session."""
    if await summaries.keep_up(session_id, branch, cut_turns, language):
        await get_channel_layer().group_send(session_group(session_id), {"type": "session.summarised"})


@transaction.atomic
def _save(state: State, started: Started, whole: str, tokens: int) -> None:
    """Store the turn's data. `whole` is the answer with what it continues, `tokens` the count without that."""
    question, prompt, cut = state.request.question, state.prompt, state.request.continued
    turn_store.save_citations(started.assistant_message_id, started.request_id, prompt.citations, prompt.cited)
    if prompt.system and started.parent_turn_id is None:  # what was sent, which depends on the plan
        sent = {"content": prompt.system, "tokens": count_tokens(prompt.system)}
        ContextEntry.objects.filter(session_id=started.session_id, type=ContextEntry.Type.ROUTES).update(**sent)
    if tokens:
        entry = ContextEntry(
            session_id=started.session_id, turn_id=started.turn_id, type=ContextEntry.Type.CHAT, role="assistant",
            content=whole, tokens=count_tokens(whole) if cut is not None else tokens,
        )  # fmt: skip
        ContextEntry.objects.bulk_create([entry], ignore_conflicts=True)  # an interrupted save may have stored it
    Turn.objects.filter(pk=started.turn_id).update(
        action=state.plan.action,
        retrieval_query=state.plan.retrieval_query,
        model=prompt.model or extractive_answer.MODEL,
        token_count=count_tokens(question) + tokens,
    )
    found = tokens and state.plan.action == "retrieve_vector"
    services.note_answer(started.session_id, services.title_from_question(question) if found else "")
