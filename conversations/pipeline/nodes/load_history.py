"""The last turns of this branch, and the summary of those before."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.history import PastTurn, branch_of, from_last_complete, past_turns
from conversations.memory.summaries import summary_of
from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from ragsite.db import in_database
from ragsite.site_settings.config import config


class LoadHistory(Node):
    """Loads the last `MAX_RECENT_TURNS` complete turns, and the questions among them that were not answered."""

    key = "load_history"
    title = gettext_lazy("Recall the conversation")
    after = ("save_question",)  # which the reader sees first, and soonest with nothing beside it
    on_error = "skip"
    reads = ("started",)
    writes = ("past.branch", "past.turns", "past.unanswered", "past.summary")

    def wanted(self, state: State) -> bool:
        """A first question has no history."""
        return state.parent_turn_id is not None or bool(state.request.history)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `turns` and `unanswered`, oldest first; of a session also `branch` and `summary`."""
        if state.request.session_id is None:
            past = from_last_complete(state.request.history, config.MAX_RECENT_TURNS)
        else:
            past = await in_database(_load, state, state.request.session_id)
        state.past.turns = [turn for turn in past if turn.answer]
        state.past.unanswered = [turn for turn in past if not turn.answer]
        ctx.note(
            turns=[turn.turn_id for turn in state.past.turns],
            unanswered=[turn.turn_id for turn in state.past.unanswered],
            summary=bool(state.past.summary),
        )

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Say how much of the conversation was recalled."""
        told = Description()
        for label, name in ((_("Recalled"), "turns"), (_("Not answered"), "unanswered")):
            if "turns" in detail and (detail.get(name) or name == "turns"):
                count = len(detail[name])
                words = ngettext("%(count)d earlier turn", "%(count)d earlier turns", count) % {"count": count}
                told.facts.append((label, words))
        told.add(_("Before them"), detail.get("summary") and _("a summary"))
        return told


def _load(state: State, session_id: int) -> list[PastTurn]:
    """Fill `branch` and `summary`; return the last turns."""
    cut = state.request.continued
    branch = state.past.branch = branch_of(session_id, state.parent_turn_id)
    # What a cut answer's question depends on came before it.
    before = branch if cut is None else branch[: branch.index(cut.turn_id)]
    if len(branch) > 1:
        state.past.summary = summary_of(session_id, branch)
    return past_turns(session_id, before, config.MAX_RECENT_TURNS)
