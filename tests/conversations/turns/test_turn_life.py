"""Tests of turns against a provider over HTTP: stops, failures, silence, continuations, retries and repeats."""

import asyncio
import json
import threading
import uuid
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse
from django.utils import timezone

from conversations import queries, services, turn_store
from conversations.events import Delta, DoneEvent, ErrorEvent, Event
from conversations.models import ChatSession, ContextEntry, Message, Turn
from conversations.turns import broker, lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from tests.conversations.conftest import run_turn
from tests.fakes.provider import FakeProvider
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"


@pytest.fixture(autouse=True)
def model(provider: FakeProvider, settings: Any, handbook: KnowledgeBase) -> FakeProvider:
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "fake-model"
    settings.ENABLE_UNDERSTANDING = False
    return provider


async def begin(owner: User, session: ChatSession) -> tuple[lifecycle.Started, AsyncGenerator[Event, None]]:
    """Ask, and listen until the first text."""
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    events = broker.listen(started.assistant_message_id)
    async for event in events:
        if isinstance(event, Delta):
            break
    return started, events


async def message_of(started: lifecycle.Started) -> Message:
    return await Message.objects.aget(pk=started.assistant_message_id)


def prompts(provider: FakeProvider) -> list[list[dict[str, str]]]:
    """Return the messages of the requests for answers."""
    asked = [body["messages"] for body in provider.requests]
    return [messages for messages in asked if "<passage" in json.dumps(messages)]


async def test_placeholder_is_stored_before_streaming(
    owner: User, session: ChatSession, provider: FakeProvider
) -> None:
    go_on = threading.Event()
    provider.reply("Late.", go_on=go_on)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    message = await message_of(started)
    assert (message.status, message.content) == ("streaming", "")
    go_on.set()
    await wait_for_all()
    assert (await message_of(started)).pk == message.pk
    assert (await message_of(started)).content == "Late."


async def test_stop_closes_the_connection_to_the_provider(
    owner: User, session: ChatSession, provider: FakeProvider
) -> None:
    provider.reply("Hold the reset and", finish="", done=False, hold_open=120)
    started, events = await begin(owner, session)
    assert await lifecycle.stop_turn(owner, started.assistant_message_id)
    assert await asyncio.to_thread(provider.wait_for_disconnect)
    message = await message_of(started)
    assert message.status == "stopped" and message.content.startswith("Hold")
    last = [event async for event in events][-1]
    assert isinstance(last, DoneEvent) and last.status == "stopped"
    assert not await lifecycle.stop_turn(owner, started.assistant_message_id)
    assert await ContextEntry.objects.filter(turn_id=started.turn_id, role="assistant").aexists()


async def test_deleting_a_chat_closes_connections_to_the_provider(
    owner: User, session: ChatSession, provider: FakeProvider, settings: Any
) -> None:
    settings.MAX_CONCURRENT_TURNS = 1
    provider.reply("Hold the reset and", finish="", done=False, hold_open=120)
    started, events = await begin(owner, session)
    fresh = await in_database(services.delete_session, session)
    assert fresh is not None and await run_turn(owner, fresh, RESET)  # it no longer blocks others
    assert [event async for event in events][-1].type == "done"
    assert await asyncio.to_thread(provider.wait_for_disconnect)
    message = await message_of(started)
    assert message.status == "stopped" and message.content.startswith("Hold")


async def test_stop_while_the_provider_is_silent(owner: User, session: ChatSession, provider: FakeProvider) -> None:
    provider.reply("Never.", first_delay=120)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    while not prompts(provider):
        await asyncio.sleep(0.01)
    assert await lifecycle.stop_turn(owner, started.assistant_message_id)
    assert await asyncio.to_thread(provider.wait_for_disconnect)
    assert ((await message_of(started)).status, (await message_of(started)).content) == ("stopped", "")


