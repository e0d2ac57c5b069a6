"""The budget in a turn: cuts are shown on the page and in the trace, and questions that do not fit are refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse

from conversations.models import ChatSession, Message, TraceStep, Turn
from conversations.pipeline.description import Description
from conversations.pipeline.nodes.compose_prompt import ComposePrompt
from conversations.pipeline.nodes.load_history import LoadHistory
from conversations.pipeline.nodes.memory import Memory
from conversations.pipeline.nodes.relevant_history import RelevantHistory
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from tests import factories
from tests.conversations.conftest import index_document, run_turn
from tests.conversations.test_services import make_turn
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How many ports has the TL-SE2109 switch?"
Narrow = Callable[[int, int], None]


@pytest.fixture
def narrow(fake_llm: FakeLLM) -> Narrow:
    """Give the model a small window."""

    def narrow(window: int, answer: int) -> None:
        fake_llm.endpoint = replace(fake_llm.endpoint, context_window=window, max_tokens=answer)

    return narrow


async def budget_of_last() -> dict[str, Any]:
    step = await TraceStep.objects.filter(key="compose_prompt").alatest("id")
    detail: dict[str, Any] = step.detail
    return detail


async def test_what_was_cut_is_reported(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, narrow: Narrow
) -> None:
    parent: Turn | None = None
    for number in range(4):
        parent = await in_database(make_turn, session, parent, f"q{number}", "A long answer. " * 120)
    narrow(2000, 400)
    fake_llm.enqueue("Nine [1].")
    await run_turn(owner, session, QUESTION)
    answer = await Message.objects.alatest("id")
    detail = await budget_of_last()
    assert detail["tokens"] <= detail["limit"] == 1500
    kept = detail["kept"]["recent"]
    assert detail["kept"] == {"evidence": 1, "summary": 0, "facts": 0, "relevant": 0, "recent": kept}
    assert 1 <= kept <= 2
    assert set(detail["taken"]) == {"fixed", "evidence", "recent"} and min(detail["taken"].values()) > 0
    # Counted before the pieces are joined.
    assert abs(sum(detail["taken"].values()) - detail["tokens"]) < 30
    asked = [message["content"] for message in detail["messages"] if message["role"] == "user"]
    assert asked[:-1] == [f"q{number}" for number in range(4 - kept, 4)]
    assert (answer.usage["turns_left_out"], answer.usage["window"]) == (4 - kept, 2000)
    client = AsyncClient()
    await client.aforce_login(owner)
    page = (await client.get(reverse("session", args=[session.pk]))).content.decode()
    note = f"Left out: {4 - kept} earlier turns. The context window is 2,000 tokens."
    assert note in page
    facts = dict(ComposePrompt().describe(detail).facts)
    assert facts["Did not fit"] == note
    assert facts["Kept"].startswith(f"1 passage, {kept} earlier turn")
    assert facts["Left out"].startswith("recent turn 1: ")
    assert facts["Tokens by kind"].startswith("instructions and question ")
    assert f" · recent turns {detail['taken']['recent']:,}" in facts["Tokens by kind"]


@pytest.fixture
def long_passages(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Ports")
    for number in range(5):
        passage = f"Port {number} of the TL-SE2109 switch. " + "It is one of nine ports. " * 22
        index_document(base, (passage,), f"{number}.txt")
    return base


async def test_a_window_of_2048_tokens_keeps_the_newest_turn(
    owner: User, long_passages: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, narrow: Narrow
) -> None:
    parent: Turn | None = None
    for number in range(5):
        parent = await in_database(make_turn, session, parent, f"q{number}", "A long answer. " * 120)
    narrow(2048, 1024)
    fake_llm.enqueue("Nine [1].")
    await run_turn(owner, session, QUESTION)
    detail = await budget_of_last()
    assert detail["tokens"] <= detail["limit"]
    assert (detail["kept"]["evidence"], detail["kept"]["recent"]) == (2, 1)
    assert detail["messages"][1]["content"] == "q4" and detail["messages"][2]["content"].endswith("answer. …")
    assert [item["kind"] for item in detail["shortened"]] == ["recent"] and len(detail["cut_turns"]) == 4
    usage = (await Message.objects.alatest("id")).usage
    assert (usage["turns_left_out"], usage["turns_shortened"]) == (4, 1)


async def test_nothing_is_reported_if_everything_fits(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("Nine [1].")
    await run_turn(owner, session, QUESTION)
    assert "window" not in (await Message.objects.aget(role="assistant")).usage
    assert "Did not fit" not in dict(ComposePrompt().describe(await budget_of_last()).facts)


async def test_a_question_longer_than_the_window_reaches_no_model(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, narrow: Narrow
) -> None:
    narrow(1600, 200)
    await run_turn(owner, session, QUESTION + " Ports? 端口？" * 700)
    answer = await Message.objects.aget(role="assistant")
    assert (answer.status, answer.error_code) == ("failed", "question_too_long")
    assert "Shorten it, or ask it in several steps." in answer.error_message
    assert fake_llm.calls == []


async def test_the_model_may_write_no_more_than_was_reserved(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, narrow: Narrow
) -> None:
    narrow(3000, 8000)
    fake_llm.enqueue("Nine [1].")
    await run_turn(owner, session, QUESTION)
    assert fake_llm.calls[0].max_tokens == 1500


def test_the_trace_is_empty_for_a_node_that_did_not_run() -> None:
    assert all(
        node.describe({}) == Description() for node in (LoadHistory(), RelevantHistory(), Memory(), ComposePrompt())
    )


def test_recalled_turns_are_described() -> None:
    assert LoadHistory().describe({"turns": [1, 2], "summary": True}).facts == [
        ("Recalled", "2 earlier turns"),
        ("Before that", "a summary"),
    ]
    assert RelevantHistory().describe({"turns": [1], "by": "words"}).facts == [
        ("Similar to the question", "1 earlier turn · by words")
    ]
    assert Memory().describe({"facts": 2}).facts == [("Remembered", "2 facts")]
