"""The rewriting call: when it is made, and how hard replies are handled. The node alone, no database."""

import asyncio
from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from conversations.history import PastTurn
from conversations.pipeline.nodes.rewrite import Rewrite
from conversations.pipeline.nodes.understand import Understand
from conversations.pipeline.state import Past, State
from conversations.prompts import side_calls, templates
from ragsite.llm.chat import ChatClient
from ragsite.llm.errors import ProviderError, Unauthorized
from ragsite.llm.types import Endpoint, FinishPiece, TextPiece, ThinkPiece
from tests.conversations.conftest import run_node
from tests.conversations.nodes import make_state
from tests.fakes.llm import FakeLLM
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.usefixtures("default_prompts", "unknown_words")

HISTORY = [PastTurn(1, "How do I reset the TL-SE2109 switch?", "Hold the button for ten seconds [1].")]
QUESTION = "How long does it take?"
REWRITTEN = "How long does it take to reset the TL-SE2109 switch?"


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    cache.clear()


@pytest.fixture
def model(fake_llm: FakeLLM) -> FakeLLM:
    fake_llm.serves = {"rewrite"}
    return fake_llm


async def rewritten(question: str = QUESTION, **fields: Any) -> tuple[State, dict[str, Any]]:
    """Understand a question by rules and rewrite it; return the state and the trace details."""
    state = make_state(question, past=Past(turns=fields.pop("history", HISTORY), summary=fields.pop("summary", "")))
    await run_node(Understand(), state)
    for name, value in fields.items():
        setattr(state.plan, name, value)
    if Rewrite().wanted(state):
        await run_node(Rewrite(), state)
    assert state.request.question == question
    return state, state.details.get("rewrite", {})


async def test_a_dependent_question_is_rewritten_for_the_search(model: FakeLLM) -> None:
    model.enqueue(REWRITTEN)
    state, detail = await rewritten()
    assert state.plan.rewrite == state.plan.ranking_query == state.plan.retrieval_query == REWRITTEN
    assert {REWRITTEN, QUESTION} <= {query.text for query in state.plan.queries}
    assert state.plan.rewrite_reason == detail["reason"] == "pronoun" and detail["rewrite"] == REWRITTEN
    system, user = model.calls[0].messages
    assert "Rewrite" in system.content and HISTORY[0].question in user.content and user.content.endswith(QUESTION)


async def test_a_chinese_question_has_a_chinese_prompt(model: FakeLLM) -> None:
    model.enqueue("改写后的问题：“TL-SE2109 的保修期多长？”")
    history = [PastTurn(1, "TL-SE2109 有多少个端口？", "九个 [1]。")]
    state, _detail = await rewritten("它的保修期多长？", history=history)
    assert state.plan.rewrite == "TL-SE2109 的保修期多长？"
    assert "改写" in model.calls[0].messages[0].content


@pytest.mark.parametrize(
    "fields",
    [
        {"history": []},
        {"question": "What is the warranty period of the rack mounting kit?"},
        {"question": "Hello!"},
        {"rewrite": REWRITTEN},
        {"action": "answer_chat"},
        {"question": "What is the warranty period of the rack mounting kit?", "confidence": 0.9},
    ],
)
async def test_the_model_is_not_asked_needlessly(model: FakeLLM, fields: dict[str, Any]) -> None:
    await rewritten(**fields)
    assert not model.calls


async def test_low_confidence_is_a_reason_too(model: FakeLLM) -> None:
    model.enqueue("What is the warranty period of the rack mounting kit of the TL-SE2109?")
    state, _detail = await rewritten("What is the warranty period of the rack mounting kit?", confidence=0.4)
    assert state.plan.rewrite_reason == "low confidence" and state.plan.rewrite.endswith("TL-SE2109?")


async def test_it_can_be_switched_off(model: FakeLLM, settings: Settings) -> None:
    settings.ENABLE_QUERY_REWRITE = False
    await rewritten()
    assert not model.calls


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I'm sorry, I can't rewrite that.", "refusal"),
        ("抱歉，我无法改写。", "refusal"),
        ("The user wants to know how long a reset takes.", "explains"),
        (f"{REWRITTEN}\n\nHere “it” was resolved to the reset.", "explains"),
        ("It takes ten seconds of holding the button, " * 9, "too long"),
        ([TextPiece("How long does it take to reset the"), FinishPiece("length")], "too long"),
        ("Who won the world cup?", "off the subject"),
        (QUESTION, "unchanged"),
        ([ThinkPiece("“It” is the reset."), FinishPiece("length")] , "empty"),
        ("<think>never ends", "empty"),
        (ProviderError("boom"), "failed"),
        (Unauthorized("no"), "failed"),
        ([TextPiece("How long"), ProviderError("boom")], "failed"),
    ],
)  # fmt: skip
async def test_hard_replies_keep_the_question(model: FakeLLM, reply: Any, kept: str) -> None:
    model.enqueue(reply, reply)
    by_rules, _detail = await rewritten(rewrite="-")
    state, detail = await rewritten()
    assert (detail["kept"], state.plan.rewrite) == (kept, "")
    assert (state.plan.queries, state.plan.ranking_query) == (by_rules.plan.queries, by_rules.plan.ranking_query)
    assert len(state.plan.queries) == 2 and model.closed == 1


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>“It” is the reset.</think>{REWRITTEN}",
        [ThinkPiece("“It” is the reset."), TextPiece(REWRITTEN)],
        f"```\n{REWRITTEN}\n```",
        f"Sure! Rewritten question: “{REWRITTEN}”",
        f"\n\n**Rewritten question:**\n\n{REWRITTEN}\n",
    ],
)
async def test_hard_replies_that_contain_a_question(model: FakeLLM, reply: Any) -> None:
    model.enqueue(reply)
    assert (await rewritten())[0].plan.rewrite == REWRITTEN


