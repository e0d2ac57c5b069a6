"""Fits the passages and the conversation into the model's context window."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.history import PastTurn, strip_markers
from conversations.pipeline.conditions import needs_no_search
from conversations.pipeline.description import Description
from conversations.pipeline.graph import PREVIOUS, Context, Node, NodeError, When
from conversations.pipeline.state import Request, State
from conversations.prompts import calibration, truncation
from conversations.prompts.budget import KINDS, Window
from conversations.prompts.compose import Material, PromptTooLong, compose, withheld
from conversations.prompts.endpoints import endpoint_for
from conversations.prompts.passages import citations
from conversations.prompts.templates import Prompt, get_prompt
from ragsite.db import in_database
from ragsite.llm.types import Endpoint
from ragsite.site_settings.config import config

PURPOSES = {"retrieve_vector": "answer", "answer_chat": "chat", "clarify": "clarify"}


class ComposePrompt(Node):
    """Chooses the evidence and composes the messages; without a model it only chooses the evidence."""

    key = "compose_prompt"
    step = 7
    title = gettext_lazy("Choose the evidence")
    progress = gettext_lazy("Reading the passages")
    after = (PREVIOUS, When("understand", needs_no_search, gettext_lazy("no search")), "relevant_history")
    reads = ("plan.action", "found.hits", "past.turns")
    may_read = (
        "past.summary", "past.memories", "past.relevant", "plan.k", "plan.reply", "found.key_passages", "found.reasons",
        "found.answer_state", "found.parts", "found.reading",
    )  # fmt: skip
    writes = (
        "prompt.evidence", "prompt.citations", "prompt.messages", "prompt.answer_tokens", "prompt.left_out",
        "prompt.cut_turns", "prompt.model", "prompt.system",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """Return whether an answer is still to be written: there is no reply yet, and no documents to quote."""
        reading = state.found.reading
        return not state.plan.reply and (reading is None or reading.result is None)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill the evidence, the messages and related fields; raises `NodeError` if the question is too long."""
        purpose = purpose_of(state)
        endpoint = await endpoint_for(purpose)
        if endpoint is None:
            state.prompt.evidence = state.found.hits
            return
        state.prompt.model = endpoint.model
        await in_database(_compose, state, ctx, purpose, endpoint)

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return how many passages the answer is written from, and what did not fit."""
        count = len(state.prompt.evidence)
        used = ngettext("%(count)d passage used", "%(count)d passages used", count) % {"count": count}
        return " · ".join(filter(None, (used, truncation.sentence(state.prompt.left_out))))

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe the window, how much of each kind was kept, and what was left out and why."""
        description = Description()
        if "limit" not in detail:
            return description
        sizes = {name: number_format(detail.get(name, 0), force_grouping=True)
                 for name in ("tokens", "limit", "window", "reserve")}  # fmt: skip
        description.facts = [(_("Used"), _("%(tokens)s of %(limit)s tokens") % sizes),
                      (_("Kept"), _kept(detail.get("kept", {})))]  # fmt: skip
        description.add(_("Tokens by kind"), _taken(detail.get("taken", {})))
        if detail.get("factor", 1) != 1:
            counted = _("× %(factor).2f, adjusted to this model") % {"factor": detail["factor"]}
            description.facts.append((_("Counted"), counted))
        if "window" in detail:
            window = _("%(window)s tokens, including %(reserve)s reserved for the answer and a 5%% safety margin")
            description.facts.append((_("Window"), window % sizes))
        description.add(_("Did not fit"), truncation.sentence(detail.get("left_out", {})))
        description.facts += map(_cut, detail.get("cuts", []))
        return description


def purpose_of(state: State) -> str:
    """Return the prompt's purpose; a search without hits ends in a general answer, which counts as chat."""
    if state.plan.action == "retrieve_vector" and not state.found.hits:
        return "chat"
    return PURPOSES.get(state.plan.action, "answer")


def system_prompt(prompt: Prompt, request: Request, question: str = "") -> str:
    """Return a system prompt with the instructions, as it is stored: without the text of the user's own ones."""
    filled = prompt.fill(question=question, evidence="")[0] if question else prompt.system
    instructions = request.instructions.as_prompt(request.question_language, withheld=True)
    return "\n\n".join(filter(None, (filled, instructions)))


