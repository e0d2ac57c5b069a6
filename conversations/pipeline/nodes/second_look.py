"""Where a model would rather not search: what the search found decides whether it is right."""

import asyncio
from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.meaning import similarity_to
from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.nodes.understand import store_plan
from conversations.pipeline.plans import asks_for_facts, leans_on
from conversations.pipeline.state import State
from ragsite.db import in_database
from retrieval.analysis import terms
from retrieval.reorder import asked_terms, rarity, share
from retrieval.search import Hit

# The share of a question's words, each weighed by its rarity among the hits, that one of them must hold.
COVERED = 0.5
# The cosine similarity above which a passage speaks of a question that it shares no words with.
NEAR = 0.5


class SecondLook(Node):
    """Keeps the hits where they speak of the question, and else does what the model would have done.

    A question for facts that nothing speaks of counts as one without hits: a chat would answer it from general
    knowledge and not say so.
    """

    key = "second_look"
    title = gettext_lazy("See whether the documents speak of it")
    timeout = 5.0
    on_error = "skip"
    reads = ("question", "action", "instead", "hits", "started")
    may_read = ("history",)
    writes = ("action", "hits")

    def wanted(self, state: State) -> bool:
        """A model must have had other plans."""
        return bool(state.instead) and state.action == "retrieve_vector"

    async def run(self, state: State, emit: Emit) -> State:
        """Change `action` or empty `hits` where the documents don't speak of the question."""
        covered = coverage(state.question, state.hits)
        spoken_of = covered >= COVERED or await _near(state.question, state.hits)
        if not spoken_of:
            state.hits = []
            for_facts = asks_for_facts(state.question) and not leans_on(state.question)
            if state.instead == "clarify" or not for_facts:
                state.action = state.instead
                if state.started is not None:
                    await in_database(store_plan, state.started.turn_id, state)
        state.note(
            self.key, coverage=round(covered, 3), spoken_of=spoken_of, instead=state.instead, action=state.action
        )
        return state

    def message(self, state: State) -> str:
        """Say what came of it."""
        return _("they do") if state.hits else _("they don't")


def coverage(question: str, hits: Sequence[Hit]) -> float:
    """Return the largest share of a question's weight that one hit holds, from 0 to 1."""
    wanted = asked_terms(question)
    passages = [set(terms(f"{hit.filename} {hit.heading} {hit.content}")) for hit in hits]
    weights = rarity(wanted, passages)
    return max((share(found, weights) for found in passages), default=0.0)


async def _near(question: str, hits: Sequence[Hit]) -> bool:
    similarity = await similarity_to(question) if hits else None
    if similarity is None:
        return False
    return max(await asyncio.to_thread(similarity, [hit.content[:1000] for hit in hits[:3]])) >= NEAR
