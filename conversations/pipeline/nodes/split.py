"""Splits a question that asks for several things, so that each is searched separately."""

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
    "aspects": gettext_lazy("several aspects of one thing"),
}


class Split(Node):
    """Has a model split the question into at most four parts; without one, or if it fails, splits it by rules.

    The question shown is never changed, and it is also searched as a whole.
    """

    key = "split"
    step = 2
    title = gettext_lazy("Split the question")
    progress = gettext_lazy("Splitting the question")
    timeout = None  # `UNDERSTAND_TIMEOUT` limits the model; then the rules split
    on_error = "skip"
    reads = ("plan.action",)
    may_read = ("plan.whole", "plan.rewrite", "plan.ranking_query", "past.turns", "past.unanswered", "past.summary")
    writes = ("plan.parts", "plan.dependent_parts")

    def wanted(self, state: State) -> bool:
        """Return whether the question is searched for."""
        return searches(state)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `parts`, or leave it empty if the question asks for one thing."""
        question = state.plan.rewrite or state.request.question
        parts, by = await self._by_model(state, question, ctx), "model"
        if parts is None:
            found, by = splitting.split(question), "rules"
            # Each part of a follow-up needs the words carried over from the conversation.
            asked = state.plan.ranking_query
            carried = asked.replace(question, "").strip() if question in asked and not state.plan.rewrite else ""
            parts = tuple(" ".join(filter(None, (carried, part))) for part in found.parts)
            state.plan.dependent_parts = found.dependent
            ctx.note(kind=found.kind)
        state.plan.parts = parts if len(parts) > 1 else ()
        ctx.note(parts=list(state.plan.parts), by=by)

    async def _by_model(self, state: State, question: str, ctx: Context) -> tuple[str, ...] | None:
        """Return the parts that a model splits the question into, or None if its reply is unusable."""
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
        """Return the parts."""
        return " · ".join(state.plan.parts)

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe the parts, why the question was split, and whether a model or the rules split it."""
        description = Description([(_("Part"), part) for part in detail.get("parts", [])])
        if "parts" in detail and not detail["parts"]:
            description.facts.append((_("Parts"), _("none: it asks for one thing")))
        kind = detail.get("kind", "")
        description.add(_("Why"), KINDS.get(kind, kind))
        if detail.get("by") == "model":
            description.facts.append((_("Decided by"), str(detail.get("model", ""))))
        elif detail.get("fallback"):
            description.add(_("Decided by"), _("rules"))
            description.add(_("No model used"), reason(detail["fallback"], detail.get("fallback_detail", "")))
        return description