async def test_disconnecting_client_loses_nothing(owner: User, session: ChatSession, provider: FakeProvider) -> None:
    text = "Hold " + " ".join(f"w{number}" for number in range(30)) + " [1]."
    provider.reply(text, delay=0.02)
    started, events = await begin(owner, session)
    await events.aclose()  # type: ignore[attr-defined]
    rest = [event async for event in broker.listen(started.assistant_message_id)]
    assert "".join(event.text or "" for event in rest if isinstance(event, Delta)) == text
    await wait_for_all()
    assert (await message_of(started)).status == "completed"
    assert provider.disconnects == 0


async def test_broken_connection_keeps_the_partial_answer(
    owner: User, session: ChatSession, provider: FakeProvider
) -> None:
    provider.cut_after(3, text="Hold the reset button for ten seconds.")
    events = await run_turn(owner, session, RESET)
    failed = await Message.objects.aget(role="assistant")
    assert failed.status == "failed" and failed.content.startswith("Hold the") and failed.error_message
    error = next(event for event in events if isinstance(event, ErrorEvent))
    assert error.retryable and error.code == failed.error_code
    # Its passages would have answered, but it doesn't.
    assert isinstance(events[-1], DoneEvent) and events[-1].answer_state is None and failed.answer_state == ""
    provider.reply("Ten seconds [1].")
    again = await lifecycle.regenerate(owner, failed.pk)
    await wait_for_all()
    shown = await in_database(queries.transcript, session)
    assert [(view.answer.content, view.position, len(view.siblings)) for view in shown] == [("Ten seconds [1].", 2, 2)]
    assert shown[0].answer.pk == again.assistant_message_id
    # Failed turns are not part of the history sent to the model.
    assert "Hold the reset" not in json.dumps([item for item in prompts(provider)[-1] if item["role"] == "assistant"])


async def test_interrupted_answer_is_continued(owner: User, session: ChatSession, provider: FakeProvider) -> None:
    provider.reply("First, hold the reset button [1]. Then wait.", finish="", done=False, hold_open=120)
    started, _events = await begin(owner, session)
    while "button" not in json.dumps((await broker.snapshot(started.assistant_message_id)).blocks):
        await asyncio.sleep(0.02)
    await lifecycle.interrupt_all(60)
    cut = await message_of(started)
    assert cut.status == "interrupted" and cut.content.startswith("First, hold the reset button")
    provider.reply("Last, let it go [1].")
    rest = await lifecycle.continue_answer(owner, cut.pk, request_id=uuid.uuid4())
    await wait_for_all()
    assert rest.parent_turn_id == started.turn_id
    sent = [item["content"] for item in prompts(provider)[-1]]
    past = [item for item in sent if item.startswith("First, hold the reset button")]
    assert len(past) == 1 and RESET in sent and "Please continue." in sent[-1]
    assert "reset button for ten seconds" in sent[-1]  # the evidence is for the question
    shown = await in_database(queries.transcript, session)
    assert [view.answer.status for view in shown] == ["interrupted", "completed"]
    assert shown[1].answer.content == "Last, let it go [1]."


@pytest.mark.parametrize(
    ("status", "content", "code"),
    [("completed", "Whole.", "not_cut"), ("streaming", "So far", "not_cut"), ("interrupted", "", "nothing_came")],
)
async def test_refused_continuations(owner: User, session: ChatSession, status: str, content: str, code: str) -> None:
    turn = await Turn.objects.acreate(session=session)
    await Message.objects.acreate(turn=turn, role="user", content="q")
    message = await Message.objects.acreate(
        turn=turn, role="assistant", status=status, content=content, heartbeat_at=timezone.now()
    )
    with pytest.raises(lifecycle.TurnRefused) as refused:
        await lifecycle.continue_answer(owner, message.pk)
    assert refused.value.code == code
    client = AsyncClient()
    await client.aforce_login(owner)
    answer = await client.post(reverse("api-continue", args=[message.pk]))
    assert (answer.status_code, answer.json()["code"]) == (409, code)


