"""The ways that a turn may take after it was understood: conditions for the edges of the graph."""

from conversations.pipeline.state import State


def searches(state: State) -> bool:
    """Whether the question is answered from documents, and so searched for."""
    return state.plan.action == "retrieve_vector"


def needs_no_search(state: State) -> bool:
    """Whether the turn chats or asks back."""
    return not searches(state)
