"""A question that asks for several things, taken apart so that each is searched by itself."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.conditions import searches
from conversations.pipeline.description import Description, reason
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.understanding import splitting
from conversations.prompts import side_calls
from conversations.prompts.no_reply import NoReply
from ragsite.llm.stream.json_reply import objects, words
from ragsite.site_settings.config import config

KINDS: dict[str, Any] = {
    "questions": gettext_lazy("several questions"),
    "comparison": gettext_lazy("a comparison, or several things named together"),
    "aspects": gettext_lazy("several sides of one thing"),
    "chain": gettext_lazy("a question within the question"),
}


class Split(Node):
    """Has a model split the question into at most four parts, and splits it by rules where there is none or it fails.

    The question shown is never changed, and is searched as a whole too.
    """

    key = "split"
    step = 2
    title = gettext_lazy("Take the question apart")
    progress = gettext_lazy("Taking the question apart")
    timeout = None  # `UNDERSTAND_TIMEOUT` bounds the model, and leaves the rules
    on_error = "skip"
    reads = ("plan.action",)
    may_read = ("plan.whole", "plan.rewrite", "plan.ranking_query", "past.turns", "past.unanswered", "past.summary")
    writes = ("plan.parts", "plan.dependent_parts")

    def wanted(self, state: State) -> bool:
        """There must be something to search for."""
        return searches(state)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `parts`, with nothing where the question is one."""
        question = state.plan.rewrite or state.request.question
        parts, by = await self._by_model(state, question, ctx), "model"
        if parts is None:
            found, by = splitting.split(question), "rules"
            # What a follow-up takes from the conversation each of its parts needs.
            asked = state.plan.ranking_query
            carried = asked.replace(question, "").strip() if question in asked and not state.plan.rewrite else ""
            parts = tuple(" ".join(filter(None, (carried, part))) for part in found.parts)
            state.plan.dependent_parts = found.dependent
            ctx.note(kind=found.kind)
        state.plan.parts = parts if len(parts) > 1 else ()
        ctx.note(parts=list(state.plan.parts), by=by)

    async def _by_model(self, state: State, question: str, ctx: Context) -> tuple[str, ...] | None:
        """Return what a model makes of the question; None where it gives nothing that can be used."""
        language, past = state.request.question_language, state.past.conversation
        history = side_calls.transcript(past, language, state.past.summary)
        try:
            async with side_calls.model_for("split", language, config.UNDERSTAND_TIMEOUT) as model:
                ctx.note(model=model.model)
                turns = side_calls.spoken(past, language)
                answered = await model.ask(turns, question=side_calls.quoted(question), history=history)
        except NoReply as none:
            if none.reason != "no model":
                ctx.note(fallback=none.reason, fallback_detail=none.detail)
            return None
        ctx.note(reply=answered.text[:2000])
        for item in objects(answered.text, "parts"):
            return splitting.usable_parts(words(item["parts"]) if isinstance(item["parts"], list) else (), question)
        ctx.note(fallback="no plan")
        return None

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Name the parts."""
        return " · ".join(state.plan.parts)

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Name the parts, and say who took the question apart, or that it is one."""
        told = Description([(_("Part"), part) for part in detail.get("parts", [])])
        if "parts" in detail and not detail["parts"]:
            told.facts.append((_("Parts"), _("none: it asks for one thing")))
        kind = detail.get("kind", "")
        told.add(_("Why"), KINDS.get(kind, kind))
        if detail.get("by") == "model":
            told.facts.append((_("Decided by"), str(detail.get("model", ""))))
        elif detail.get("fallback"):
            told.add(_("Decided by"), _("rules"))
            told.add(_("Not by a model"), reason(detail["fallback"], detail.get("fallback_detail", "")))
        return told
