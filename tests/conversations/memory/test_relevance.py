"""Tests of finding earlier turns similar to a question by vectors or words."""

import asyncio
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from conversations import services
from conversations.history import branch_of, complete_turns
from conversations.memory import relevance
from conversations.memory.relevance import RelevantTurns, relevant_turns, store_vector
from conversations.models import ChatSession, Message, TraceStep, Turn
from conversations.pipeline.nodes import relevant_history, search
from conversations.pipeline.nodes.relevant_history import RelevantHistory
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from retrieval.engine import spaces
from retrieval.models import EmbeddingSpace
from retrieval.search import SearchRequest, SearchResult
from tests.conversations.conftest import run_turn
from tests.conversations.test_services import make_turn
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

TALK = (
    ("How many ports has the switch?", "The switch has nine ports."),
    ("How long is the warranty of the rack kit?", "Three years."),
    ("What is for lunch on Friday?", "Fish and potatoes."),
    ("端口隔离怎么启用？", "在交换机的配置页面中启用。"),
    ("退货运费由谁承担？", "由买家承担运费。"),
)


def talk(session: ChatSession, pairs: Sequence[tuple[str, str]] = TALK) -> list[Turn]:
    turns: list[Turn] = []
    for question, answer in pairs:
        turns.append(make_turn(session, turns[-1] if turns else None, question, answer))
    return turns


async def found(
    session: ChatSession, turns: list[Turn], question: str, *, recent: int = 0, limit: int = 2
) -> RelevantTurns:
    branch = await in_database(branch_of, session.pk, turns[-1].pk)
    last = await in_database(complete_turns, branch[len(branch) - recent :])
    return await relevant_turns(question, branch, last, limit)


async def with_vectors(session: ChatSession) -> list[Turn]:
    turns = await in_database(talk, session)
    for turn, (question, answer) in zip(turns, TALK, strict=True):
        await store_vector(turn.pk, question, answer)
    return turns


