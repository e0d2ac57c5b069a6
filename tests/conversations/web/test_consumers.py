"""The chat's socket: asking, stopping, branching, reconnecting and access."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth import logout
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.test import Client

from conversations import services
from conversations.events import DELTA_INTERVAL
from conversations.models import ChatSession, Message
from conversations.rendering.text_frames import MARK
from conversations.turns import lifecycle
from conversations.web import contexts
from conversations.web.consumers import PING, PONG
from conversations.web.routing import websocket_urlpatterns, websockets
from knowledge.models import KnowledgeBase
from ragsite.accounts import stream_auth
from ragsite.db import in_database
from ragsite.llm.types import TextPiece
from tests import factories
from tests.conversations.conftest import index_document
from tests.conversations.oob import Page, squeeze
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

# Timeout for expected messages, in seconds; nothing here takes long.
PATIENCE = 60
RESET = "How do I restore the factory settings of the switch?"
SHELL = (
    '<div id="toasts"></div><div id="announcer"></div><template id="refused"></template>'
    '<h1 id="session-title"></h1><div id="branches"></div><nav id="sessions"></nav>'
    '<input id="parent-turn"><div id="notice"></div>{}'
    '<div id="follow-ups"></div>'
)


class Tab:
    """A browser tab: its page and its socket."""

    def __init__(self, user: Any, session: ChatSession, headers: dict[str, str] | None = None) -> None:
        self.session = session
        self.page = Page("")
        self.socket = WebsocketCommunicator(
            URLRouter(websocket_urlpatterns),
            f"/ws/sessions/{session.pk}/?language=en",
            headers=[(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        )
        self.socket.scope["user"] = user

    async def connect(self) -> tuple[bool, int | None]:
        """Sign in and open the socket; return whether it was accepted."""
        self.socket.scope["session"] = await in_database(_sign_in, self.socket.scope["user"])
        connected: tuple[bool, int | None] = await self.socket.connect(timeout=PATIENCE)
        return connected

    async def load(self) -> None:
        """Show the session's turns, like loading the page."""
        context = await in_database(contexts.turns_context, self.session, None)
        self.page = Page(SHELL.format(await in_database(_render, context)))

    async def send(self, **form: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(form))

    async def ask(self, question: str, **form: Any) -> None:
        """Ask like the page, with an optimistic turn first."""
        request_id = str(uuid.uuid4())
        turns_list = self.page.soup.select_one("#turns")
        assert turns_list is not None
        turns_list.append(self.page.soup.new_tag("article", id=f"pending-{request_id}"))
        await self.send(action="ask", question=question, request_id=request_id, pending="1", **form)

    async def until(self, ready: Callable[[Page], bool]) -> None:
        """Apply frames until the page is in the expected state."""
        async with asyncio.timeout(PATIENCE):
            while not ready(self.page):
                self.page.apply(await self.socket.receive_from(timeout=PATIENCE))

    async def leave(self) -> None:
        """Close the socket, and wait until it is closed."""
        await self.socket.disconnect(timeout=PATIENCE)

    async def until_ended(self) -> None:
        """Wait for the last answer's end, and for the messages after it."""
        await self.until(lambda page: bool(statuses(page)) and "streaming" not in statuses(page))
        await self.until(lambda page: text(page, "#announcer") not in ("", "Answering"))


def _sign_in(user: User) -> SessionBase:
    client = Client()
    client.force_login(user)
    return client.session


def _render(context: dict[str, Any]) -> str:
    from django.template.loader import render_to_string

    return render_to_string("conversations/_turns.html", context)


def statuses(page: Page) -> list[str]:
    return [str(mark["data-status"]) for mark in page.soup.select("#turns [data-status]")]


def text(page: Page, selector: str) -> str:
    found = page.soup.select_one(selector)
    return found.get_text(" ", strip=True) if found else ""


