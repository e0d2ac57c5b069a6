"""Tests of values that can't be stored and of misbehaving nodes: the turn ends, and its answer is closed."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy

from conversations.events import StepEvent
from conversations.models import ChatSession, Message, TraceStep
from conversations.pipeline.graph import Context, Node, NodeError
from conversations.pipeline.state import State
from conversations.pipeline.writing.blocks import BlockWriter
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.llm.stream.json_safe import json_safe
from tests.conversations.conftest import run_turn
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How many ports does the switch have?"
Body = Callable[[State, Context], Awaitable[Any]]


class Odd(Node):
    """A custom node with a behaviour chosen by the test."""

    key = "odd"
    title = "Do something odd"
    on_error = "skip"
    may_read = ("answer.blocks",)
    body: Body

    async def run(self, state: State, ctx: Context) -> None:
        await type(self).body(state, ctx)


@pytest.fixture
def odd(settings: Any, handbook: KnowledgeBase) -> Iterator[type[Odd]]:
    nodes = list(settings.PIPELINES["default"])
    nodes.insert(nodes.index("conversations.pipeline.nodes.search.Search"), f"{__name__}.Odd")
    settings.PIPELINES = {"default": nodes}
    lifecycle.pipeline.cache_clear()
    yield Odd
    lifecycle.pipeline.cache_clear()


async def asked(owner: User, session: ChatSession) -> Message:
    async with asyncio.timeout(20):
        await run_turn(owner, session, QUESTION)
    return await Message.objects.aget(role=Message.Role.ASSISTANT)


def looped() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({2}, [2]),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02 00:00:00+00:00"),
        (gettext_lazy("Search"), "Search"),
        (math.nan, "nan"),
        ("a\x00b", "ab"),
        ("half \ud83d", "half �"),
        ("whole 😀", "whole 😀"),
        ({(1, 2): b"x", None: (1,)}, {"(1, 2)": "b'x'", "None": [1]}),
    ],
)
def test_unsupported_values_become_text(value: Any, stored: Any) -> None:
    assert json.loads(json.dumps(json_safe({"value": value}), allow_nan=False)) == {"value": stored}


def test_endless_values_are_cut() -> None:
    assert "…" in json.dumps(json_safe(looped()), ensure_ascii=False)


async def test_any_note_of_a_node_is_stored(owner: User, session: ChatSession, odd: type[Odd]) -> None:
    async def note(state: State, ctx: Context) -> None:
        ctx.note(found={"ports"}, at=datetime.now(UTC), score=math.nan, text="a\x00b")

    odd.body = note
    message = await asked(owner, session)
    assert message.status == "completed" and "nine ports" in message.content
    detail = (await TraceStep.objects.aget(key="odd")).detail
    assert detail["found"] == ["ports"] and detail["text"] == "ab"


async def cancelled(state: State, ctx: Context) -> None:
    task = asyncio.create_task(asyncio.sleep(60))
    task.cancel()
    await task


async def emit_text(state: State, ctx: Context) -> None:
    await ctx.emit("hello")  # type: ignore[arg-type]


async def emit_nothing(state: State, ctx: Context) -> None:
    await ctx.emit(None)  # type: ignore[arg-type]


async def lazy_words(state: State, ctx: Context) -> None:
    raise NodeError(gettext_lazy("Search"))  # type: ignore[arg-type]


async def leave(state: State, ctx: Context) -> None:
    raise SystemExit


@pytest.mark.parametrize("body", [cancelled, leave, emit_text, emit_nothing, lazy_words])
async def test_misbehaving_node_fails_alone(owner: User, session: ChatSession, odd: type[Odd], body: Body) -> None:
    odd.body = body
    message = await asked(owner, session)
    assert message.status == "completed" and "nine ports" in message.content
    assert (await TraceStep.objects.aget(key="odd")).status == "error"


async def test_text_of_a_node_is_made_storable(owner: User, session: ChatSession, odd: type[Odd]) -> None:
    async def write(state: State, ctx: Context) -> None:
        writer = BlockWriter(state, ctx.emit)
        await writer.table(["a\x00"], [["\ud83d", "b"]])
        for piece in ("An emoji in two: \ud83d", "\ude00, and half: \ud83d"):
            await writer.text(piece)
        await writer.close()

    odd.body = write
    message = await asked(owner, session)
    assert message.status == "completed"
    assert (message.blocks[0]["columns"], message.blocks[0]["rows"]) == (["a"], [["�", "b"]])
    assert message.blocks[1]["text"] == "An emoji in two: 😀, and half: �"


@pytest.mark.parametrize("seconds", [0.0, 1.6])  # found at the end, and by a checkpoint
async def test_unstorable_answer_fails_and_is_closed(
    owner: User, session: ChatSession, odd: type[Odd], seconds: float
) -> None:
    async def emit_object(state: State, ctx: Context) -> None:
        await ctx.emit(StepEvent(step=3, key="odd", step_name=object(), status="completed"))  # type: ignore[arg-type]
        await asyncio.sleep(seconds)

    odd.body = emit_object
    message = await asked(owner, session)
    assert (message.status, message.error_code) == ("failed", "internal") and message.error_message
    odd.body = lazy_words  # the next turn is not affected
    await run_turn(owner, session, QUESTION)
    assert (await Message.objects.filter(role="assistant").order_by("-id").afirst()).status == "completed"  # type: ignore[union-attr]


@pytest.mark.parametrize("words", ["null \x00 character", "half \ud800 of one"])
async def test_unstorable_error_message_of_a_provider(
    owner: User, session: ChatSession, handbook: KnowledgeBase, provider: FakeProvider, settings: Any, words: str
) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.ENABLE_UNDERSTANDING = provider.base_url, "fake-model", False
    error = json.dumps({"error": {"message": words}})
    provider.garbage(b'data: {"choices": [{"delta": {"content": "Nine"}}]}\n\n', f"data: {error}\n\n".encode())
    message = await asked(owner, session)
    assert (message.status, message.error_code, message.content) == ("failed", "provider_error", "Nine")
    assert message.error_message == "The language model's server failed. Try again in a moment."


async def test_unstorable_escapes_in_events_of_a_model(
    owner: User, session: ChatSession, handbook: KnowledgeBase, provider: FakeProvider, settings: Any
) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "fake-model"
    plan = {"intent": "kb_retrieval", "confidence": 0.9, "queries": ["ports \x00 \ud800"], "rewrite": "The \x00 ports?"}
    provider.reply(json.dumps(plan | {"followup": True, "plan": {"action": "retrieve_vector"}}), purpose="understand")
    events = [{"t": "block_start", "id": "b1", "kind": "text"}]
    events += [{"t": "delta", "id": "b1", "text": text} for text in ("Nine\x00 ports \ud83d", "\ude00.")]
    provider.reply("\n".join(map(json.dumps, events)))
    message = await asked(owner, session)
    assert (message.status, message.content) == ("completed", "Nine ports 😀.")
