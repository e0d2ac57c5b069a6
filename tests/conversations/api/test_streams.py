"""Answers as server-sent events over HTTP: asking, resuming, stopping and disconnecting."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from django.test import AsyncClient
from pytest_django import Settings

from conversations.api import streams
from conversations.events import Delta, Event
from conversations.models import ChatSession, Message, Turn
from conversations.turns import lifecycle
from conversations.turns.live_log import with_silences
from knowledge.models import KnowledgeBase
from ragsite.accounts.tokens import create_token
from ragsite.db import in_database
from ragsite.llm.errors import StreamCut
from ragsite.llm.types import TextPiece, ThinkPiece
from tests import factories
from tests.conversations.records import make_session, make_turn
from tests.conversations.sse_client import Frame, decode
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"


@pytest.fixture
async def client(owner: User) -> AsyncIterator[AsyncClient]:
    client = AsyncClient()
    await client.aforce_login(owner)
    yield client
    await wait_for_all()


def content(session: ChatSession) -> str:
    return f"/api/chat/sessions/{session.pk}/content"


async def post(client: AsyncClient, url: str, body: Any, **headers: str) -> Any:
    return await client.post(url, json.dumps(body), content_type="application/json", headers=headers)


async def text_of(response: Any) -> str:
    assert isinstance(response, StreamingHttpResponse), response.content
    assert response["Content-Type"] == "text/event-stream; charset=utf-8"
    return b"".join([chunk async for chunk in response]).decode()


async def frames_of(response: Any) -> list[Frame]:
    return decode(await text_of(response))


def meaning(frames: list[Frame]) -> list[Any]:
    """Return frames for comparison, since events from the database have their keys in another order."""
    told = [(frame.id, json.loads(frame.data)) for frame in frames]
    return [
        (seq, body | {"message": json.loads(body["message"]) if body["step"] in (0, 8, "done") else body["message"]})
        for seq, body in told
    ]


def bodies(frames: list[Frame]) -> list[dict[str, Any]]:
    return [json.loads(frame.data) for frame in frames]


async def test_asking_streams_steps_then_blocks_then_the_end(
    client: AsyncClient, handbook: KnowledgeBase, session: ChatSession
) -> None:
    frames = await frames_of(await post(client, content(session), {"content": RESET}, accept="text/event-stream"))
    assert [int(frame.id) for frame in frames] == list(range(1, len(frames) + 1))
    steps = bodies(frames)
    assert steps[0]["step"] == 0 and json.loads(steps[0]["message"])["session_id"] == session.pk
    assert [step["step"] for step in steps if step["status"] == "completed"][1:-1] == [1, 2, 3, 4, 5, 6, 7, 7, 9]
    blocks = [json.loads(step["message"]) for step in steps if step["step"] == 8]
    text = "".join(block.get("text", "") for block in blocks if block["t"] == "delta")
    assert "Hold the reset button for ten seconds" in text and "[1]" in text
    assert any(block["t"] == "sources" for block in blocks)
    assert steps[-1]["step"] == "done" and steps[-1]["status"] == "completed"
    assert (await Message.objects.aget(turn__session=session, role="assistant")).status == "completed"


@pytest.mark.parametrize("name", ["content", "question"])
async def test_the_question_has_two_names(client: AsyncClient, session: ChatSession, name: str) -> None:
    await text_of(await post(client, content(session), {name: "Hello!"}))
    assert (await Message.objects.aget(turn__session=session, role="user")).content == "Hello!"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "empty"),
        ({"content": "  "}, "blank"),
        ({"content": "\u200b\u00ad"}, "blank"),
        ({"content": "x" * 9000}, "no more than"),
        ({"content": 5}, "content"),
        ({"content": "x", "request_id": "not a uuid"}, "request_id"),
        ({"content": "x", "request_id": 5}, "request_id"),
        ({"content": "x", "parent_turn_id": "1"}, "parent_turn_id"),
    ],
)
async def test_an_invalid_question_is_400_with_a_message(
    client: AsyncClient, session: ChatSession, body: dict[str, Any], words: str
) -> None:
    response = await post(client, content(session), body, accept="text/event-stream")
    assert response.status_code == 400 and response["Content-Type"] == "application/json"
    assert words in response.json()["detail"] and response.json()["code"]
    assert not await Turn.objects.aexists()


@pytest.mark.parametrize("route", ["content", "conversation"])
async def test_an_unknown_parent_turn_is_404(client: AsyncClient, session: ChatSession, route: str) -> None:
    address, name = (content(session), "content") if route == "content" else (CONVERSATION, "question")
    response = await post(client, address, {name: "x", "parent_turn_id": 999_999})
    assert response.status_code == 404 and "not in this chat" in response.json()["detail"]
    assert await ChatSession.objects.acount() == 1 and not await Turn.objects.aexists()


async def test_broken_json_is_400(client: AsyncClient, session: ChatSession) -> None:
    response = await client.post(content(session), "{", content_type="application/json")
    assert response.status_code == 400 and response.json()["code"] == "parse_error"


async def test_too_many_answers_at_once_is_429(
    client: AsyncClient, session: ChatSession, settings: Any, fake_llm: FakeLLM
) -> None:
    settings.MAX_CONCURRENT_TURNS = 1
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("Hello"), go_on])
    first = await post(client, content(session), {"content": "Hi there"})
    refused = await post(client, content(session), {"content": "And you?"})
    assert refused.status_code == 429 and refused.json()["code"] == "too_many_turns" and refused.json()["detail"]
    go_on.set()
    await text_of(first)


async def test_the_same_request_id_streams_one_turn_twice(client: AsyncClient, session: ChatSession) -> None:
    body = {"content": "Hello!", "request_id": str(uuid.uuid4())}
    first = await frames_of(await post(client, content(session), body))
    second = await frames_of(await post(client, content(session), body))
    assert meaning(first) == meaning(second) and await Turn.objects.acount() == 1


async def test_a_request_id_of_another_chat_is_409(client: AsyncClient, owner: User, session: ChatSession) -> None:
    body = {"content": "Hello!", "request_id": str(uuid.uuid4())}
    await text_of(await post(client, content(session), body))
    other = await in_database(make_session, owner)
    assert (await post(client, content(other), body)).status_code == 409


async def test_a_named_parent_makes_a_branch(client: AsyncClient, session: ChatSession) -> None:
    first = await in_database(make_turn, session)
    await in_database(make_turn, session, parent=first.turn)
    await text_of(await post(client, content(session), {"content": "Hello!", "parent_turn_id": first.turn_id}))
    assert (await Turn.objects.alatest("id")).parent_turn_id == first.turn_id
    await text_of(await post(client, content(session), {"content": "Hello!", "parent_turn_id": None}))
    assert (await Turn.objects.alatest("id")).parent_turn_id is None


@pytest.mark.parametrize("log", ["kept", "emptied"])
@pytest.mark.parametrize("status", ["completed", "stopped", "failed", "interrupted"])
async def test_a_client_that_received_the_end_is_not_kept_waiting(
    client: AsyncClient, session: ChatSession, status: str, log: str
) -> None:
    message = await in_database(make_turn, session)
    changed = {"status": status} | ({"stream_log": []} if log == "emptied" else {})
    await Message.objects.filter(pk=message.pk).aupdate(**changed)
    answer = await client.get(f"{content(session)}/{message.pk}/stream", headers={"last-event-id": "6"})
    assert (message.last_seq, answer.status_code, answer.content) == (6, 204, b"")


async def test_an_answer_stopped_by_another_process_ends_for_reconnecting_clients(
    client: AsyncClient, session: ChatSession
) -> None:
    """Its writer hasn't stored the end yet, or never will; the client has received everything stored, but no end."""
    message = await in_database(make_turn, session)
    cut = {"status": "stopped", "stream_log": message.stream_log[:-1], "last_seq": 5}
    await Message.objects.filter(pk=message.pk).aupdate(**cut)
    url = f"{content(session)}/{message.pk}/stream"
    [done] = await frames_of(await client.get(url, headers={"last-event-id": "5"}))
    assert (done.id, json.loads(done.data)["step"], json.loads(done.data)["status"]) == ("6", "done", "stopped")
    assert (await client.get(url, headers={"last-event-id": "6"})).status_code == 204


