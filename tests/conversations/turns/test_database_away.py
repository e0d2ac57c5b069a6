"""Tests of a database outage while answers are written: they wait for it, and new questions are refused."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import AsyncClient, Client

from conversations import turn_store
from conversations.events import DoneEvent, ErrorEvent
from conversations.models import ChatSession, Message
from conversations.pipeline.nodes.save import Save
from conversations.turns import broker, checkpoints, runner
from knowledge.models import KnowledgeBase
from ragsite import db
from tests.conversations.conftest import run_turn
from tests.fakes.provider import FakeProvider
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How do I restore the factory settings of the switch?"
WORDS = "temporarily unavailable"


def away(times: int, then: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function that fails this often, as in a database outage, and then works."""
    left = [times]

    def call(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0 or then is None:
            raise OperationalError("the connection is closed")
        return then(*args, **kwargs)

    return call


async def test_database_errors_are_not_retried() -> None:
    def refuse() -> None:
        nonlocal tries
        tries += 1
        raise OperationalError("too large") from psycopg.errors.ProgramLimitExceeded()

    tries = 0
    with pytest.raises(OperationalError):
        await db.retry_while_database_is_down(refuse)
    assert tries == 1


async def test_answer_waits_for_the_database(
    owner: User,
    session: ChatSession,
    handbook: KnowledgeBase,
    provider: FakeProvider,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "fake-model"
    monkeypatch.setattr(runner, "CHECKPOINT_INTERVAL", 0.02)
    monkeypatch.setattr(db, "PAUSE", 0.02)
    monkeypatch.setattr(checkpoints, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(checkpoints, "_store", away(3, checkpoints._store))
    monkeypatch.setattr(turn_store, "finish", away(2, turn_store.finish))
    monkeypatch.setattr(turn_store, "save_citations", away(2, turn_store.save_citations))
    provider.reply("Hold the button for ten seconds [1].", delay=0.02)
    done = (await run_turn(owner, session, QUESTION))[-1]
    message = await Message.objects.aget(turn__session=session, role="assistant")
    assert isinstance(done, DoneEvent) and done.status == message.status == "completed"
    assert message.content == "Hold the button for ten seconds [1]."
    assert await message.citations.filter(cited=True).acount() == 1


def test_retries_cover_the_longest_outage() -> None:
    assert (Save.timeout or 0) > db.PATIENCE


async def test_unstorable_answer_does_not_keep_listeners_waiting(
    owner: User, session: ChatSession, handbook: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "PATIENCE", 0.0)
    monkeypatch.setattr(turn_store, "finish", away(1))
    assert isinstance((await run_turn(owner, session, QUESTION))[-1], DoneEvent)


async def test_listener_waits_for_the_database(
    owner: User, session: ChatSession, handbook: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_turn(owner, session, QUESTION)
    message = await Message.objects.aget(turn__session=session, role="assistant")
    monkeypatch.setattr(broker, "PATIENCE", 0.02)
    monkeypatch.setattr(broker, "_stored_log", away(2, broker._stored_log))
    events = [event async for event in broker.listen(message.pk)]
    assert isinstance(events[-1], DoneEvent) and not any(isinstance(event, ErrorEvent) for event in events)


@pytest.mark.parametrize(
    "place", ["conversations.prompts.active.site_setup", "conversations.pipeline.nodes.save_question.open_turn"]
)
async def test_unstorable_question_is_refused_at_once(
    owner: User, session: ChatSession, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(place, away(1))
    client = AsyncClient(raise_request_exception=False)
    await client.aforce_login(owner)
    address = f"/api/chat/sessions/{session.pk}/content"
    response = await client.post(address, {"question": QUESTION}, content_type="application/json")
    assert response.status_code == 503
    assert response.json()["code"] == "database_away" and WORDS in response.json()["detail"]
    await wait_for_all()


def test_pages_and_api_report_the_outage(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    monkeypatch.setattr("conversations.access.sessions", away(1))
    page, reply = client.get("/shared/"), client.get("/api/chat/sessions")
    assert (page.status_code, reply.status_code) == (503, 503)
    assert WORDS.replace("'", "&#x27;") in page.content.decode()
    assert reply.json()["code"] == "database_away" and reply["Retry-After"] == "5"


def test_other_failures_have_the_usual_format(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise ZeroDivisionError

    client = Client(raise_request_exception=False)
    client.force_login(owner)
    monkeypatch.setattr("conversations.access.sessions", fail)
    reply = client.get("/api/chat/sessions")
    assert (reply.status_code, set(reply.json()), reply.json()["code"]) == (500, {"detail", "code"}, "error")