def followers() -> set[asyncio.Task[Any]]:
    """Return the tasks that follow an answer for a socket."""
    return {task for task in asyncio.all_tasks() if "_follow" in repr(task.get_coro())}


async def until_followed_anew(before: set[asyncio.Task[Any]]) -> None:
    """Wait until an answer is followed by a new task."""
    async with asyncio.timeout(PATIENCE):
        while not followers() - before:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def tab(user: Any, session: ChatSession) -> AsyncIterator[Tab]:
    opened = Tab(user, session)
    await opened.load()
    connected, _code = await opened.connect()
    assert connected
    try:
        yield opened
    finally:
        await opened.leave()
        async with asyncio.timeout(PATIENCE):
            await wait_for_all()


async def reloaded(session: ChatSession) -> str:
    context = await in_database(contexts.turns_context, session, None)
    return squeeze(await in_database(_render, context))


async def test_a_streamed_page_equals_a_reload(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until_ended()
        assert statuses(here.page) == ["completed"]
        assert "ten seconds" in text(here.page, ".prose")
        assert text(here.page, ".chips") == "1 handbook.txt"
        assert text(here.page, "#announcer").startswith("Quoted from 1 passage")
        assert "factory settings" in text(here.page, "#session-title")
        assert here.page.html("#turns") == await reloaded(session)


async def test_a_ping_is_answered(owner: User, session: ChatSession) -> None:
    async with tab(owner, session) as here:
        await here.send(action=PING)
        assert await here.socket.receive_from(timeout=PATIENCE) == PONG


async def test_an_answer_sends_one_row_of_the_list(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    others = [await in_database(services.create_session, owner, f"Chat {number}") for number in range(30)]
    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until_ended()
        rows = here.page.soup.select("#sessions .session")
        assert {str(row["id"]) for row in rows} == {f"session-{session.pk}"} and others
        sent = [str(row) for row in here.page.soup.select(".session-news")]
        assert sum(map(len, sent)) < 10_000


async def test_text_is_sent_at_most_once_per_interval(
    owner: User, session: ChatSession, fake_llm: FakeLLM, handbook: KnowledgeBase
) -> None:
    fake_llm.enqueue([piece for number in range(150) for piece in (TextPiece(f"word{number} "), 0.004)])
    async with tab(owner, session) as here:
        await here.ask(RESET)
        times: list[float] = []
        async with asyncio.timeout(PATIENCE):
            while "word149" not in here.page.html("#turns"):
                frame = await here.socket.receive_from(timeout=PATIENCE)
                here.page.apply(frame)
                times += [time.monotonic()] if frame.startswith(MARK) else []
    assert len(times) > 3
    assert len(times) <= (times[-1] - times[0]) / DELTA_INTERVAL + 3  # the first and the last aren't delayed


async def test_the_turn_is_shown_before_its_answer(owner: User, session: ChatSession, fake_llm: FakeLLM) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([go_on, TextPiece("late")])
    async with tab(owner, session) as here:
        await here.ask("Hello there, tell me about ports")
        await here.until(lambda page: "Hello there" in text(page, ".bubble"))
        assert statuses(here.page) == ["streaming"]
        await here.until(lambda page: "value" in page.soup.select("#parent-turn")[0].attrs)
        go_on.set()


async def test_stopping_keeps_the_text_so_far(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("The first half"), 30.0, TextPiece(" and the second.")])
    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until(lambda page: "first half" in text(page, ".prose"))
        await here.send(action="stop")
        await here.until_ended()
        assert statuses(here.page) == ["stopped"]
        assert text(here.page, ".outcome").startswith("Stopped")
        assert here.page.html("#turns") == await reloaded(session)


async def test_regenerating_and_editing_create_versions(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until_ended()
        message = await Message.objects.aget(role="assistant")
        await here.send(action="regenerate", message_id=message.pk)
        await here.until(lambda page: text(page, ".siblings") == "2/2")
        await here.until_ended()
        await here.send(action="edit", turn_id=message.turn_id, question="How many ports does the switch have?")
        await here.until(lambda page: text(page, ".siblings") == "3/3")
        await here.until_ended()
        assert text(here.page, ".bubble") == "How many ports does the switch have?"
        assert here.page.html("#turns") == await reloaded(session)


async def test_a_choice_answers_again_from_one_document(owner: User, session: ChatSession) -> None:
    base = await in_database(factories.make_knowledge_base, owner)
    for year, million in ((2022, "53.7"), (2023, "51.9")):
        passage = f"The revenue was {million} million euros."
        await in_database(index_document, base, (passage,), f"Annual report {year}.md")
    async with tab(owner, session) as here:
        await here.ask("What was the revenue in the annual report?")
        await here.until_ended()
        assert here.page.html("#turns") == await reloaded(session)
        chosen = here.page.soup.select(".choices button")[1]
        assert text(here.page, ".choices li:last-child") == "Annual report 2022.md"
        await here.send(**json.loads(str(chosen["hx-vals"])))
        await here.until(lambda page: text(page, ".siblings") == "2/2")
        await here.until_ended()
        assert "53.7 million" in text(here.page, ".prose") and "51.9" not in text(here.page, ".prose")
        assert here.page.html("#turns") == await reloaded(session)


@pytest.mark.parametrize("action", ["regenerate", "edit"])
async def test_an_answer_that_ends_before_it_is_followed_is_still_completed(
    owner: User, session: ChatSession, handbook: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    start = lifecycle.start_turn

    async def start_and_end(*given: Any) -> lifecycle.Started:
        started = await start(*given)
        await wait_for_all()
        return started

    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until_ended()
        message = await Message.objects.aget(role="assistant")
        monkeypatch.setattr(lifecycle, "start_turn", start_and_end)
        await here.send(action=action, message_id=message.pk, turn_id=message.turn_id, question=RESET)
        await here.until(lambda page: text(page, ".siblings") == "2/2")
        await here.until_ended()
        assert statuses(here.page) == ["completed"]
        assert here.page.html("#turns") == await reloaded(session)


async def test_a_reconnecting_page_gets_the_rest(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("One.\n\nTwo."), go_on, TextPiece("\n\nThree [1].")])
    first = Tab(owner, session)
    await first.load()
    await first.connect()
    await first.ask(RESET)
    await first.until(lambda page: "One." in text(page, ".prose"))
    await first.leave()
    async with tab(owner, session) as second:
        mark = second.page.soup.select_one("[data-status=streaming]")
        assert mark is not None
        await second.send(action="resume", seen=f"{mark['data-message']}:{mark['data-seq']}")
        await until_followed_anew(set())
        go_on.set()
        await second.until_ended()
        assert "One." in text(second.page, ".prose")
        assert "Three" in text(second.page, ".prose")
        assert second.page.html("#turns") == await reloaded(session)


async def test_a_page_that_loaded_while_its_answer_ended_gets_the_title_too(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    async with tab(owner, session) as first:
        await first.ask(RESET)
        await first.until_ended()
        title = text(first.page, "#session-title")
    assert title
    message = await Message.objects.aget(role="assistant")
    async with tab(owner, session) as second:
        await second.send(action="resume", seen=f"{message.pk}:1")
        await second.until(lambda page: text(page, "#session-title") == title)
        assert title in text(second.page, "#sessions")


async def test_an_answer_without_results_looks_the_same_live_and_stored(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    async with tab(owner, session) as here:
        await here.ask("What is the airspeed of an unladen swallow?")
        await here.until_ended()
        assert text(here.page, ".outcome").startswith("Nothing found")
        assert here.page.html("#turns") == await reloaded(session)


async def test_the_same_request_is_answered_once(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    request_id = str(uuid.uuid4())
    async with tab(owner, session) as here:
        for _attempt in range(2):
            await here.send(action="ask", question=RESET, request_id=request_id)
        await here.until_ended()
    assert await Message.objects.filter(role="assistant").acount() == 1


async def test_an_empty_question_is_refused_with_a_message(owner: User, session: ChatSession) -> None:
    async with tab(owner, session) as here:
        request_id = str(uuid.uuid4())
        await here.send(action="ask", question="  ", request_id=request_id)
        await here.until(lambda page: "Enter a question." in text(page, "#toasts"))
        assert here.page.soup.select_one("#refused")["data-request"] == request_id  # type: ignore[index]


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"action": "dance"},
        {"action": "ask"},
        {"action": "ask", "question": "x", "request_id": "not a uuid"},
        {"action": "regenerate", "message_id": "999999"},
        {"action": "edit", "turn_id": "x", "question": "?"},
        {"action": "stop", "message_id": "999999"},
        {"action": "resume", "seen": "x:y"},
        {"action": "continue", "message_id": None},
    ],
)
async def test_invalid_messages_are_reported_and_harmless(
    owner: User, session: ChatSession, form: dict[str, Any]
) -> None:
    async with tab(owner, session) as here:
        await here.send(**form)
        await here.until(lambda page: bool(text(page, "#toasts")))


@pytest.mark.parametrize("noise", ["not json", "[" * 100_000])
async def test_random_messages_get_a_response(owner: User, session: ChatSession, noise: str) -> None:
    async with tab(owner, session) as here:
        await here.socket.send_to(text_data=noise)
        await here.until(lambda page: bool(text(page, "#toasts")))


async def test_answers_of_other_users_cannot_be_followed(
    owner: User, stranger: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until_ended()
    message = await Message.objects.aget(role="assistant")
    theirs = await in_database(services.create_session, stranger)
    for form in (
        {"action": "regenerate", "message_id": message.pk},
        {"action": "edit", "turn_id": message.turn_id, "question": "mine"},
        {"action": "stop", "message_id": message.pk},
        {"action": "resume", "seen": f"{message.pk}:0"},
        {"action": "continue", "message_id": message.pk},
        {"action": "ask", "question": "mine", "parent_turn_id": message.turn_id},
    ):
        async with tab(stranger, theirs) as here:
            await here.send(**form)
            await here.until(lambda page: bool(text(page, "#toasts")))
            assert statuses(here.page) == []
    assert await Message.objects.filter(role="assistant").acount() == 1


@pytest.mark.parametrize("who", ["stranger", "anonymous"])
async def test_only_the_owner_can_connect(owner: User, stranger: User, session: ChatSession, who: str) -> None:
    visitor = Tab(stranger if who == "stranger" else AnonymousUser(), session)
    assert await visitor.socket.connect(timeout=PATIENCE) == (False, 4404)


@pytest.mark.parametrize("origin", ["https://evil.example", "https://rag.example", "http://rag.example:8080"])
async def test_connections_from_other_origins_are_refused(owner: User, session: ChatSession, origin: str) -> None:
    foreign = Tab(owner, session, {"host": "rag.example", "origin": origin})
    assert await foreign.socket.connect(timeout=PATIENCE) == (False, 4403)


@pytest.mark.parametrize(
    ("scheme", "proxy", "trusted", "let_in"),
    [("http", "", False, True), ("http", "https", True, False), ("https", "https", True, True),
     ("https", "https", False, False)],
)  # fmt: skip
async def test_the_origin_must_have_the_scheme_of_the_site(
    owner: User, session: ChatSession, settings: Any, scheme: str, proxy: str, trusted: bool, let_in: bool
) -> None:
    settings.BEHIND_TLS = trusted
    headers = {"host": "rag.example", "origin": f"{scheme}://rag.example", "x-forwarded-proto": proxy}
    own = Tab(owner, session, headers)
    assert (await own.connect())[0] == let_in
    if let_in:
        await own.leave()


@pytest.mark.parametrize("path", ["/ws/nowhere/", "/ws/sessions/none/", "/"])
async def test_a_socket_with_an_unknown_path_is_refused(path: str) -> None:
    socket = WebsocketCommunicator(websockets, path)
    connected, _code = await socket.connect(timeout=PATIENCE)
    assert not connected


async def test_disconnecting_stops_listening_but_not_the_turn(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("Begun"), go_on, TextPiece(" and ended.")])
    here = Tab(owner, session)
    await here.load()
    await here.connect()
    await here.ask(RESET)
    await here.until(lambda page: "Begun" in text(page, ".prose"))
    await here.leave()
    assert not followers()
    go_on.set()
    await wait_for_all()
    message = await Message.objects.aget(role="assistant")
    assert (message.status, message.content) == ("completed", "Begun and ended.")


@pytest.mark.usefixtures("told_only")
async def test_signing_out_closes_only_the_sockets_of_that_sign_in(
    owner: User, session: ChatSession, fake_llm: FakeLLM
) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("Ten seconds. "), go_on, TextPiece("That is all.")])
    async with tab(owner, session) as here, tab(owner, session) as elsewhere:
        await here.ask(RESET)
        await here.until(lambda page: "Ten seconds" in text(page, ".prose"))
        request = HttpRequest()
        request.session = here.socket.scope["session"]
        await sync_to_async(logout)(request)
        await closed(here)
        await elsewhere.send(action="resume", seen="")
        assert await elsewhere.socket.receive_nothing(0.2)
        go_on.set()
    assert [answer.status async for answer in Message.objects.filter(role="assistant")] == ["completed"]


