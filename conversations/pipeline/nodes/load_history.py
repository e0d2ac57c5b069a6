"""Loads the last turns of the branch, and the summary of those before."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.history import PastTurn, branch_and_others, from_last_complete, past_turns
from conversations.memory.summaries import summary_of
from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from ragsite.db import in_database
from ragsite.site_settings.config import config


class LoadHistory(Node):
    """Loads the last `MAX_RECENT_TURNS` complete turns, and the unanswered questions among them."""

    key = "load_history"
    title = gettext_lazy("Recall the conversation")
    after = ("save_question",)  # the user sees that event first, and soonest if nothing runs at the same time
    on_error = "skip"
    reads = ("started",)
    writes = ("past.branch", "past.others", "past.turns", "past.unanswered", "past.summary")

    def wanted(self, state: State) -> bool:
        """Return whether there is a history; a first question has none."""
        return state.parent_turn_id is not None or bool(state.request.history)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `turns` and `unanswered`, oldest first; in a session also `branch`, `others` and `summary`."""
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
        """Describe how much of the conversation was recalled."""
        description = Description()
        for label, name in ((_("Recalled"), "turns"), (_("Unanswered"), "unanswered")):
            if "turns" in detail and (detail.get(name) or name == "turns"):
                count = len(detail[name])
                words = ngettext("%(count)d earlier turn", "%(count)d earlier turns", count) % {"count": count}
                description.facts.append((label, words))
        description.add(_("Before that"), detail.get("summary") and _("a summary"))
        return description


def _load(state: State, session_id: int) -> list[PastTurn]:
    """Fill `branch`, `others` and `summary`; return the last turns."""
    cut = state.request.continued
    assert state.parent_turn_id is not None and state.started is not None
    branch, state.past.others = branch_and_others(session_id, state.parent_turn_id, state.started.turn_id)
    state.past.branch = branch
    # The question of a cut answer depends on the turns before it.
    before = branch if cut is None else branch[: branch.index(cut.turn_id)]
    if len(branch) > 1:
        state.past.summary = summary_of(session_id, branch)
    return past_turns(session_id, before, config.MAX_RECENT_TURNS)