async def test_resuming_returns_exactly_the_rest(
    client: AsyncClient, handbook: KnowledgeBase, session: ChatSession
) -> None:
    whole = await frames_of(await post(client, content(session), {"content": RESET}))
    message = await Message.objects.aget(turn__session=session, role="assistant")
    url = f"{content(session)}/{message.pk}/stream"
    for seen in (0, 1, 5, len(whole) - 1):
        headers = {"last-event-id": str(seen)} if seen else {}
        rest = await frames_of(await client.get(url, headers=headers))
        assert meaning(rest) == meaning(whole[seen:])
    assert (await client.get(url, headers={"last-event-id": str(len(whole))})).status_code == 204


async def test_two_listeners_get_the_same_events(client: AsyncClient, session: ChatSession, fake_llm: FakeLLM) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([ThinkPiece("Hm."), go_on, TextPiece("One "), 0.1, TextPiece("two."), 0.1])
    asking = await post(client, content(session), {"content": "Hi there"})
    message = await Message.objects.aget(turn__session=session, role="assistant")
    assert message.status == "streaming"
    listening = await client.get(f"{content(session)}/{message.pk}/stream")
    go_on.set()
    first, second = await asyncio.gather(frames_of(asking), frames_of(listening))
    assert meaning(first) == meaning(second) and bodies(first)[-1]["status"] == "completed"


