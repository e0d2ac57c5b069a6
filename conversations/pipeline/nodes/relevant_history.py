"""Finds earlier turns of the session that are similar to the question."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.memory.relevance import relevant_turns
from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from ragsite.site_settings.config import config


class RelevantHistory(Node):
    """Finds up to `MAX_RELEVANT_TURNS` turns besides the recent ones by the rewritten question, during the search.

    Turns of other branches count as well, unless `RELEVANT_TURNS_FROM` is `branch`.
    """

    key = "relevant_history"
    title = gettext_lazy("Recall earlier turns")
    timeout = 10.0
    after = ("rewrite",)
    on_error = "skip"
    reads = ("past.branch", "past.others", "past.turns")
    may_read = ("plan.reply", "plan.retrieval_query")
    writes = ("past.relevant",)

    def wanted(self, state: State) -> bool:
        """Return whether there are turns besides the recent ones."""
        return config.MAX_RELEVANT_TURNS > 0 and len(_searched(state)) > len(state.past.turns) and not state.plan.reply

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `relevant`, oldest first."""
        cut = state.request.continued
        recent = state.past.turns if cut is None else [*state.past.turns, cut]
        query = state.plan.retrieval_query or state.request.question
        asked = {query, state.request.question}
        found = await relevant_turns(query, _searched(state), recent, config.MAX_RELEVANT_TURNS, asked)
        state.past.relevant = found.turns
        ctx.note(
            query=query,
            turns=[turn.turn_id for turn in found.turns],
            similarities=[found.similarities[turn.turn_id] for turn in found.turns],
            nearest=found.nearest,
            by=found.by,
        )

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe how many earlier turns are similar and how similar, or the similarity of the closest one."""
        if "turns" not in detail:
            return Description()
        count = len(detail["turns"])
        found = ngettext("%(count)d earlier turn", "%(count)d earlier turns", count) % {"count": count}
        by = {"vector": _("by meaning"), "words": _("by words")}.get(detail.get("by", ""), "")
        like = _(", ").join(f"{similarity:.2f}" for similarity in detail.get("similarities", []))
        facts = [(_("Similar to the question"), " · ".join(filter(None, (found, by, like))))]
        if not count and detail.get("nearest") is not None:
            facts.append((_("Closest"), _("%(similarity).2f, too low") % {"similarity": detail["nearest"]}))
        return Description(facts)


def _searched(state: State) -> list[int]:
    past = state.past
    return past.branch if config.RELEVANT_TURNS_FROM == "branch" else [*past.branch, *past.others]


class RelevantHistoryWithoutRewriting(RelevantHistory):
    """Finds them by the question as it was understood, in a pipeline without rewriting."""

    after = ("understand",)
