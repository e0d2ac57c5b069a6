"""Tests of side calls without a database: the model, the fitted prompt, and the pause after failures."""

from typing import Any

import pytest

from conversations.history import PastTurn
from conversations.prompts import side_calls
from conversations.prompts.no_reply import NoReply
from conversations.prompts.templates import Prompt
from ragsite.llm.errors import LLMError, NotConfigured, ProviderError, Unreachable
from ragsite.llm.prompt_tokens import count_prompt_tokens
from ragsite.llm.types import Endpoint
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.usefixtures("default_prompts")


@pytest.fixture
def model(fake_llm: FakeLLM) -> FakeLLM:
    fake_llm.serves = {"title"}
    return fake_llm


async def ask(purpose: str = "title") -> str:
    """Return the reply, or the reason why there is none."""
    try:
        return (await side_calls.ask(purpose, "en", 5.0, question="Which ports?")).text
    except NoReply as none:
        return none.reason


async def test_reply(model: FakeLLM) -> None:
    model.enqueue("<think>Hm.</think>Ports")
    assert await ask() == "Ports"
    system, user = model.calls[0].messages
    assert "title" in system.content and user.content == "Which ports?"
    assert (model.calls[0].max_tokens, model.closed) == (None, 1)


@pytest.mark.parametrize("reply", ["", " \n", "<think>only"])
async def test_empty_reply_is_no_reply(model: FakeLLM, reply: str) -> None:
    model.enqueue(reply, reply)
    assert await ask() == "empty"


async def test_purpose_without_a_model(model: FakeLLM) -> None:
    assert await ask("filter") == "no model"


@pytest.mark.parametrize(("error", "again"), [(Unreachable("gone"), "paused"), (ProviderError("boom"), "Ports")])
async def test_unreachable_model_is_paused(model: FakeLLM, error: LLMError, again: str) -> None:
    model.enqueue(error, "Ports")
    assert await ask() == "failed"
    assert await ask() == again


async def test_model_that_can_not_be_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    async def client_for(purpose: str) -> Any:
        raise NotConfigured("Its key can't be read.")

    monkeypatch.setattr("conversations.prompts.endpoints.client_for", client_for)
    with pytest.raises(NoReply) as none:
        await side_calls.ask("title", "en", 5.0)
    assert none.value.reason == "failed" and none.value.detail == NotConfigured().message


async def test_small_window_gets_the_end_of_the_history(model: FakeLLM) -> None:
    model.serves = {"understand"}
    model.endpoint = Endpoint("http://fake.invalid/v1", model="small", context_window=2048, max_tokens=256)
    turns = [PastTurn(n, f"Question {n}?", "It is cooled by air, and has no fans at all. " * 12) for n in range(9)]
    model.enqueue("x", "x")
    await side_calls.ask("understand", "en", 5.0, question="And now?", history=side_calls.transcript(turns, "en"))
    sent = model.calls[0].messages[1].content
    assert "Question 8?" in sent and "Question 0?" not in sent and sent.endswith("And now?")
    assert sum(map(count_prompt_tokens, (item.content for item in model.calls[0].messages))) < 2048 * 0.95 - 256
    model.endpoint = Endpoint("http://fake.invalid/v1", model="large")
    await side_calls.ask("understand", "en", 5.0, question="And now?", history=side_calls.transcript(turns, "en"))
    assert "Question 0?" in model.calls[1].messages[1].content


async def test_looping_prompt_gets_the_last_turns_that_fit(model: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    async def looping(purpose: str, language: str) -> Prompt:
        return Prompt("Rewrite.", "{% for turn in turns %}[{{ turn.question }}|{{ turn.answer }}]{% endfor %}", 1)

    monkeypatch.setattr(side_calls, "aget_prompt", looping)
    model.serves = {"rewrite"}
    model.endpoint = Endpoint("http://fake.invalid/v1", model="small", context_window=1024, max_tokens=256)
    turns = [PastTurn(n, f"Question {n}?", "It is cooled by air, and has no fans at all. " * 12) for n in range(9)]
    model.enqueue("x")
    await side_calls.ask("rewrite", "en", 5.0, side_calls.spoken(turns, "en"), question="And now?", history="-")
    sent = model.calls[0].messages[1].content
    assert "[Question 8?|It is cooled" in sent and "Question 0?" not in sent
    assert sum(map(count_prompt_tokens, (item.content for item in model.calls[0].messages))) < 1024 * 0.95 - 256


def test_quoted_texts_are_cut() -> None:
    long = "A very long question. " * 2000
    assert len(side_calls.quoted(long)) < 8000 and side_calls.quoted("Which ports?") == "Which ports?"
    sent = side_calls.transcript([PastTurn(1, long, long)] * 5, "en", long)
    assert len(sent) < 15_000 and sent.startswith("Summary so far: A very") and sent.count("\nUser: A very") == 5
    assert side_calls.transcript([], "zh") == "-"
    spoken = side_calls.transcript([PastTurn(1, "几个端口？", "九个。")], "zh", "谈交换机。")
    assert spoken == "此前的摘要: 谈交换机。\n用户: 几个端口？\n助手: 九个。"
