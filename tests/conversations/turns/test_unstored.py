"""Tests of answering without a session: the caller passes the history, and nothing is stored."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.assistants.choice import Choices, save_version
from conversations.assistants.configuration import Configuration
from conversations.events import DoneEvent, Event, fold, plain_text
from conversations.models import Assistant, ChatSession, Message, Turn
from conversations.turn_store import TurnRefused
from conversations.turns import unstored
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import ProviderError
from ragsite.llm.types import TextPiece
from tests import factories
from tests.conversations.conftest import index_document
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"


async def test_answer_streams_as_in_a_chat_without_being_stored(owner: User, handbook: KnowledgeBase) -> None:
    events: list[Event] = []

    async def keep(event: Event) -> None:
        events.append(event)

    state = await unstored.answer(owner, RESET, emit=keep)
    assert "Hold the reset button for ten seconds" in plain_text(state.answer.blocks)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1], DoneEvent) and events[-1].status == "completed"
    assert fold(events).blocks == state.answer.blocks and not state.answer.open
    assert state.answer.citations[0]["filename"] == "handbook.txt"
    for model in (ChatSession, Turn, Message):
        assert not await model.objects.aexists()


async def test_question_depends_on_the_given_history(owner: User, handbook: KnowledgeBase) -> None:
    history = [("How long is the warranty of the rack mounting kit?", "Three years. [1]"), ("Hello?", "")]
    state = await unstored.answer(owner, "And how many ports has the TL-SE2109?", history=history)
    assert "nine ports" in plain_text(state.answer.blocks)
    state = await unstored.answer(owner, "How long is it?", history=history)
    assert "three years" in plain_text(state.answer.blocks)
    assert [turn.question for turn in state.past.turns] == [history[0][0]]
    assert [turn.question for turn in state.past.unanswered] == ["Hello?"]


async def test_number_of_past_turns_is_limited(owner: User, handbook: KnowledgeBase, settings: Any) -> None:
    settings.MAX_RECENT_TURNS = 2
    history = [(f"Question {number}?", "Yes." if number != 3 else "") for number in range(1, 6)]
    state = await unstored.answer(owner, RESET, history=history)
    assert [turn.question for turn in state.past.conversation] == ["Question 4?", "Question 5?"]


async def test_only_requested_and_readable_documents_are_searched(
    owner: User, stranger: User, handbook: KnowledgeBase
) -> None:
    other = await in_database(_other_base, owner)
    state = await unstored.answer(owner, RESET, knowledge_base_ids=[other.pk])
    assert {hit.knowledge_base_id for hit in state.found.hits} <= {other.pk}
    document = await other.documents.aget()
    state = await unstored.answer(owner, "Which colour has the garden fence?", document_ids=[document.pk])
    assert state.found.document_ids == (document.pk,) and "green" in plain_text(state.answer.blocks)
    for scope in ({}, {"knowledge_base_ids": [handbook.pk]}, {"document_ids": [document.pk]}):
        state = await unstored.answer(stranger, RESET, **scope)
        assert state.found.knowledge_base_ids == () and not state.found.hits


async def test_bases_of_the_assistant_limit_the_request(owner: User, handbook: KnowledgeBase) -> None:
    other = await in_database(_other_base, owner)
    garden = await Assistant.objects.acreate(name="Garden")
    await in_database(save_version, garden, Configuration(knowledge_bases=(other.pk,)), None)
    choices = Choices(assistant_id=garden.pk)
    state = await unstored.answer(owner, RESET, knowledge_base_ids=[handbook.pk], choices=choices)
    assert state.found.knowledge_base_ids == ()
    assert state.request.assistant == "Garden · 1"


async def test_failure_of_a_model_has_a_readable_error(owner: User, handbook: KnowledgeBase, fake_llm: FakeLLM) -> None:
    fake_llm.enqueue([TextPiece("Hold the"), ProviderError()])
    state = await unstored.answer(owner, RESET)
    assert state.answer.status == "failed" and not state.answer.open
    assert state.answer.error is not None and state.answer.error["message"]
    assert plain_text(state.answer.blocks).startswith("Hold the")


async def test_invalid_question_is_refused(owner: User) -> None:
    with pytest.raises(TurnRefused, match="Enter a question"):
        await unstored.answer(owner, " ")
    with pytest.raises(TurnRefused, match="no longer available to you"):
        await unstored.answer(owner, RESET, choices=Choices(assistant_id=4711))


def _other_base(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Garden")
    index_document(base, ("The garden fence is green.",), "garden.txt")
    return base


async def test_site_texts_are_in_the_requested_language(owner: User, handbook: KnowledgeBase, settings: Any) -> None:
    settings.ANSWER_LANGUAGE = "zh"
    state = await unstored.answer(owner, RESET)
    assert state.answer.blocks[-1]["text"] == "*摘自您的文档——未配置语言模型。*"