async def test_continue_by_api(owner: User, session: ChatSession, provider: FakeProvider) -> None:
    provider.cut_after(4, text="Hold the reset button for ten seconds.")
    await run_turn(owner, session, RESET)
    message = await Message.objects.aget(role="assistant")
    provider.reply("seconds, ten of them [1].")
    client = AsyncClient()
    await client.aforce_login(owner)
    body = (await client.post(reverse("api-continue", args=[message.pk]))).json()
    await wait_for_all()
    assert body["parent_turn_id"] == message.turn_id
    assert (await Message.objects.aget(pk=body["assistant_message_id"])).content == "seconds, ten of them [1]."


@pytest.mark.parametrize(("age", "status"), [(14, "streaming"), (16, "interrupted")])
async def test_stale_answer_is_interrupted_on_read(
    owner: User, session: ChatSession, age: int, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # stop the clock
    turn = await Turn.objects.acreate(session=session)
    await Message.objects.acreate(turn=turn, role="user", content="q")
    message = await Message.objects.acreate(
        turn=turn, role="assistant", status="streaming", heartbeat_at=now - timedelta(seconds=age)
    )
    client = AsyncClient()
    await client.aforce_login(owner)
    assert (await client.get(reverse("api-message", args=[message.pk]))).json()["status"] == status
    shown = await in_database(queries.transcript, session)
    assert shown[0].answer.status == status


async def test_heartbeat_continues_while_the_provider_is_silent(
    owner: User, session: ChatSession, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.turns.runner.HEARTBEAT_INTERVAL", 0.1)
    monkeypatch.setattr("conversations.turns.runner.CHECKPOINT_INTERVAL", 0.1)
    provider.reply("Never.", first_delay=120)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    beats = set()
    async with asyncio.timeout(60):
        while len(beats) < 3:
            message = await message_of(started)
            assert message.status == "streaming"
            beats.add(message.heartbeat_at)
            await asyncio.sleep(0.05)
    assert not await in_database(turn_store.interrupt_stale)
    assert await lifecycle.stop_turn(owner, started.assistant_message_id)


async def test_simultaneous_identical_requests_start_one_turn(
    owner: User, session: ChatSession, provider: FakeProvider
) -> None:
    provider.reply("Ten seconds [1].", delay=0.05)
    ask = lifecycle.Ask(session.pk, RESET)
    started = await asyncio.gather(*(lifecycle.start_turn(owner, ask) for _ in range(4)))
    await wait_for_all()
    assert len({item.turn_id for item in started}) == 1
    assert sorted(item.existing for item in started) == [False, True, True, True]
    assert len(prompts(provider)) == 1
    message = await message_of(started[0])
    assert (message.status, message.content) == ("completed", "Ten seconds [1].")


async def test_simultaneous_questions_follow_each_other(
    owner: User, session: ChatSession, provider: FakeProvider
) -> None:
    asks = [lifecycle.Ask(session.pk, RESET) for _ in range(3)]
    started = await asyncio.gather(*(lifecycle.start_turn(owner, ask) for ask in asks))
    await wait_for_all()
    line = sorted(item.turn_id for item in started)
    parents = {item.turn_id: item.parent_turn_id for item in started}
    assert [parents[turn] for turn in line] == [None, *line[:2]]
    assert [view.turn.pk for view in await in_database(queries.transcript, session)] == line
    assert await ContextEntry.objects.filter(session=session, type="routes").acount() == 1


async def test_double_click_asks_once(owner: User, session: ChatSession, provider: FakeProvider) -> None:
    provider.reply("Ten seconds [1].")
    await run_turn(owner, session, RESET)
    message = await Message.objects.aget(role="assistant")
    shown = (await in_database(queries.transcript, session))[0]
    provider.reply("Again ten [1].")
    request_id = uuid.uuid4()
    first, second = await asyncio.gather(
        *(lifecycle.regenerate(owner, message.pk, request_id=request_id) for _ in range(2))
    )
    await wait_for_all()
    assert first.turn_id == second.turn_id and {first.existing, second.existing} == {False, True}
    assert await Turn.objects.acount() == 2 and len(prompts(provider)) == 2
    assert shown.turn.request_id != request_id
