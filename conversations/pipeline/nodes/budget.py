"""Fitting what was found into what the model can read."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy, ngettext

from conversations.history import PastTurn, strip_markers
from conversations.pipeline.conditions import needs_no_search
from conversations.pipeline.graph import PREVIOUS, Context, Node, NodeError, When
from conversations.pipeline.state import State
from conversations.prompts import calibration, truncation
from conversations.prompts.budget import KINDS, Window
from conversations.prompts.compose import Composed, Material, PromptTooLong, compose, withheld
from conversations.prompts.endpoints import endpoint_for
from conversations.prompts.passages import citation
from conversations.prompts.templates import get_prompt
from ragsite.db import in_database
from ragsite.llm.types import Endpoint

PURPOSES = {"retrieve_vector": "answer", "answer_chat": "chat", "clarify": "clarify"}


class Budget(Node):
    """Chooses the evidence and composes the messages; without a model it only chooses."""

    key = "budget"
    step = 7
    title = gettext_lazy("Choose the evidence")
    after = (PREVIOUS, When("understand", needs_no_search, gettext_lazy("chat or ask back")), "relevant_history")
    reads = ("question", "action", "hits", "history")
    may_read = (
        "summary",
        "memories",
        "relevant",
        "k",
        "top_n",
        "reply",
        "continued",
        "key_passages",
        "reasons",
        "answer_state",
    )
    writes = ("evidence", "citations", "messages", "answer_tokens", "left_out", "model")

    def wanted(self, state: State) -> bool:
        """What is replied already needs no model."""
        return not state.reply

    async def run(self, state: State, ctx: Context) -> None:
        """Fill the evidence, the messages and what belongs to them; raises `NodeError` for too long a question."""
        purpose = purpose_of(state)
        endpoint = await endpoint_for(purpose)
        if endpoint is None:
            state.evidence = state.hits
            return
        state.model = endpoint.model
        await in_database(_compose, state, purpose, endpoint)

    def message(self, state: State) -> str:
        """Count the passages that the answer is written from, and say what did not fit."""
        count = len(state.evidence)
        given = ngettext("%(count)d passage given", "%(count)d passages given", count) % {"count": count}
        return " · ".join(filter(None, (given, truncation.sentence(state.left_out))))


def purpose_of(state: State) -> str:
    """Return the prompt's purpose: without hits, a search ends in a general answer, which is chat."""
    if state.action == "retrieve_vector" and not state.hits:
        return "chat"
    return PURPOSES.get(state.action, "answer")


def _compose(state: State, purpose: str, endpoint: Endpoint) -> None:
    hits = state.hits[: state.top_n or state.k or settings.DEFAULT_TOP_K]
    # A general answer is a chat with a prompt of its own.
    general = state.action == "retrieve_vector" and not hits
    recent = state.history
    if (cut := state.continued) is not None:
        recent = [*recent, PastTurn(cut.turn_id, cut.question, strip_markers(cut.answer))]
    material = Material(
        prompt=get_prompt("general" if general else purpose, state.question_language),
        question=state.question,
        language=state.question_language,
        hits=hits,
        summary=state.summary,
        facts=state.memories,
        relevant=state.relevant,
        recent=recent,
        continues=cut is not None,
        doubtful=bool(hits) and state.answer_state == "nearest",
    )
    window = Window.of(endpoint.context_window, endpoint.max_tokens, calibration.factor_of(endpoint.model))
    try:
        composed = compose(material, window)
    except PromptTooLong as error:
        raise NodeError(error.message, error.code, retryable=False) from error
    state.evidence = composed.evidence
    state.citations = [
        citation(
            number,
            hit,
            state.question,
            state.key_passages.get(hit.chunk_id, ""),
            state.reasons.get(hit.chunk_id, ""),
        )
        for number, hit in enumerate(state.evidence, 1)
    ]
    state.messages = composed.messages
    state.answer_tokens = window.reserve
    state.left_out = truncation.left_out(composed, window.size)
    _note(state, material, window, composed)


def _note(state: State, material: Material, window: Window, composed: Composed) -> None:
    fitted = composed.fitted
    cuts: list[dict[str, Any]] = [
        {"kind": cut.kind, "position": cut.position, "tokens": cut.tokens, "left": cut.left} for cut in fitted.cuts
    ]
    state.note(
        "budget",
        window=window.size,
        reserve=window.reserve,
        limit=window.limit,
        tokens=composed.tokens,
        factor=round(window.factor, 3),
        kept={kind: len(getattr(fitted, kind)) for kind in KINDS},
        cuts=cuts,
        cut_turns=[material.recent[cut.position].turn_id for cut in fitted.cuts if cut.kind == "recent"],
        shortened=composed.shortened,
        left_out=state.left_out,
        prompt_version=material.prompt.version,
        messages=withheld(composed, material),
    )
