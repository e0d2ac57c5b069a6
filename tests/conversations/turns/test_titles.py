"""Tests of titles by a model: written after the answer, cleaned, never replacing a user's, and shown on open pages."""

import threading
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import services
from conversations.models import ChatSession
from conversations.turns import titles
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import ProviderError
from tests.conversations.conftest import run_turn
from tests.conversations.web.test_consumers import tab, text
from tests.fakes.llm import FakeLLM
from tests.fakes.provider import FakeProvider
from tests.turns import wait_for_all

RESET = "How do I restore the factory settings of the switch?"


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        ("Restoring a switch", "Restoring a switch"),
        ('"Restoring a switch."', "Restoring a switch"),
        ("**Title: Restoring a switch**\n\nThis title …", "Restoring a switch"),
        ("\n\n《恢复出厂设置》", "恢复出厂设置"),
        ("标题：恢复出厂设置。", "恢复出厂设置"),
        ("## Reset", "Reset"),
        ("A title that goes on and on, and does not know where it could possibly end",
         "A title that goes on and on, and does not know…"),
        (' "" ', ""),
    ],
)  # fmt: skip
def test_reply_becomes_a_title(reply: str, title: str) -> None:
    assert titles.cleaned(reply) == title


def test_long_reply_is_read_only_in_part() -> None:
    assert titles.cleaned("Reset" + "!" * 200_000 + "x") == "Reset"


@pytest.fixture
def titled_llm(fake_llm: FakeLLM) -> FakeLLM:
    fake_llm.serves = {*fake_llm.serves, "title"}
    return fake_llm


async def title_of(session: ChatSession) -> str:
    await session.arefresh_from_db()
    return session.title


@pytest.mark.django_db(transaction=True)
async def test_first_answer_is_followed_by_a_title(
    owner: User, session: ChatSession, handbook: KnowledgeBase, titled_llm: FakeLLM
) -> None:
    titled_llm.enqueue("Ten seconds [1].", "Restoring a switch")
    await run_turn(owner, session, RESET)
    assert await title_of(session) == "Restoring a switch"
    assert titled_llm.calls[1].messages[-1].content == RESET
    titled_llm.enqueue("Nine [1].")
    await run_turn(owner, session, "How many ports has the TL-SE2109?")
    assert await title_of(session) == "Restoring a switch"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reply", [ProviderError("boom"), "", '""'])
async def test_without_a_usable_reply_the_question_stays_the_title(
    owner: User, session: ChatSession, handbook: KnowledgeBase, titled_llm: FakeLLM, reply: Any
) -> None:
    titled_llm.enqueue("Ten seconds [1].", reply)
    await run_turn(owner, session, RESET)
    assert await title_of(session) == "How do I restore the factory settings of the…"


@pytest.mark.django_db(transaction=True)
async def test_title_changed_in_the_meantime_is_kept(
    owner: User, session: ChatSession, handbook: KnowledgeBase, titled_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    titled_llm.enqueue("Ten seconds [1].", "Restoring a switch")
    asked = titles.side_calls.ask

    async def ask(*args: Any, **variables: str) -> Any:
        await in_database(services.rename_session, session, "Mine")
        return await asked(*args, **variables)

    monkeypatch.setattr(titles.side_calls, "ask", ask)
    await run_turn(owner, session, RESET)
    assert await title_of(session) == "Mine"


@pytest.mark.django_db(transaction=True)
async def test_stopped_answer_gets_no_model_title(
    owner: User, session: ChatSession, handbook: KnowledgeBase, titled_llm: FakeLLM
) -> None:
    titled_llm.enqueue([ProviderError("boom")])
    await run_turn(owner, session, RESET)
    assert len(titled_llm.calls) == 1


@pytest.mark.django_db(transaction=True)
async def test_open_pages_are_notified(
    owner: User, session: ChatSession, handbook: KnowledgeBase, provider: FakeProvider, settings: Any
) -> None:
    """Over HTTP; a slow title does not delay the answer."""
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "fake-model"
    go_on = threading.Event()
    provider.reply("Restoring a switch", purpose="title", go_on=go_on)
    async with tab(owner, session) as asking, tab(owner, session) as other:
        await asking.ask(RESET)
        await asking.until_ended()
        assert text(asking.page, "#session-title").startswith("How do I restore")
        go_on.set()
        for here in (asking, other):
            await here.until(lambda page: text(page, "#session-title") == "Restoring a switch")
    await wait_for_all()