def _compose(state: State, ctx: Context, purpose: str, endpoint: Endpoint) -> None:
    question, language = state.request.question, state.request.question_language
    reading = state.found.reading
    most = None if reading is not None else state.request.top_n or state.plan.k or config.ANSWER_TOP_K
    hits = state.found.hits[:most]
    given = reading.given if reading is not None else {}
    # A general answer is chat with a prompt of its own.
    general = state.plan.action == "retrieve_vector" and not hits
    recent = state.past.turns
    if (cut := state.request.continued) is not None:
        recent = [*recent, PastTurn(cut.turn_id, cut.question, strip_markers(cut.answer))]
    material = Material(
        prompt=get_prompt("general" if general else purpose, language),
        question=question,
        language=language,
        instructions=state.request.instructions,
        hits=[replace(hit, content=given[hit.chunk_id]) if hit.chunk_id in given else hit for hit in hits],
        summary=state.past.summary,
        facts=state.past.memories,
        relevant=state.past.relevant,
        recent=recent,
        continues=cut is not None,
        doubtful=bool(hits) and state.found.answer_state == "nearest",
        whole=reading.form if reading is not None else "",
        parts=[(part.question, part.answer_state != "nothing") for part in state.found.parts] if hits else (),
    )
    window = Window.of(endpoint.context_window, endpoint.max_tokens, calibration.factor_of(endpoint.model))
    try:
        composed = compose(material, window)
    except PromptTooLong as error:
        raise NodeError(error.message, error.code, retryable=False) from error
    whole = {hit.chunk_id: hit for hit in hits}
    state.prompt.evidence = [whole[hit.chunk_id] if hit.chunk_id in given else hit for hit in composed.evidence]
    state.prompt.citations = citations(state.prompt.evidence, question, state.found.key_passages, state.found.reasons)
    state.prompt.messages = composed.messages
    state.prompt.system = system_prompt(material.prompt, state.request, question)
    state.prompt.answer_tokens = window.reserve
    state.prompt.left_out = truncation.left_out(composed, window.size)
    fitted = composed.fitted
    state.prompt.cut_turns = [material.recent[cut.position].turn_id for cut in fitted.cuts if cut.kind == "recent"]
    ctx.note(
        window=window.size,
        reserve=window.reserve,
        limit=window.limit,
        tokens=composed.tokens,
        factor=round(window.factor, 3),
        kept={kind: len(getattr(fitted, kind)) for kind in KINDS},
        taken=fitted.taken,
        cuts=[asdict(cut) for cut in fitted.cuts],
        cut_turns=state.prompt.cut_turns,
        shortened=composed.shortened,
        left_out=state.prompt.left_out,
        prompt_version=material.prompt.version,
        messages=withheld(composed, material),
    )


def _kept(kept: Mapping[str, int]) -> str:
    passages, facts = kept.get("evidence", 0), kept.get("facts", 0)
    turns = kept.get("relevant", 0) + kept.get("recent", 0)
    parts = [
        ngettext("%(count)d passage", "%(count)d passages", passages) % {"count": passages},
        _("the summary") if kept.get("summary") else "",
        ngettext("%(count)d remembered fact", "%(count)d remembered facts", facts) % {"count": facts} if facts else "",
        ngettext("%(count)d earlier turn", "%(count)d earlier turns", turns) % {"count": turns},
    ]
    return _(", ").join(filter(None, parts))


def _taken(taken: Mapping[str, int]) -> str:
    names = {
        "fixed": _("instructions and question"),
        "evidence": _("passages"),
        "summary": _("summary"),
        "facts": _("remembered facts"),
        "relevant": _("similar turns"),
        "recent": _("recent turns"),
    }
    sizes = {kind: number_format(tokens, force_grouping=True) for kind, tokens in taken.items() if tokens}
    return " · ".join(f"{name} {sizes[kind]}" for kind, name in names.items() if kind in sizes)


def _cut(cut: Mapping[str, Any]) -> tuple[str, str]:
    names = {
        "evidence": _("passage %(number)d"),
        "summary": _("summary"),
        "facts": _("remembered fact %(number)d"),
        "relevant": _("similar turn %(number)d"),
        "recent": _("recent turn %(number)d"),
    }
    sizes = {name: number_format(cut[name], force_grouping=True) for name in ("tokens", "left")}
    what = names.get(cut["kind"], str(cut["kind"])) % {"number": cut["position"] + 1}
    return _("Left out"), _("%(what)s: %(tokens)s tokens, with %(left)s left") % {"what": what, **sizes}
