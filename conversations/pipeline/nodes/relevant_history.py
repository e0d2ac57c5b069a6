"""Earlier turns of the branch that are like the question."""

from django.conf import settings
from django.utils.translation import gettext_lazy

from conversations.memory.relevance import relevant_turns
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State


class RelevantHistory(Node):
    """Finds up to `MAX_RELEVANT_TURNS` turns before the recent ones by the rewritten question, beside the search."""

    key = "relevant_history"
    title = gettext_lazy("Recall earlier turns")
    timeout = 10.0
    after = ("rewrite",)
    on_error = "skip"
    reads = ("question", "branch", "history")
    may_read = ("reply", "retrieval_query", "continued")
    writes = ("relevant",)

    def wanted(self, state: State) -> bool:
        """The branch must reach further back than the recent turns."""
        return settings.MAX_RELEVANT_TURNS > 0 and len(state.branch) > len(state.history) and not state.reply

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `relevant`, oldest first."""
        recent = [*state.history, state.continued] if state.continued is not None else state.history
        query = state.retrieval_query or state.question
        found = await relevant_turns(query, state.branch, recent, settings.MAX_RELEVANT_TURNS)
        state.relevant = found.turns
        ctx.note(
            query=query,
            turns=[turn.turn_id for turn in found.turns],
            similarities=[found.similarities[turn.turn_id] for turn in found.turns],
            nearest=found.nearest,
            by=found.by,
        )
