"""The ways that a turn may take after it was understood: conditions for the edges of the graph."""

from conversations.pipeline.state import State


def searches(state: State) -> bool:
    """Whether the question is answered from what is found in documents, and so searched for."""
    return state.plan.action == "retrieve_vector" and not state.plan.whole


def needs_no_search(state: State) -> bool:
    """Whether the turn chats or asks back, or has read documents from beginning to end."""
    return not searches(state)
