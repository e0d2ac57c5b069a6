"""A repeated question: recent search results are reused, and everything else is done again."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from conversations import services
from conversations.events import StepEvent
from conversations.models import ChatSession, Citation, Message, TraceStep
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from retrieval.engine import engine
from tests import factories
from tests.conversations.conftest import index_document, run_turn

pytestmark = pytest.mark.django_db(transaction=True)

PORTS = "How many ports has the TL-SE2109 switch?"


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The queries to the index, by words and by meaning."""
    asked: list[str] = []
    words, meaning = engine.search_fulltext, engine.search_vectors

    async def search_fulltext(text: str, *args: Any) -> Any:
        asked.append(text)
        return await words(text, *args)

    async def search_vectors(text: str, *args: Any) -> Any:
        asked.append(text)
        return await meaning(text, *args)

    monkeypatch.setattr(engine, "search_fulltext", search_fulltext)
    monkeypatch.setattr(engine, "search_vectors", search_vectors)
    yield asked


async def traces(key: str) -> list[dict[str, Any]]:
    """Return the facts that a node noted, turn by turn."""
    return [step.detail async for step in TraceStep.objects.filter(key=key).order_by("pk")]


async def test_a_repeated_question_is_searched_once(
    owner: User, handbook: KnowledgeBase, session: ChatSession, searched: list[str], as_owner: Client
) -> None:
    first = await run_turn(owner, session, PORTS)
    again = await run_turn(owner, session, PORTS, as_root=True)
    assert searched == [PORTS, PORTS]  # once by words, once by meaning
    steps, steps_again = (
        [(event.key, event.status) for event in events if isinstance(event, StepEvent)] for events in (first, again)
    )
    assert steps == steps_again and ("vector_search", "completed") in steps
    messages = [event.message for event in again if isinstance(event, StepEvent) and event.key == "fulltext_search"]
    assert messages[-1].endswith("passages found · results from a moment ago")
    kept, taken = await traces("search")
    assert (kept["cached"], taken["cached"]) == (False, True)
    assert taken["rankings"] == kept["rankings"] and taken["knowledge_bases"] == [handbook.pk]
    for key in ("fusion", "load_passages", "reorder", "select"):
        one, other = await traces(key)
        assert one == other and one
    answers = [message.content async for message in Message.objects.filter(role="assistant")]
    assert answers[0] == answers[1] and "nine ports" in answers[0]
    step = await TraceStep.objects.filter(key="search").alatest("pk")
    page = await in_database(lambda: as_owner.get(reverse("trace", args=[step.turn_id])).content.decode())
    assert "results and times of the same search a moment ago" in page


async def test_new_documents_are_found(
    owner: User, handbook: KnowledgeBase, session: ChatSession, searched: list[str]
) -> None:
    await run_turn(owner, session, PORTS)
    await in_database(index_document, handbook, ("The TL-SE2109 switch has ten ports since 2026.",), "news.txt")
    await run_turn(owner, session, PORTS, as_root=True)
    assert len(searched) == 4 and [detail["cached"] for detail in await traces("search")] == [False, False]
    assert await Citation.objects.filter(filename="news.txt").aexists()


async def test_two_users_share_only_results_from_the_same_bases(
    owner: User, colleague: User, stranger: User, handbook: KnowledgeBase, session: ChatSession, searched: list[str]
) -> None:
    await in_database(factories.share, handbook, colleague)
    await run_turn(owner, session, PORTS)
    for user, cached in ((colleague, True), (stranger, False)):
        await run_turn(user, await in_database(services.create_session, user), PORTS)
        assert (await traces("search"))[-1]["cached"] is cached
    assert len(searched) == 2 and (await traces("search"))[-1]["knowledge_bases"] == []
    await in_database(factories.make_knowledge_base, colleague, "Own")
    await run_turn(colleague, await in_database(services.create_session, colleague), PORTS)
    assert len(searched) == 4 and not (await traces("search"))[-1]["cached"]


async def test_it_can_be_switched_off(
    owner: User, handbook: KnowledgeBase, session: ChatSession, searched: list[str], settings: Settings
) -> None:
    settings.SEARCH_CACHE_HITS = 0
    for _ in range(2):
        await run_turn(owner, session, PORTS, as_root=True)
    assert len(searched) == 4
