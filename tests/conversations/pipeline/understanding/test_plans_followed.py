"""A model's plan for a question is followed: whole turns."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.events import StepEvent
from conversations.models import ChatSession, Message, TraceStep, Turn
from knowledge.models import KnowledgeBase
from tests.conversations.conftest import run_turn
from tests.conversations.replies import chat, plan
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)

RAMBLING = "hi, um, I wanted to ask, our kit is broken, what does the guarantee say"
CLEAR = "What does the guarantee say about a broken kit?"


@pytest.fixture
def served(provider: FakeProvider, settings: Settings) -> FakeProvider:
    """A site that is set up with only the provider's address, and does not join passages."""
    settings.LLM_BASE_URL, settings.MERGE_NEIGHBOURS = provider.base_url, False
    return provider


async def trace() -> dict[str, TraceStep]:
    """Return the nodes of the last turn, by key."""
    turn = await Turn.objects.alatest("pk")
    return {step.key: step async for step in turn.trace.all()}


async def test_both_retrievers_search_each_key_term_and_the_rewrite_of_a_first_question(
    owner: User, handbook: KnowledgeBase, session: ChatSession, served: FakeProvider
) -> None:
    planned = plan(rewrite=CLEAR, queries=["warranty", "rack mounting kit"], followup=False)
    served.reply(json.dumps(planned), purpose="understand")
    await run_turn(owner, session, RAMBLING)
    ran = await trace()
    rankings: list[dict[str, Any]] = ran["search"].detail["rankings"]
    asked = [(ranking["query"], ranking["weight"]) for ranking in rankings if ranking["type"] == "bm25"]
    assert asked == [(CLEAR, 1.0), (RAMBLING, 0.5), ("warranty", 0.15), ("rack mounting kit", 0.15)]
    assert len(rankings) == 8 and (await Turn.objects.aget()).retrieval_query == CLEAR
    assert ran["rewrite"].status == "skipped"
    question = await Message.objects.aget(role="user")
    assert question.content == RAMBLING


@pytest.mark.parametrize(("k", "given"), [(2, 2), (6, 4)])
async def test_the_plan_sets_the_number_of_passages(
    owner: User, handbook: KnowledgeBase, session: ChatSession, served: FakeProvider, k: int, given: int
) -> None:
    planned = plan(rewrite="", queries=[], plan={"action": "retrieve_vector", "args": {"k": k}})
    served.reply(json.dumps(planned), purpose="understand")
    await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
    assert (await trace())["compose_prompt"].detail["kept"]["evidence"] == given


async def test_a_chat_with_high_confidence_is_not_searched(
    owner: User, handbook: KnowledgeBase, session: ChatSession, served: FakeProvider
) -> None:
    served.reply(json.dumps(chat(confidence=0.9)), purpose="understand")
    events = await run_turn(owner, session, "Tell me a joke, please.")
    ran = await trace()
    searching = ("search", "fusion", "load_passages", "reorder", "relevance_gate")
    assert {ran[key].status for key in searching} == {"skipped"}
    assert ran["understand"].detail["action"] == "answer_chat" and ran["generate"].status == "completed"
    assert not {"vector_search", "fulltext_search"} & {e.key for e in events if isinstance(e, StepEvent)}
    answer = await Message.objects.aget(role="assistant")
    assert answer.status == "completed" and "hold nothing" not in answer.content


@pytest.mark.parametrize(
    ("question", "confidence"), [("Tell me a joke, please.", 0.7), ("How many ports has the switch?", 0.95)]
)
async def test_a_chat_with_less_confidence_or_a_question_for_facts_is_searched(
    owner: User,
    handbook: KnowledgeBase,
    session: ChatSession,
    served: FakeProvider,
    question: str,
    confidence: float,
) -> None:
    served.reply(json.dumps(chat(confidence=confidence)), purpose="understand")
    await run_turn(owner, session, question)
    assert (await trace())["search"].status == "completed"
