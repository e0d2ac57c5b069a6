"""Answering without a session: nothing is stored, and the caller passes the history of the conversation."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from conversations.assistants import choice
from conversations.assistants.choice import Choices
from conversations.events import BlockEnd, DoneEvent, Event
from conversations.history import PastTurn
from conversations.instructions.texts import Instructions
from conversations.pipeline.graph import Emit
from conversations.pipeline.state import Request, State
from conversations.prompts import active
from conversations.turn_store import TurnRefused
from conversations.turns.lifecycle import pipeline, validated_question
from ragsite.db import in_database
from ragsite.limits import use


async def answer(
    user: Any,
    question: str,
    *,
    history: Sequence[tuple[str, str]] = (),
    knowledge_base_ids: Sequence[int] = (),
    document_ids: Sequence[int] = (),
    choices: Choices | None = None,
    language: str = "en",
    memory: bool = True,
    emit: Emit | None = None,
) -> State:
    """Answer a question as an assistant would in a chat, and return the state of the turn with the complete answer.

    `history` are earlier questions with their answers, oldest first; missing answers are empty. Without knowledge bases
    and documents, everything that the user may read is searched; anything else is never searched. Without `memory`,
    remembered facts are neither used nor stored. Events are passed to `emit` as they occur, numbered, ending with
    `done`. The failure of a node is in `state.answer.error`.

    Raises `TurnRefused` for an invalid question or unavailable choices.
    """
    began = time.perf_counter()
    request = Request(
        user_id=user.pk,
        session_id=None,
        question=validated_question(question),
        history=tuple(PastTurn(place, *turn) for place, turn in enumerate(history, 1)),
        asked_knowledge_base_ids=tuple(knowledge_base_ids),
        asked_document_ids=tuple(document_ids),
        language=language,
        memory=memory,
    )
    with active.pinned_setup():
        name, request = await in_database(_prepared, user, request, choices or Choices())
        state = State(request)

        async def send(event: Event) -> None:
            numbered = event.numbered(state.answer.last_seq + 1)
            state.answer.apply(numbered)
            if emit is not None:
                await emit(numbered)

        await pipeline(name).run(state, send)
        for block in sorted(state.answer.open):
            await send(BlockEnd(id=block))
        answer = state.answer
        done = DoneEvent(
            status="failed" if answer.error else "completed",
            answer_state=None if answer.error else state.found.answer_state or None,
            usage=answer.usage,
            ms=round((time.perf_counter() - began) * 1000),
            checks=answer.checks,
            finish_reason=answer.finish_reason or None,
        )
        await send(done)
        await in_database(use.add_tokens, user.pk, answer.usage)
        for work in state.later:
            await work()
    return state


def _prepared(user: Any, request: Request, choices: Choices) -> tuple[str, Request]:
    """Return the name of the pipeline and the request with its assistant's configuration, and pin the setup."""
    chosen = choice.for_turn(user, None, choices)
    try:
        with transaction.atomic():
            use.begin_question(user.pk)
    except use.LimitReached as reached:
        raise TurnRefused(reached.code, reached.message, reached.wait) from None
    return chosen.configuration.pipeline or "default", replace(
        request,
        knowledge_base_ids=chosen.configuration.knowledge_bases,
        thinking=choices.thinking,
        assistant_version_id=chosen.version.pk if chosen.version else None,
        assistant=str(chosen.version or ""),
        instructions=Instructions(chosen.configuration.instructions),
    )
