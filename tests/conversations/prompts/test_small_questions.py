"""Tests of the side calls of whole conversations, over HTTP against a provider."""

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from pytest_django import Settings

from conversations.models import ModelProfile, Turn
from knowledge.models import KnowledgeBase
from tests.conversations.replies import plan
from tests.conversations.sse_client import decode
from tests.fakes import answers
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = {"en": "How many ports has the TL-SE2109 switch?", "zh": "端口隔离默认是打开的吗？"}
SECOND = {"en": "And how is it reset?", "zh": "那它在哪里启用？"}
REWRITTEN = {"en": "How is the TL-SE2109 switch reset?", "zh": "端口隔离在哪里启用？"}


@pytest.fixture
def served(provider: FakeProvider, settings: Settings) -> FakeProvider:
    """A site whose only setting is the provider's address."""
    settings.LLM_BASE_URL = provider.base_url
    return provider


async def ask(client: AsyncClient, question: str, **fields: Any) -> tuple[str, int]:
    """Ask by API; return the answer and the session."""
    body = {"question": question} | fields
    response = await client.post("/api/chat/conversation", body, content_type="application/json")
    text = "".join([chunk.decode() async for chunk in response.streaming_content])
    frames = [frame.data for frame in decode(text)]
    assert not [frame for frame in frames if frame.startswith("ERROR:")] and frames[-1] == "DONE:"
    answer = "".join(frame.removeprefix("CONTENT:") for frame in frames if frame.startswith("CONTENT:"))
    return answer, int(frames[0].removeprefix("SESSION:"))


def asked(provider: FakeProvider) -> list[tuple[str, float, int]]:
    """Return purpose, temperature and limit of each request since the last check, without those for titles."""
    found = [(answers.purpose(body), body["temperature"], body["max_tokens"]) for body in provider.requests]
    provider.requests.clear()
    return [request for request in found if request[0] != "title"]


@pytest.fixture
async def client(owner: User) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(owner)
    return client


@pytest.mark.parametrize("code", ["en", "zh"])
async def test_turn_makes_one_or_two_side_calls(
    client: AsyncClient, handbook: KnowledgeBase, served: FakeProvider, code: str
) -> None:
    answer, session = await ask(client, FIRST[code])
    assert "[1]" in answer and asked(served) == [("understand", 0.3, 1024), ("", 0.3, 2048)]
    served.reply(json.dumps(plan(rewrite=REWRITTEN[code], queries=[])), purpose="understand")
    await ask(client, SECOND[code], session_id=session)
    assert [purpose for purpose, *_manner in asked(served)] == ["understand", ""]
    served.reply("no plan", purpose="understand")
    served.reply(f"改写后的问题：“{REWRITTEN[code]}”", purpose="rewrite")
    await ask(client, SECOND[code], session_id=session)
    assert asked(served) == [("understand", 0.3, 1024), ("rewrite", 0.3, 50), ("", 0.3, 2048)]
    queries = [query async for query in Turn.objects.order_by("id").values_list("retrieval_query", flat=True)]
    assert queries[1:] == [REWRITTEN[code]] * 2


async def test_greeting_takes_one_request(client: AsyncClient, served: FakeProvider) -> None:
    await ask(client, "Hello!")
    assert asked(served) == [("", 0.7, 2048)]


async def test_provider_that_ignores_side_calls_delays_only_one_turn(
    client: AsyncClient, handbook: KnowledgeBase, served: FakeProvider, settings: Settings
) -> None:
    settings.UNDERSTAND_TIMEOUT = 0.3
    served.reply("never", first_delay=30.0, purpose="understand")
    async with asyncio.timeout(20):
        answer, session = await ask(client, FIRST["en"])
        assert "[1]" in answer
        await ask(client, SECOND["en"], session_id=session)
    assert [purpose for purpose, *_manner in asked(served)] == ["understand", "", ""]


async def test_filter_is_called_on_request(client: AsyncClient, handbook: KnowledgeBase, served: FakeProvider) -> None:
    answer, _session = await ask(client, FIRST["en"], use_insert_block=True)
    purposes = [purpose for purpose, *_manner in asked(served)]
    assert purposes.count("filter") == 4 and "nine ports" in answer


async def test_profile_only_for_a_side_call(
    client: AsyncClient, handbook: KnowledgeBase, provider: FakeProvider
) -> None:
    await ModelProfile.objects.acreate(
        purpose="understand",
        base_url=provider.base_url,
        own_network=True,
        model="small",
        temperature=0.1,
        max_tokens=77,
    )
    answer, _session = await ask(client, FIRST["en"])
    assert asked(provider) == [("understand", 0.1, 77)] and "nine ports" in answer
