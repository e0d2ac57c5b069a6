"""Tests that streams end when their access is lost, and that access to all streams is checked together."""

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import HttpRequest
from django.test import AsyncClient
from django.test.utils import CaptureQueriesContext

from conversations import services
from conversations.api import streams as sse
from conversations.models import ChatSession
from conversations.turns import lifecycle
from ragsite.accounts import stream_auth
from ragsite.accounts.tokens import create_token
from ragsite.db import in_database
from ragsite.llm.types import TextPiece
from ragsite.models import ApiToken
from tests.conversations.api.test_streams import content, post
from tests.conversations.sse_client import decode
from tests.conversations.web.test_consumers import closed, tab
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = {"content": "Hi there"}
# The ways to lose access, and whether they send a signal to the process: `update` of many rows, for one, does not.
SIGNALLED = {
    "deactivated": True,
    "another password": True,
    "signed out": True,
    "token deleted": True,
    "user deleted": True,
}
UNSIGNALLED = {"deactivated among others": False, "run out": False, "token deleted among others": False}
WAYS = SIGNALLED | UNSIGNALLED


def lose(user: User, client: AsyncClient, how: str) -> None:
    """Take away a user's access."""
    match how:
        case "deactivated":
            user.is_active = False
            user.save()
        case "deactivated among others":
            User.objects.filter(pk=user.pk).update(is_active=False)
        case "another password":
            user.set_password("another")
            user.save()
        case "signed out":
            request = HttpRequest()
            request.session, request.user = client.session, user
            logout(request)
        case "run out":
            Session.objects.filter(session_key=client.session.session_key).delete()
        case "token deleted":
            ApiToken.objects.get(user=user).delete()
        case "token deleted among others":
            ApiToken.objects.filter(user=user)._raw_delete(using="default")
        case "user deleted":
            user.delete()


async def until(parts: Any, text: str) -> str:
    """Return the content of a stream up to a text."""
    heard = ""
    while text not in heard:
        heard += (await anext(parts)).decode()
    return heard


@pytest.mark.parametrize("talking", [True, False], ids=["talking", "silent"])
@pytest.mark.parametrize("how", WAYS)
async def test_stream_ends_when_access_is_lost(
    owner: User, colleague: User, session: ChatSession, fake_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch,
    how: str, talking: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(stream_auth, "INTERVAL", 1000 if WAYS[how] else 0.1)
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 1000)  # heartbeats would also wake a silent stream
    client, others, go_on, headers = AsyncClient(), AsyncClient(), asyncio.Event(), {}
    await client.aforce_login(owner)
    await others.aforce_login(colleague)
    if how.startswith("token"):
        headers["authorization"] = f"Token {await in_database(create_token, owner, 'test')}"
        client = AsyncClient()
    text = [TextPiece("on "), 0.02] * 10_000 if talking else []
    fake_llm.enqueue([TextPiece("Begun. "), *text, go_on], [TextPiece("Another. "), go_on])
    parts = aiter(await post(client, content(session), QUESTION, **headers))
    heard = await until(parts, "Begun")
    elsewhere = await in_database(services.create_session, colleague)
    unconcerned = aiter(await post(others, content(elsewhere), QUESTION))
    await until(unconcerned, "Another")

    await sync_to_async(lose)(owner, client, how)
    async with asyncio.timeout(60):
        heard += b"".join([part async for part in parts]).decode()
    *_, before, error, done = decode(heard)
    assert json.loads(error.data)["step"] == "error" and "no longer signed in" in json.loads(error.data)["message"]
    assert json.loads(done.data)["step"] == "done" and json.loads(done.data)["status"] == "interrupted"
    assert error.id == done.id == before.id, "after this number the rest may be asked for"
    go_on.set()
    rest = b"".join([part async for part in unconcerned]).decode()
    assert json.loads(decode(rest)[-1].data)["status"] == "completed"
    await lifecycle.interrupt_all(60)
    await wait_for_all()


async def test_prefix_streams_report_the_end(owner: User, fake_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_auth, "INTERVAL", 1000)
    client, go_on = AsyncClient(), asyncio.Event()
    await client.aforce_login(owner)
    fake_llm.enqueue([TextPiece("Begun. "), go_on])
    parts = aiter(await post(client, "/api/chat/conversation", {"question": "Hi there"}))
    await until(parts, "Begun")
    await sync_to_async(lose)(owner, client, "deactivated")
    async with asyncio.timeout(60):
        events = [frame.data for frame in decode(b"".join([part async for part in parts]).decode())]
    assert events == ["ERROR:You are no longer signed in, or your access was withdrawn.", "DONE:"]
    go_on.set()
    await wait_for_all()


@pytest.mark.parametrize("how", ["deactivated among others", "run out"])
async def test_sockets_end_without_a_signal(
    owner: User, session: ChatSession, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(stream_auth, "INTERVAL", 0.1)
    async with tab(owner, session) as here:
        client = AsyncClient()
        client.cookies["sessionid"] = here.socket.scope["session"].session_key
        await sync_to_async(lose)(owner, client, how)
        await closed(here)


async def test_all_open_streams_are_checked_together(
    owner: User, fake_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of queries is constant, and there are none without streams."""
    monkeypatch.setattr(stream_auth, "INTERVAL", 0.05)
    looks: list[tuple[int, int]] = []
    look = stream_auth.lost_of

    def counted(grants: Any) -> Any:
        with CaptureQueriesContext(connection) as queries:
            lost = look(grants)
        looks.append((len(grants), len(queries)))
        return lost

    monkeypatch.setattr(stream_auth, "lost_of", counted)
    client, go_on = AsyncClient(), asyncio.Event()
    await client.aforce_login(owner)
    streams = []
    for _number in range(3):
        fake_llm.enqueue([TextPiece("Begun. "), go_on])
        session = await in_database(services.create_session, owner)
        streams.append(aiter(await post(client, content(session), QUESTION)))
        await until(streams[-1], "Begun")
    async with asyncio.timeout(60):
        while not any(grants == 3 for grants, _queries in looks):
            await asyncio.sleep(0.01)
    assert {queries for _grants, queries in looks} == {2}  # users and sign-ins; there are no tokens
    go_on.set()
    for stream in streams:
        assert '"completed"' in [part async for part in stream][-1].decode()
    async with asyncio.timeout(60):
        while not stream_auth.watch._task or not stream_auth.watch._task.done():
            await asyncio.sleep(0.01)
    await wait_for_all()