async def test_a_disconnecting_client_ends_nothing(
    client: AsyncClient, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("One "), 0.2, TextPiece("two.")])
    response = await post(client, content(session), {"content": "Hi there"})
    parts = aiter(response)
    await anext(parts)
    await parts.aclose()
    await wait_for_all()
    message = await Message.objects.aget(turn__session=session, role="assistant")
    assert message.status == "completed" and message.content == "One two."
    frames = await frames_of(await client.get(f"{content(session)}/{message.pk}/stream"))
    assert bodies(frames)[-1]["step"] == "done"


async def test_the_question_of_a_client_that_disconnects_at_once_is_asked(
    client: AsyncClient, session: ChatSession
) -> None:
    asking = asyncio.create_task(post(client, content(session), {"content": "Hello!"}))
    while not lifecycle._runners:
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    await wait_for_all()
    assert (await Message.objects.aget(turn__session=session, role="assistant")).status == "completed"


async def test_a_failing_model_is_an_error_step_and_the_text_so_far_is_kept(
    client: AsyncClient, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("One "), StreamCut()])
    steps = bodies(await frames_of(await post(client, content(session), {"content": "Hi there"})))
    [error] = [step for step in steps if step["step"] == "error"]
    assert error == {"step": "error", "status": "error", "message": str(StreamCut())}
    assert steps[-1]["status"] == "failed"
    assert (await Message.objects.aget(turn__session=session, role="assistant")).content.strip() == "One"


@pytest.mark.parametrize("given", ["abc", "-1", "1.5", "³", "9" * 5000])
async def test_a_bad_last_event_id_is_400(client: AsyncClient, session: ChatSession, given: str) -> None:
    message = await in_database(make_turn, session)
    url = f"{content(session)}/{message.pk}/stream"
    assert (await client.get(url, headers={"last-event-id": given})).status_code == 400


async def test_resuming_without_stored_events_is_410(client: AsyncClient, session: ChatSession) -> None:
    message = await in_database(make_turn, session, stream_log=[], last_seq=40)
    url = f"{content(session)}/{message.pk}/stream"
    gone = await client.get(url, headers={"last-event-id": "20"})
    assert gone.status_code == 410 and gone.json()["code"] == "log_emptied"
    assert bodies(await frames_of(await client.get(url)))[-1]["step"] == "done"