async def test_most_similar_turns_are_found_in_one_query(session: ChatSession, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = await with_vectors(session)
    queries: list[int] = []
    nearest = relevance._nearest

    def counted(*args: object) -> object:
        with CaptureQueriesContext(connection) as captured:
            result = nearest(*args)  # type: ignore[arg-type]
        queries.append(len(captured))
        return result

    monkeypatch.setattr(relevance, "_nearest", counted)
    result = await found(session, turns, "What do they serve to eat?", limit=1)
    assert (result.by, [turn.question for turn in result.turns]) == ("vector", ["What is for lunch on Friday?"])
    assert queries == [1]


async def test_recent_turns_and_repeated_questions_are_left_out(session: ChatSession) -> None:
    again = (*TALK, ("how many  PORTS has the switch?", "Nine."))
    turns = await in_database(talk, session, again)
    for turn, (question, answer) in zip(turns, again, strict=True):
        await store_vector(turn.pk, question, answer)
    result = await found(session, turns, "How many ports?", recent=1, limit=5)
    questions = [turn.question for turn in result.turns]
    assert "How many ports has the switch?" not in questions
    assert "how many  PORTS has the switch?" not in questions
    assert questions == [], "what is left is unlike"


async def test_dissimilar_turns_are_left_out_and_traced(session: ChatSession, settings: Settings) -> None:
    turns = await with_vectors(session)
    question = "Who invented the telephone?"
    unlike = await found(session, turns, question)
    assert (unlike.turns, unlike.by, unlike.similarities) == ([], "", {})
    assert unlike.nearest is not None and unlike.nearest < settings.RELEVANT_TURN_FLOOR
    facts = RelevantHistory().describe({"turns": [], "by": "", "similarities": [], "nearest": 0.1234}).facts
    assert facts == [("Similar to the question", "0 earlier turns"), ("Closest", "0.12, too low")]
    settings.RELEVANT_TURN_FLOOR = 0.0
    anything = await found(session, turns, question)
    assert [turn.turn_id for turn in anything.turns] == sorted(anything.similarities) and len(anything.turns) == 2
    assert max(anything.similarities.values()) == unlike.nearest


async def test_one_shared_word_of_many_is_not_enough(session: ChatSession, settings: Settings) -> None:
    turns = await in_database(talk, session)  # without vectors
    question = "Which marketing budget did finance approve for Friday?"
    assert (await found(session, turns, question)).turns == []
    settings.RELEVANT_TURN_FLOOR = 0.0
    assert [turn.question for turn in (await found(session, turns, question)).turns] == [TALK[2][0]]


async def test_turns_of_other_branches_are_recalled_unless_switched_off(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, settings: Settings
) -> None:
    turns = await in_database(talk, session, [(f"What is number {number}?", f"It is {number}.") for number in range(8)])
    aside = await in_database(make_turn, session, turns[0], "What is for dinner on Friday?", "Soup.")
    await store_vector(aside.pk, "What is for dinner on Friday?", "Soup.")

    async def recalled(question: str, parent: Turn) -> tuple[list[int], Turn]:
        fake_llm.enqueue("Fish.")
        await run_turn(owner, session, question, parent_turn_id=parent.pk)
        step = await TraceStep.objects.filter(key="relevant_history").alatest("id")
        return list(step.detail["turns"]), await Turn.objects.alatest("id")

    found, asked = await recalled("Which meal is served for dinner on Friday?", turns[-1])
    assert found == [aside.pk]
    # Another version of the same question isn't an earlier turn, wherever it is, nor is one that an edit replaced.
    assert asked.pk not in (await recalled("Which meal is served for dinner on Friday?", turns[3]))[0]
    assert asked.pk not in (await recalled("Which meals are served for dinner on Friday?", turns[-1]))[0]
    settings.RELEVANT_TURNS_FROM = "branch"
    assert (await recalled("Which meal is served for dinner on Friday, then?", turns[-1]))[0] == []


async def test_other_sessions_are_left_out(owner: User, session: ChatSession) -> None:
    turns = await with_vectors(session)
    other = await in_database(services.create_session, owner)
    await with_vectors(other)
    result = await found(session, turns, "What do they serve to eat?", limit=5)
    assert {turn.turn_id for turn in result.turns} <= {turn.pk for turn in turns}


async def test_english_model_is_not_used_for_chinese(session: ChatSession) -> None:
    space = await in_database(spaces.active_space)
    await EmbeddingSpace.objects.filter(pk=space.pk).aupdate(languages=["en"])
    spaces.forget_active_space()
    turns = await with_vectors(session)
    assert await Turn.objects.filter(embedding=None).acount() == 2
    result = await found(session, turns, "那退货的运费是多少？", limit=1)
    assert (result.by, [turn.question for turn in result.turns]) == ("words", ["退货运费由谁承担？"])
    assert (await found(session, turns, "今天天气如何")).turns == []


async def test_vectors_of_another_space_are_not_compared(session: ChatSession) -> None:
    turns = await with_vectors(session)
    await Turn.objects.all().aupdate(embedding_space=None)
    result = await found(session, turns, "Tell me of the warranty", limit=1)
    assert (result.by, [turn.question for turn in result.turns]) == ("words", [TALK[1][0]])


async def test_incomplete_turns_are_left_out(session: ChatSession) -> None:
    turns = await with_vectors(session)
    await Message.objects.filter(turn=turns[2], role="assistant").aupdate(status="failed")
    result = await found(session, turns, "What do they serve to eat?", limit=5)
    assert TALK[2][0] not in [turn.question for turn in result.turns]


async def test_turn_vector_is_stored_and_used_by_a_later_prompt(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    turns = await in_database(talk, session, [(f"What is number {number}?", f"It is {number}.") for number in range(6)])
    fake_llm.enqueue("The warranty lasts three years [1].", "As said [1].")
    await run_turn(owner, session, "How long is the warranty of the rack mounting kit?", parent_turn_id=turns[0].pk)
    asked = await Turn.objects.select_related("embedding_space").alatest("id")
    space = await in_database(spaces.active_space)
    assert (asked.embedding_space, len(asked.embedding)) == (space, space.dimension)
    last = await in_database(_more, session, asked, 6)
    fake_llm.calls.clear()
    await run_turn(owner, session, "Which kit has a warranty?", parent_turn_id=last.pk)
    contents = [message.content for message in fake_llm.calls[0].messages]
    label = "[Earlier in this conversation; may be relevant]"
    recalled = contents.index(f"{label}\nHow long is the warranty of the rack mounting kit?")
    assert contents[recalled + 1] == "The warranty lasts three years."
    assert recalled < contents.index("later 1"), "before the recent turns"
    step = await TraceStep.objects.filter(key="relevant_history").alatest("id")
    assert step.detail["by"] == "vector" and step.detail["turns"] == [asked.pk]
    (similarity,) = step.detail["similarities"]
    assert similarity == step.detail["nearest"] > 1.4
    assert RelevantHistory().describe(step.detail).facts == [
        ("Similar to the question", f"1 earlier turn · by meaning · {similarity:.2f}")
    ]


async def test_turns_are_searched_by_the_rewritten_question_alongside_passages(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = await in_database(talk, session, [(f"What is number {number}?", f"It is {number}.") for number in range(8)])
    searched, asked = asyncio.Event(), []
    rankings_of = search.rankings_of

    async def awaited(question: str, *args: object) -> RelevantTurns:
        asked.append(question)
        await asyncio.wait_for(searched.wait(), 8)
        return RelevantTurns(by="words")

    async def found(request: SearchRequest) -> SearchResult:
        searched.set()
        return await rankings_of(request)

    monkeypatch.setattr(relevant_history, "relevant_turns", awaited)
    monkeypatch.setattr(search, "rankings_of", found)
    fake_llm.serves.add("rewrite")
    rewrite = "How long is the warranty of number 7?"
    fake_llm.enqueue(rewrite, "Three years [1].")
    await run_turn(owner, session, "How long is its warranty?", parent_turn_id=turns[-1].pk)
    step = await TraceStep.objects.filter(key="relevant_history").alatest("id")
    assert (step.status, step.detail.get("by"), step.detail.get("query")) == ("completed", "words", rewrite)
    assert asked == [rewrite]


def _more(session: ChatSession, parent: Turn, count: int) -> Turn:
    for number in range(count):
        parent = make_turn(session, parent, f"later {number}", "yes")
    return parent