@pytest.fixture
def told_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable polling, so that sockets are only closed by notifications."""
    monkeypatch.setattr(stream_auth, "INTERVAL", 1000)


@pytest.mark.usefixtures("told_only")
@pytest.mark.parametrize("how", ["deactivated", "another password"])
async def test_sockets_are_closed_as_soon_as_access_is_lost(
    owner: User, colleague: User, session: ChatSession, fake_llm: FakeLLM, how: str
) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("Ten seconds. "), go_on, TextPiece("That is all.")])
    others = await in_database(services.create_session, colleague)
    async with tab(owner, session) as here, tab(owner, session) as silent, tab(colleague, others) as unconcerned:
        await here.ask(RESET)
        await here.until(lambda page: "Ten seconds" in text(page, ".prose"))
        await sync_to_async(end_sign_in)(owner, here.socket.scope["session"], how)
        await closed(here)
        await closed(silent)
        go_on.set()
        await wait_for_all()
        assert await here.socket.receive_nothing()
        await unconcerned.send(action="resume", seen="")
        assert await unconcerned.socket.receive_nothing(0.2)


async def test_signing_in_and_other_user_changes_close_no_socket(owner: User, session: ChatSession) -> None:
    async with tab(owner, session) as here:
        await sync_to_async(Client().force_login)(owner)
        owner.first_name = "Olga"
        await owner.asave()
        await here.send(action="resume", seen="")
        assert await here.socket.receive_nothing(0.2)


@pytest.mark.usefixtures("told_only")
@pytest.mark.parametrize("how", ["expired", "deactivated", "another password"])
async def test_an_invalid_sign_in_cannot_ask(owner: User, session: ChatSession, how: str) -> None:
    async with tab(owner, session) as here:
        await in_database(end_sign_in, owner, here.socket.scope["session"], how)
        await here.ask(RESET)
        await closed(here)
    assert not await Message.objects.aexists()


def end_sign_in(user: User, session: SessionBase, how: str) -> None:
    if how == "expired":
        session.delete()
    elif how == "deactivated":
        user.is_active = False
    else:
        user.set_password("another")
    user.save()


async def closed(here: Tab, code: int = 4401) -> None:
    """Wait for the socket to close, skipping earlier messages."""
    async with asyncio.timeout(PATIENCE):
        while (sent := await here.socket.receive_output(timeout=PATIENCE))["type"] != "websocket.close":
            pass
    assert sent["code"] == code