async def test_an_answer_is_streamed_under_its_own_session_only(
    client: AsyncClient, owner: User, session: ChatSession
) -> None:
    message = await in_database(make_turn, session)
    question = await message.turn.messages.aget(role="user")
    other = await in_database(make_session, owner)
    assert (await client.get(f"{content(other)}/{message.pk}/stream")).status_code == 404
    assert (await client.get(f"{content(session)}/{question.pk}/stream")).status_code == 404


async def test_silence_is_filled_with_comments(
    client: AsyncClient, session: ChatSession, fake_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert streams.HEARTBEAT_SECONDS == 15
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.05)
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("One."), go_on])
    text = ""
    async for part in await post(client, content(session), {"content": "Hi there"}):
        text += part.decode()
        if text.count(": heartbeat\n\n") == 2:
            go_on.set()
    assert bodies(decode(text))[-1]["status"] == "completed"


async def test_closing_while_silent_ends_the_source() -> None:
    closed = asyncio.Event()

    async def events() -> AsyncIterator[list[Event]]:
        try:
            yield [Delta(seq=1, id="b1", text="x")]
            await asyncio.sleep(60)
        finally:
            closed.set()

    beating = with_silences(events(), 0.01)
    assert [await anext(beating), await anext(beating)] == [[Delta(seq=1, id="b1", text="x")], []]
    await beating.aclose()
    assert closed.is_set()


async def test_stopping_keeps_the_text_so_far(client: AsyncClient, session: ChatSession, fake_llm: FakeLLM) -> None:
    fake_llm.enqueue([TextPiece("One. "), 30.0, TextPiece("Two.")])
    asking = await post(client, content(session), {"content": "Hi there"})
    message = await Message.objects.aget(turn__session=session, role="assistant")
    parts = aiter(asking)
    seen = ""
    while "One." not in seen:
        seen += (await anext(parts)).decode()
    url = f"/api/chat/messages/{message.pk}/stop"
    assert (await client.post(url)).json()["success"] is True
    seen += "".join([part.decode() async for part in parts])
    assert bodies(decode(seen))[-1]["status"] == "stopped"
    await message.arefresh_from_db()
    assert message.status == "stopped" and message.content.strip() == "One."
    again = await client.post(url)
    assert again.status_code == 200 and again.json()["success"] is False


async def test_regenerating_makes_a_sibling(client: AsyncClient, session: ChatSession) -> None:
    first = await in_database(make_turn, session)
    answer = await in_database(make_turn, session, "Hello!", "Hi.", parent=first.turn)
    response = await client.post(f"/api/chat/messages/{answer.pk}/regenerate")
    assert response.status_code == 202
    body = response.json()
    assert body["success"] is True and body["parent_turn_id"] == first.turn_id and body["turn_id"] != answer.turn_id
    frames = await frames_of(await client.get(body["stream"]))
    assert bodies(frames)[-1]["status"] == "completed"
    assert (await Message.objects.aget(pk=body["user_message_id"])).content == "Hello!"
    await answer.arefresh_from_db()
    assert answer.content == "Hi."


async def test_steps_are_named_in_the_readers_language(client: AsyncClient, session: ChatSession) -> None:
    asked: list[str] = []
    start = lifecycle.start_turn

    async def noting(user: Any, ask: lifecycle.Ask) -> lifecycle.Started:
        asked.append(ask.language)
        return await start(user, ask)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifecycle, "start_turn", noting)
        await text_of(
            await post(client, content(session), {"content": "Hello!"}, **{"accept-language": "zh-CN,zh;q=0.9"})
        )
    assert asked == ["zh-hans"]


# --- A conversation in prefix frames -----------------------------------------------------------------------

CONVERSATION = "/api/chat/conversation"


