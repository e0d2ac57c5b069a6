"""Fitting what was found into what the model can read."""

from django.conf import settings
from django.utils.translation import gettext_lazy, ngettext

from conversations.budget import Fitted, fit
from conversations.evidence import citation, numbered_passage
from conversations.llm import endpoint_for
from conversations.pipeline.graph import PREVIOUS, Emit, Node, When
from conversations.pipeline.state import State
from conversations.pipeline.ways import needs_no_search
from conversations.prompts import Prompt, get_prompt
from ragsite.db import in_database
from ragsite.llm.tokens import count_tokens
from ragsite.llm.types import ChatMessage, Endpoint
from retrieval.search import Hit

PURPOSES = {"retrieve_vector": "answer", "answer_chat": "chat", "clarify": "clarify"}


class Budget(Node):
    """Chooses the evidence and composes the messages; without a model it only chooses."""

    key = "budget"
    step = 7
    title = gettext_lazy("Choose the evidence")
    after = (PREVIOUS, When("understand", needs_no_search, gettext_lazy("chat or ask back")))
    reads = ("question", "action", "hits", "history")
    writes = ("evidence", "citations", "messages", "prompt_tokens", "model")

    async def run(self, state: State, emit: Emit) -> State:
        """Fill `evidence`, `citations`, `messages`, `prompt_tokens` and `model`."""
        hits = state.hits[: settings.DEFAULT_TOP_K]
        purpose = purpose_of(state)
        endpoint = await endpoint_for(purpose)
        if endpoint is None:
            state.evidence = state.hits
            return state
        # A general answer is a chat with a prompt of its own.
        general = state.action == "retrieve_vector" and not hits
        prompt = await in_database(get_prompt, "general" if general else purpose, state.question_language)
        compose(state, hits, prompt, endpoint)
        state.model = endpoint.model
        return state

    def message(self, state: State) -> str:
        """Count the passages that the answer is written from."""
        count = len(state.evidence)
        return ngettext("%(count)d passage given", "%(count)d passages given", count) % {"count": count}


def purpose_of(state: State) -> str:
    """Return the prompt's purpose: without hits, a search ends in a general answer, which is chat."""
    if state.action == "retrieve_vector" and not state.hits:
        return "chat"
    return PURPOSES.get(state.action, "answer")


def compose(state: State, hits: list[Hit], prompt: Prompt, endpoint: Endpoint) -> None:
    """Fit evidence and history into the window and write the messages, in the order of the specification."""
    passages = [numbered_passage(number, hit) for number, hit in enumerate(hits, 1)]
    system, question = prompt.fill(question=state.question, evidence="")
    past = [f"{turn.question}\n{turn.answer}" for turn in state.history]
    fitted = fit(
        [system, question],
        {"evidence": passages, "recent": past},
        window=endpoint.context_window,
        reserve=min(endpoint.max_tokens, endpoint.context_window // 2),
        count_tokens=count_tokens,
    )
    state.evidence = [hits[position] for position in fitted.evidence]
    state.citations = [citation(number, hit, state.question) for number, hit in enumerate(state.evidence, 1)]
    evidence = "\n\n".join(numbered_passage(number, hit) for number, hit in enumerate(state.evidence, 1))
    system, user = prompt.fill(question=state.question, evidence=evidence)
    state.messages = [ChatMessage("system", system)]
    for position in fitted.recent:
        turn = state.history[position]
        state.messages += [ChatMessage("user", turn.question), ChatMessage("assistant", turn.answer)]
    state.messages.append(ChatMessage("user", user))
    state.prompt_tokens = fitted.tokens
    _note(state, fitted, prompt)


def _note(state: State, fitted: Fitted, prompt: Prompt) -> None:
    state.note(
        "budget",
        limit=fitted.limit,
        tokens=fitted.tokens,
        kept={"evidence": len(fitted.evidence), "recent": len(fitted.recent)},
        cuts=[
            {"kind": cut.kind, "position": cut.position, "tokens": cut.tokens, "left": cut.left} for cut in fitted.cuts
        ],
        prompt_version=prompt.version,
        messages=[message.to_dict() for message in state.messages],
    )