async def test_thirty_seconds_of_silence(model: FakeLLM, settings: Settings) -> None:
    settings.REWRITE_TIMEOUT = 0.1
    model.enqueue([30.0, TextPiece(REWRITTEN)])
    async with asyncio.timeout(20):
        state, detail = await rewritten()
    assert (detail["kept"], state.plan.rewrite) == ("timed out", "") and model.stopped == model.closed == 1


async def test_a_model_that_was_silent_in_understanding_is_not_asked_to_rewrite(
    fake_llm: FakeLLM, settings: Settings
) -> None:
    fake_llm.serves = {"understand", "rewrite"}
    settings.UNDERSTAND_TIMEOUT = 0.1
    fake_llm.enqueue([30.0])
    _state, detail = await rewritten()
    assert detail["kept"] == "paused" and len(fake_llm.calls) == 1


async def test_without_a_model_the_rules_stay(fake_llm: FakeLLM) -> None:
    fake_llm.serves = set()
    state, detail = await rewritten()
    assert detail["kept"] == "no model" and len(state.plan.queries) == 2


class TestCache:
    """The same question in the same conversation is rewritten once."""

    async def test_the_same_again(self, model: FakeLLM) -> None:
        model.enqueue(REWRITTEN)
        await rewritten()
        state, detail = await rewritten()
        assert state.plan.rewrite == REWRITTEN and detail["cached"] and len(model.calls) == 1

    @pytest.mark.parametrize(
        "fields",
        [
            {"question": "How long does that take?"},
            {"history": [PastTurn(1, "How do I update the firmware of the TL-SE2109 switch?", "From its page.")]},
            {"history": [*HISTORY, PastTurn(2, "And the TL-SG108?", "The same way.")]},
        ],
    )
    async def test_another_question_or_conversation(self, model: FakeLLM, fields: dict[str, Any]) -> None:
        model.enqueue(REWRITTEN, REWRITTEN)
        await rewritten()
        await rewritten(**fields)
        assert not model.left

    async def test_another_model(self, model: FakeLLM) -> None:
        model.enqueue(REWRITTEN, REWRITTEN)
        await rewritten()
        model.endpoint = Endpoint("http://fake.invalid/v1", model="another-model")
        await rewritten()
        assert not model.left

    async def test_another_prompt(self, model: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
        model.enqueue(REWRITTEN, REWRITTEN)
        await rewritten()

        async def edited(purpose: str, language: str) -> templates.Prompt:
            return templates.Prompt("Rewrite it.", "{{ history }} {{ question }}", 2)

        monkeypatch.setattr(side_calls, "aget_prompt", edited)
        await rewritten()
        assert not model.left

    async def test_a_failure_is_not_cached(self, model: FakeLLM) -> None:
        model.enqueue(ProviderError("boom"), "I'm sorry.", REWRITTEN)
        for _ in range(3):
            state, _detail = await rewritten()
        assert state.plan.rewrite == REWRITTEN


class TestProvider:
    """The same through a real connection."""

    @pytest.fixture
    def served(self, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> FakeProvider:
        async def client_for(purpose: str) -> ChatClient | None:
            endpoint = Endpoint(provider.base_url, model="fake-model", max_tokens=50)
            return ChatClient(endpoint, pause=0.01) if purpose == "rewrite" else None

        monkeypatch.setattr("conversations.prompts.endpoints.client_for", client_for)
        return provider

    @pytest.mark.parametrize("style", ["openai", "deepseek", "ollama"])
    async def test_fifty_tokens_eaten_by_thinking(self, served: FakeProvider, style: Any) -> None:
        served.reply("", "“It” may be", finish="length", style=style, purpose="rewrite")
        served.reply(REWRITTEN, "“It” is the reset.", style=style, purpose="rewrite")
        assert (await rewritten())[0].plan.rewrite == REWRITTEN
        assert [request["max_tokens"] for request in served.requests] == [50, 50 + side_calls.THINKING_ROOM]

    async def test_silence(self, served: FakeProvider, settings: Settings) -> None:
        settings.REWRITE_TIMEOUT = 0.3
        served.reply(REWRITTEN, first_delay=30.0, purpose="rewrite")
        async with asyncio.timeout(20):
            assert (await rewritten())[1]["kept"] == "timed out"
        assert await asyncio.to_thread(served.wait_for_disconnect)
