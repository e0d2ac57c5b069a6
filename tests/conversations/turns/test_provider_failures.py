"""Tests of failures of a provider in a turn: the partial answer is kept, and the page offers to retry."""

import asyncio
import html
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse

from conversations.events import DoneEvent, ErrorEvent
from conversations.models import ChatSession, Message, ModelProfile
from conversations.turns import broker, lifecycle
from knowledge.models import KnowledgeBase
from ragsite.llm import chat
from ragsite.llm.stream import reader
from ragsite.llm.stream.sse import SSEDecoder
from tests.conversations.conftest import run_turn
from tests.fakes.provider import FakeProvider
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How do I restore the factory settings of the switch?"


def frame(text: str, **choice: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}} | choice]}).encode() + b"\n\n"


END = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
HELLO = frame("Hold the button [1]. ")


@pytest.fixture
async def profile(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> ModelProfile:
    """The provider, used only for answers; rules replace side calls."""
    monkeypatch.setattr(chat, "MAX_WAIT", 0.7)
    monkeypatch.setattr(reader, "MAX_TEXT", 150)
    monkeypatch.setattr(
        reader, "SSEDecoder", partial(SSEDecoder, limit=80_000)
    )  # keeps the test of an oversized event fast
    return await ModelProfile.objects.acreate(
        purpose="answer", base_url=provider.base_url, own_network=True, model="m", idle_timeout=30, total_timeout=60
    )


Misbehave = Callable[[FakeProvider], None]


def times(count: int, action: Misbehave) -> Misbehave:
    def act(provider: FakeProvider) -> None:
        for _ in range(count):
            action(provider)

    return act


# name → (behaviour, text kept, code of the error; None for an answer that counts as complete)
FAILURES: dict[str, tuple[Misbehave, str, str | None]] = {
    "429 with a short Retry-After": (lambda p: p.fail(429, headers={"Retry-After": "0.1"}), "automatic", None),
    "429 with a long Retry-After": (lambda p: p.fail(429, headers={"Retry-After": "90"}), "", "rate_limited"),
    "5xx once": (lambda p: p.fail(502), "automatic", None),
    "5xx for good": (times(3, lambda p: p.fail(500)), "", "provider_error"),
    "no credit": (lambda p: p.fail(402), "", "unauthorized"),
    "refuses the key": (lambda p: p.fail(401), "", "unauthorized"),
    "silence before the answer": (lambda p: p.reply("late", first_delay=60), "", "timed_out"),
    "silence within": (lambda p: p.garbage(HELLO, hold_open=60), "Hold the button [1].", "timed_out"),
    "cuts the stream": (lambda p: p.cut_after(3), "One two three", "stream_cut"),
    "no [DONE], finished": (lambda p: p.garbage(HELLO, END), "Hold the button [1].", None),
    "no [DONE], not finished": (lambda p: p.garbage(HELLO), "Hold the button [1].", "stream_cut"),
    "garbage": (lambda p: p.garbage(b"\x00\xff\xfe garbage"), "", "bad_reply"),
    "garbage within": (lambda p: p.garbage(HELLO, b"data: oops\n\n"), "Hold the button [1].", "bad_reply"),
    "a web page": (lambda p: p.garbage(b"<html>Welcome</html>", content_type="text/html"), "", "bad_reply"),
    "wrong JSON": (lambda p: p.garbage(b'{"object": "list", "data": []}'), "", "bad_reply"),
    "half UTF-8": (lambda p: p.garbage(frame("x")[:-6] + b"\xe6\x8c\n\n", END), "", "bad_reply"),
    "UTF-8 cut by chunks": (
        lambda p: p.garbage(*[bytes([b]) for b in 'data: {"choices":[{"delta":{"content":"按住"}}]}\n\n'.encode()],
                            END),
        "按住", None,
    ),
    "half an emoji": (lambda p: p.garbage(frame("a\ud83d"), frame("b\x00"), END), "a\ufffdb", None),
    "a giant frame": (
        lambda p: p.garbage(HELLO, b"data: ", *[b"x" * 10_000] * 9), "Hold the button [1].", "bad_reply",
    ),
    "an error within": (
        lambda p: p.garbage(HELLO, b'data: {"error": {"message": "overloaded"}}\n\n'), "Hold the button [1].",
        "provider_error",
    ),
    "nothing but thinking": (lambda p: p.reply("", "Hm."), "", "no_answer"),
    "no end": (lambda p: p.garbage(*[frame("on and ")] * 30), "on and on", "answer_too_long"),
    "its length is used up": (lambda p: p.reply("Hold the", finish="length"), "reached the length", None),
    "a content filter": (lambda p: p.reply("Hold the", finish="content_filter"), "content filter ended", None),
    "cut within a marker": (lambda p: p.garbage(frame("Hold [")), "Hold [", "stream_cut"),
    "cut within a table": (lambda p: p.garbage(frame("Ports:\n\n| a | b |\n|---|---|\n| 1 | 2")), "1 | 2",
                           "stream_cut"),
    "cut within an event": (
        lambda p: p.garbage(frame('[{"t":"block_start","id":"b1","kind":"text"},{"t":"delta","text":"Hold it')),
        "Hold it", "stream_cut",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
async def test_turn_keeps_the_partial_answer_and_can_be_retried(
    owner: User, handbook: KnowledgeBase, session: ChatSession, provider: FakeProvider, profile: ModelProfile, name: str
) -> None:
    misbehave, kept, code = FAILURES[name]
    misbehave(provider)
    if name.startswith("silence"):
        profile.idle_timeout = 2
        await profile.asave()
    async with asyncio.timeout(60):
        events = await run_turn(owner, session, QUESTION)
    message = await Message.objects.aget(turn__session=session, role="assistant")
    done = events[-1]
    assert isinstance(done, DoneEvent) and done.status == message.status
    if code is None:
        assert message.status == Message.Status.COMPLETED and not message.error_code
        assert (kept in message.content) if kept != "automatic" else message.content.startswith("The sources say")
        return
    assert (message.status, message.error_code) == (Message.Status.FAILED, code)
    if kept:
        assert message.content.endswith(kept)
    else:
        assert message.content.startswith("**The language model did not answer.")
    [error] = [event for event in events if isinstance(event, ErrorEvent)]
    assert error.message == message.error_message and error.message.startswith("The ")
    assert not any(word in error.message for word in ("Traceback", "Exception", "httpx", "None", "127.0.0.1"))
    client = AsyncClient()
    await client.aforce_login(owner)
    page = html.unescape((await client.get(reverse("session", args=[session.pk]))).content.decode())
    assert reverse("regenerate", args=[message.pk]) in page and error.message in page


async def test_unreachable_provider(
    owner: User, handbook: KnowledgeBase, session: ChatSession, profile: ModelProfile
) -> None:
    profile.base_url = "http://127.0.0.1:1/v1"
    await profile.asave()
    await run_turn(owner, session, QUESTION)
    message = await Message.objects.aget(turn__session=session, role="assistant")
    assert (message.status, message.error_code) == (Message.Status.FAILED, "unreachable")
    assert "can't be reached" in message.error_message


async def test_provider_errors_are_shown_only_to_staff(
    owner: User, handbook: KnowledgeBase, session: ChatSession, provider: FakeProvider, profile: ModelProfile,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    secret = "boom in /srv/llm/worker.py"
    provider.fail(401, {"error": {"message": secret}})
    events = await run_turn(owner, session, QUESTION)
    message = await Message.objects.aget(turn__session=session, role="assistant")
    assert secret in caplog.text

    async def shown(user: User) -> str:
        client = AsyncClient()
        await client.aforce_login(user)
        paths = (
            reverse("session", args=[session.pk]),
            reverse("trace", args=[message.turn_id]),
            f"/api/chat/messages/{message.pk}/trace",
            f"/api/chat/messages/{message.pk}",
        )
        return "".join([(await client.get(path)).content.decode() for path in paths])

    where = provider.base_url.removesuffix("/v1").removeprefix("http://")
    page = await shown(owner)
    assert "rejected this site" in page
    for text in (page, json.dumps([event.to_dict() for event in events]), message.error_message):
        assert secret not in text and where not in text
    administrator = await User.objects.acreate_superuser("administrator")
    page = await shown(administrator)
    assert page.count(secret) == 2 and f"[{where}]" in page


async def test_retry_time_of_a_busy_provider_is_shown(
    owner: User, handbook: KnowledgeBase, session: ChatSession, provider: FakeProvider, profile: ModelProfile
) -> None:
    provider.fail(429, headers={"Retry-After": "90"})
    await run_turn(owner, session, QUESTION)
    message = await Message.objects.aget(turn__session=session, role="assistant")
    assert "90 seconds" in message.error_message


async def test_retry_after_a_failure(
    owner: User, handbook: KnowledgeBase, session: ChatSession, provider: FakeProvider, profile: ModelProfile
) -> None:
    provider.fail(401)
    provider.reply("Ten seconds [1].")
    await run_turn(owner, session, QUESTION)
    failed = await Message.objects.aget(turn__session=session, role="assistant")
    again = await lifecycle.regenerate(owner, failed.pk)
    await wait_for_all()
    answer = await Message.objects.aget(pk=again.assistant_message_id)
    assert (answer.status, answer.content) == (Message.Status.COMPLETED, "Ten seconds [1].")


async def test_second_question_waits_and_stopping_frees_the_slot(
    owner: User, handbook: KnowledgeBase, session: ChatSession, provider: FakeProvider, profile: ModelProfile
) -> None:
    profile.concurrency = 1
    await profile.asave()
    provider.reply("word " * 500, delay=0.05)
    provider.reply("Ten seconds [1].")
    first = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, QUESTION))
    while not provider.requests:
        await asyncio.sleep(0.01)
    second = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, QUESTION, as_root=True))
    await asyncio.sleep(0.5)
    assert len(provider.requests) == 1
    assert await lifecycle.stop_turn(owner, first.assistant_message_id)
    events = [event async for event in broker.listen(second.assistant_message_id)]
    await wait_for_all()
    assert isinstance(events[-1], DoneEvent) and events[-1].status == "completed"
    assert await asyncio.to_thread(provider.wait_for_disconnect)
