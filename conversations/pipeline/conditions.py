"""Conditions for the edges of the graph: which way a turn takes once the question is understood."""

from conversations.pipeline.state import State


def searches(state: State) -> bool:
    """Return whether the question is answered from passages, which have to be searched for."""
    return state.plan.action == "retrieve_vector" and not state.plan.whole


def needs_no_search(state: State) -> bool:
    """Return whether the turn chats, asks for clarification or has read whole documents."""
    return not searches(state)
