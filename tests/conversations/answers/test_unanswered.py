"""Unanswered questions: they are not part of the history of an answer, but say what "it" is in later questions."""

import json

import pytest
from django.contrib.auth.models import User

from conversations import history
from conversations.history import PastTurn
from conversations.models import ChatSession, Message, TraceStep, Turn
from conversations.pipeline.nodes.load_history import LoadHistory
from conversations.prompts import side_calls
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from tests.conversations.conftest import run_turn
from tests.conversations.replies import plan
from tests.conversations.test_services import make_turn
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

PORTS = "How many ports has the TL-SE2109 switch?"
LATER = "How is it restored to the factory settings?"


async def unanswered(session: ChatSession, status: str = "failed", came: str = "") -> Turn:
    turn = await in_database(make_turn, session, None, PORTS, came)
    await Message.objects.filter(turn=turn, role="assistant").aupdate(status=status)
    return turn


@pytest.mark.parametrize(
    ("status", "came"),
    [("failed", ""), ("failed", "It has"), ("interrupted", "It has"), ("stopped", ""), ("streaming", "It")],
)
async def test_the_rules_know_the_question(
    owner: User, session: ChatSession, handbook: KnowledgeBase, status: str, came: str
) -> None:
    await unanswered(session, status, came)
    await run_turn(owner, session, LATER)
    detail = (await TraceStep.objects.aget(key="understand")).detail
    assert "TL-SE2109" in detail["carried"]
    found = (await TraceStep.objects.aget(key="load_history")).detail
    assert found["turns"] == [] and len(found["unanswered"]) == 1
    assert LoadHistory().describe(found).facts[1] == ("Unanswered", "1 earlier turn")


@pytest.mark.parametrize("purpose", ["understand", "rewrite"])
async def test_the_prompt_says_that_it_was_not_answered(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM, purpose: str
) -> None:
    await unanswered(session, came="It has")
    fake_llm.serves.add(purpose)
    rewrite = "How is the TL-SE2109 switch restored to the factory settings?"
    reply = json.dumps(plan(rewrite=rewrite)) if purpose == "understand" else rewrite
    fake_llm.enqueue(reply, "Hold the button [1].")
    await run_turn(owner, session, LATER)
    asked, answered = fake_llm.calls
    expected = f"User: {PORTS}\nAssistant: (this was not answered)"
    assert expected in asked.messages[-1].content and "It has" not in asked.messages[-1].content
    assert PORTS not in [message.content for message in answered.messages], "no answer, and so no turn"
    assert (await Turn.objects.alatest("id")).retrieval_query == rewrite


def test_it_is_marked_in_both_languages() -> None:
    turn = PastTurn(1, "几个端口？", "")
    assert side_calls.transcript([turn], "zh") == "用户: 几个端口？\n助手: （未得到回答）"
    assert side_calls.spoken([turn], "en") == [("几个端口？", "(this was not answered)")]


async def test_they_do_not_count_as_recent_turns(session: ChatSession) -> None:
    turn: Turn | None = None
    for number in range(6):
        turn = await in_database(make_turn, session, turn, f"q{number}", f"a{number}")
    await Message.objects.filter(content__in=["a1", "a4"], role="assistant").aupdate(status="failed")
    assert turn is not None
    branch = await in_database(history.branch_of, session.pk, turn.pk)
    past = await in_database(history.past_turns, session.pk, branch, 3)
    assert [(item.question, item.answer) for item in past] == [("q2", "a2"), ("q3", "a3"), ("q4", ""), ("q5", "a5")]
    recent = await in_database(history.recent_turns, session.pk, branch, 3)
    assert [item.question for item in recent] == ["q2", "q3", "q5"]
