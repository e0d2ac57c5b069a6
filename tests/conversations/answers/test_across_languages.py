"""With a model, a question finds documents in another language: whole turns."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from pytest_django import Settings

from conversations.models import ChatSession, Citation, TraceStep, Turn
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from retrieval.engine import spaces
from retrieval.models import EmbeddingSpace
from tests import factories
from tests.conversations.conftest import run_turn
from tests.conversations.replies import plan
from tests.fakes import answers
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)

RULES = (
    "员工每天的工作时间为八小时，午休一小时。",
    "员工每年享有十五天带薪年假，新员工按月折算。",
    "报销单须在出差后三十天内交给财务部。",
    "访客须在前台登记并佩戴访客证。",
    "办公室每天晚上十点关闭空调。",
    "会议室需要提前一天预订。",
)
QUESTION = "How many days of annual leave do staff get?"
TRANSLATED = "员工每年有多少天年假？"


@pytest.fixture
def served(provider: FakeProvider, settings: Settings) -> FakeProvider:
    """A site that is set up with only the provider's address."""
    cache.clear()
    settings.LLM_BASE_URL = provider.base_url
    return provider


@pytest.fixture
def rules(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "员工手册")
    document = factories.make_document(base, "rules.txt", content="\n".join(RULES).encode(), language="zh")
    factories.make_chunks(document, RULES)
    factories.index_document(document.pk)
    return base


def small_questions(provider: FakeProvider) -> list[str]:
    """Return the instructions of the understanding calls."""
    return [body["messages"][0]["content"] for body in provider.requests if answers.purpose(body) == "understand"]


async def detail(key: str) -> dict[str, Any]:
    return (await TraceStep.objects.filter(key=key).alatest("pk")).detail


async def test_an_english_question_over_a_chinese_handbook(
    owner: User, rules: KnowledgeBase, session: ChatSession, served: FakeProvider
) -> None:
    served.reply(
        json.dumps(plan(rewrite="", queries=[], followup=False, translations={"zh": TRANSLATED})), purpose="understand"
    )
    await run_turn(owner, session, QUESTION)
    assert '"translations": {"zh"' in small_questions(served)[0]
    assert (await detail("understand"))["queries"] == [
        {"text": QUESTION, "weight": 1.0}, {"text": TRANSLATED, "weight": 1.0},
    ]  # fmt: skip
    searched = {(ranking["type"], ranking["query"]) for ranking in (await detail("search"))["rankings"]}
    assert ("bm25", TRANSLATED) in searched and ("vector", QUESTION) in searched
    first = await Citation.objects.aget(index=1)
    assert "十五天带薪年假" in first.snippet
    assert (await Turn.objects.aget()).retrieval_query == QUESTION


async def test_a_chinese_question_over_an_english_handbook(
    owner: User, session: ChatSession, served: FakeProvider
) -> None:
    base = await in_database(factories.make_knowledge_base, owner, "Handbook")
    document = await in_database(factories.make_document, base, "fan.txt", language="en")
    for passage in (
        "The fan of the router is quiet.",
        "The warranty of the fan lasts three years.",
        "Lunch is at noon.",
    ):
        await in_database(factories.make_chunk, document, passage)
    await in_database(factories.index_document, document.pk)
    await EmbeddingSpace.objects.filter(active=True).aupdate(languages=["en"])
    spaces.forget_active_space()
    question, translated = "风扇的保修期是多久？", "How long is the warranty of the fan?"
    served.reply(
        json.dumps(plan(rewrite="", queries=["保修期"], followup=False, translations={"en": translated})),
        purpose="understand",
    )
    await run_turn(owner, session, question)
    assert '"translations": {"en"' in small_questions(served)[0]
    found = {(item["type"], item["query"]): item["hits"] for item in (await detail("search"))["rankings"]}
    assert found["vector", translated] and not found["vector", question] and not found["vector", "保修期"]
    assert "three years" in (await Citation.objects.aget(index=1)).snippet


async def test_it_works_with_a_rewritten_follow_up(
    owner: User, rules: KnowledgeBase, session: ChatSession, served: FakeProvider
) -> None:
    await run_turn(owner, session, QUESTION)
    served.reply(json.dumps(plan(rewrite="", queries=["带薪年假"], translations={"zh": TRANSLATED}, followup=None,
                                 confidence=0.4)), purpose="understand")  # fmt: skip
    served.reply("How many days of leave do new staff get?", purpose="rewrite")
    await run_turn(owner, session, "And how many do new ones get?")
    assert (await detail("rewrite"))["queries"][2:] == [
        {"text": TRANSLATED, "weight": 1.0}, {"text": "带薪年假", "weight": 0.3},
    ]  # fmt: skip


async def test_no_translation_is_asked_for_if_all_documents_are_in_the_questions_language(
    owner: User, handbook: KnowledgeBase, rules: KnowledgeBase, session: ChatSession, served: FakeProvider
) -> None:
    await in_database(rules.delete)
    await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
    assert "translations" not in small_questions(served)[0]


async def test_only_the_bases_that_are_searched_count(
    owner: User, handbook: KnowledgeBase, rules: KnowledgeBase, session: ChatSession, served: FakeProvider
) -> None:
    await in_database(session.knowledge_bases.set, [handbook])
    await run_turn(owner, session, QUESTION)
    await in_database(session.knowledge_bases.set, [handbook, rules])
    await run_turn(owner, session, QUESTION)
    assert ["translations" in prompt for prompt in small_questions(served)] == [False, True]