async def test_a_conversation_creates_a_session(client: AsyncClient, handbook: KnowledgeBase, owner: User) -> None:
    frames = [frame.data for frame in await frames_of(await post(client, CONVERSATION, {"question": RESET}))]
    session = await ChatSession.objects.aget(owner=owner)
    assert frames[0] == f"SESSION:{session.pk}" and frames[-1] == "DONE:"
    text = "".join(frame.removeprefix("CONTENT:") for frame in frames if frame.startswith("CONTENT:"))
    assert "Hold the reset button for ten seconds" in text
    sources = [json.loads(frame.removeprefix("SOURCE:")) for frame in frames if frame.startswith("SOURCE:")]
    assert sources[0]["filename"] == "handbook.txt" and sources[0]["index"] == 1


async def test_a_conversation_shows_activity_before_there_is_text(
    client: AsyncClient, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([go_on, TextPiece("Hold the button [1].")])
    seen = before = ""
    asyncio.get_running_loop().call_later(30, go_on.set)  # so that it ends even if nothing is sent before
    async for part in await post(client, CONVERSATION, {"question": RESET}):
        seen += part.decode()
        if 'STEP:{"key":"generate"' in seen and not before:
            before = seen
            go_on.set()
    assert before.startswith("id: 1\ndata: SESSION:") and "CONTENT:" not in before
    assert before.index('STEP:{"key":"understand"') < before.index('STEP:{"key":"vector_search"')
    assert {frame.data.partition(":")[0] for frame in decode(seen)} == {
        "SESSION",
        "MESSAGE",
        "STEP",
        "SOURCE",
        "CONTENT",
        "DONE",
    }


async def test_a_conversation_includes_the_filters_reason_for_a_passage(
    client: AsyncClient, handbook: KnowledgeBase, fake_llm: FakeLLM, settings: Settings
) -> None:
    settings.FILTER_CONCURRENCY = 1
    fake_llm.serves.add("filter")
    verdict = {"keep": True, "key_passage": "", "reason": "It says how."}
    fake_llm.enqueue(json.dumps(verdict), *['{"keep": false, "reason": "no"}'] * 3, "Hold the button [1].")
    body = {"question": RESET, "use_insert_block": True}
    frames = [frame.data for frame in await frames_of(await post(client, CONVERSATION, body))]
    [source] = [json.loads(frame.removeprefix("SOURCE:")) for frame in frames if frame.startswith("SOURCE:")]
    assert source["reason"] == "It says how."
    message = await Message.objects.aget(role="assistant")
    [stored] = (await client.get(f"/api/chat/messages/{message.pk}/citations")).json()["results"]
    assert stored["reason"] == "It says how." and stored["cited"]


async def test_a_conversation_includes_the_number_of_passages(
    client: AsyncClient, handbook: KnowledgeBase, settings: Settings
) -> None:
    settings.MERGE_NEIGHBOURS = False
    for top_n in (1, 3):
        body = {"question": "How do I restore the factory settings of the switch?", "rerank_top_n": top_n}
        frames = [frame.data for frame in await frames_of(await post(client, CONVERSATION, body))]
        assert sum(frame.startswith("SOURCE:") for frame in frames) == top_n
    assert (await post(client, CONVERSATION, {"question": "Hi", "rerank_top_n": 51})).status_code == 400


async def test_a_conversation_continues_in_its_session(client: AsyncClient, session: ChatSession) -> None:
    for number in range(2):
        body = {"question": f"Hello {number}", "session_id": session.pk}
        frames = await frames_of(await post(client, CONVERSATION, body))
        assert frames[0].data == f"SESSION:{session.pk}"
    first, second = [turn async for turn in Turn.objects.filter(session=session)]
    assert second.parent_turn_id == first.pk


@pytest.mark.parametrize(("thinking", "expected"), [(True, ["THINK:Hm."]), (False, [])])
async def test_thinking_when_asked_for(
    client: AsyncClient, fake_llm: FakeLLM, thinking: bool, expected: list[str]
) -> None:
    fake_llm.enqueue([ThinkPiece("Hm."), TextPiece("Hello.")])
    body = {"question": "Hi there", "thinking": thinking, "rerank_top_n": 5, "use_insert_block": True}
    frames = [frame.data for frame in await frames_of(await post(client, CONVERSATION, body))]
    assert [frame for frame in frames if frame.startswith("THINK:")] == expected


async def test_a_failure_is_reported_before_the_end(client: AsyncClient, fake_llm: FakeLLM) -> None:
    fake_llm.enqueue([TextPiece("One "), StreamCut()])
    frames = [frame.data for frame in await frames_of(await post(client, CONVERSATION, {"question": "Hi there"}))]
    assert frames[-2:] == [f"ERROR:{StreamCut()}", "DONE:"]


@pytest.mark.parametrize("body", [{}, {"question": ""}, {"question": "Hi", "session_id": "abc"}])
async def test_a_bad_conversation_is_400_and_leaves_no_session(client: AsyncClient, body: dict[str, Any]) -> None:
    assert (await post(client, CONVERSATION, body)).status_code == 400
    assert not await ChatSession.objects.aexists()


# --- Access ---------------------------------------------------------------------------------------


async def test_strangers_and_colleagues_get_404(owner: User, colleague: User, stranger: User) -> None:
    session = await in_database(make_session, owner)
    answer = await in_database(make_turn, session)
    for user in (colleague, stranger):
        client = AsyncClient()
        await client.aforce_login(user)
        assert (await client.get(content(session))).status_code == 404
        for body in ({"content": "Hi"}, {}):
            assert (await post(client, content(session), body)).status_code == 404
        assert (await client.get(f"{content(session)}/{answer.pk}/stream")).status_code == 404
        assert (await post(client, CONVERSATION, {"question": "Hi", "session_id": session.pk})).status_code == 404
        for action in ("stop", "regenerate"):
            response = await client.post(f"/api/chat/messages/{answer.pk}/{action}")
            assert response.status_code == 404 and response.json()["code"] == "not_found"
    assert await Turn.objects.acount() == 1


async def test_the_unknown_get_401(owner: User) -> None:
    session = await in_database(make_session, owner)
    answer = await in_database(make_turn, session)
    client = AsyncClient()
    assert (await post(client, content(session), {"content": "Hi"})).status_code == 401
    assert (await client.get(f"{content(session)}/{answer.pk}/stream")).status_code == 401
    assert (await post(client, CONVERSATION, {"question": "Hi"})).status_code == 401
    for action in ("stop", "regenerate"):
        assert (await client.post(f"/api/chat/messages/{answer.pk}/{action}")).status_code == 401
    assert await Turn.objects.acount() == 1


async def test_a_token_can_ask_and_a_page_needs_csrf(owner: User, session: ChatSession) -> None:
    key = await in_database(create_token, owner, "test")
    program = AsyncClient(enforce_csrf_checks=True)
    answer = await post(program, content(session), {"content": "Hello!"}, authorization=f"Token {key}")
    assert decode(await text_of(answer))
    page = AsyncClient(enforce_csrf_checks=True)
    await page.aforce_login(owner)
    assert (await post(page, content(session), {"content": "Hello!"})).status_code == 403
    assert await Turn.objects.acount() == 1
    await wait_for_all()


async def test_asking_in_a_deleted_chat_is_404(client: AsyncClient, owner: User) -> None:
    session = await in_database(make_session, owner, status="deleted")
    assert (await post(client, content(session), {"content": "Hi"})).status_code == 404


async def test_only_known_methods(client: AsyncClient, session: ChatSession) -> None:
    assert (await client.delete(content(session))).status_code == 405
    assert (await client.options(content(session))).status_code == 200


async def test_another_users_base_is_not_searched(client: AsyncClient, session: ChatSession) -> None:
    other = await in_database(factories.make_user)
    base = await in_database(factories.make_knowledge_base, other, "Theirs")
    document = await in_database(factories.make_document, base)
    await in_database(factories.make_chunk, document, "Hold the reset button for ten seconds.")
    text = await text_of(await post(client, content(session), {"content": RESET}))
    assert "ten seconds" not in text
