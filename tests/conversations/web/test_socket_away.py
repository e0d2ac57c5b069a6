"""The chat's socket while PostgreSQL is briefly unavailable: the page shows an error, and recovers on the next try."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError

from conversations.models import ChatSession, Message
from conversations.web import contexts
from conversations.web.consumers import ChatConsumer
from knowledge.models import KnowledgeBase
from tests.conversations.conftest import run_turn
from tests.conversations.web.test_consumers import statuses, tab, text

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"


def away_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that fails on its first call, as if the database were unavailable."""
    calls = iter([OperationalError("the connection is closed")])

    def call(*args: Any) -> Any:
        for error in calls:
            raise error
        return function(*args)

    return call


async def test_an_answer_ends_on_the_page_even_if_the_database_is_lost_then(
    owner: User, session: ChatSession, handbook: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChatConsumer, "_complete", away_once(ChatConsumer._complete))
    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until_ended()
        assert statuses(here.page) == ["completed"]


async def test_a_branch_that_failed_to_load_is_shown_on_the_next_try(
    owner: User, session: ChatSession, handbook: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_turn(owner, session, RESET)
    message = await Message.objects.aget(role="assistant")
    again = {"action": "regenerate", "message_id": message.pk, "request_id": str(uuid.uuid4())}
    monkeypatch.setattr(contexts, "turns_of", away_once(contexts.turns_of))
    async with tab(owner, session) as here:
        await here.send(**again)
        await here.until(lambda page: "temporarily unavailable" in text(page, "#toasts"))
        await here.send(**again)
        await here.until(lambda page: text(page, ".siblings") == "2/2")
        await here.until_ended()
        assert statuses(here.page) == ["completed"]
