"""The model in the settings, and detection of a local Ollama."""

import asyncio

import httpx
import pytest
from pytest_django import Settings

from ragsite.llm import default
from ragsite.llm.errors import ModelNotFound, Unreachable
from ragsite.llm.types import Endpoint
from tests.fakes.provider import FakeProvider


def test_none_without_a_base_url(settings: Settings) -> None:
    settings.LLM_BASE_URL = ""
    settings.LLM_MODEL = "x"
    assert default.default_endpoint() is None


def test_all_settings_arrive(settings: Settings) -> None:
    settings.LLM_BASE_URL = "http://a/v1"
    settings.LLM_API_KEY = "k"
    settings.LLM_MODEL = "m"
    settings.LLM_CONTEXT_WINDOW = 4096
    settings.LLM_MAX_TOKENS = 100
    settings.LLM_TEMPERATURE = 0.0
    settings.LLM_CONCURRENCY = 7
    settings.LLM_CONNECT_TIMEOUT, settings.LLM_IDLE_TIMEOUT, settings.LLM_TOTAL_TIMEOUT = 1.0, 2.0, 3.0
    assert default.default_endpoint() == Endpoint("http://a/v1", "k", "m", 1.0, 2.0, 3.0, 4096, 100, 0.0, 7)


@pytest.mark.parametrize(
    ("url", "given", "field"),
    [
        ("http://127.0.0.1:11434/v1", "", "reasoning_effort"),
        ("https://api.deepseek.com", "", "thinking"),
        ("http://gpu:8000/v1", "", ""),
        ("http://127.0.0.1:11434/v1", "enable_thinking", "enable_thinking"),
    ],
)
def test_known_providers_can_be_asked_not_to_think(settings: Settings, url: str, given: str, field: str) -> None:
    settings.LLM_BASE_URL, settings.LLM_THINKING = url, given
    endpoint = default.default_endpoint()
    assert endpoint is not None and endpoint.thinking_field == field


async def test_a_given_model_stands() -> None:
    endpoint = Endpoint("http://nowhere.invalid/v1", model="mine")
    assert await default.resolve_model(endpoint) == endpoint


async def test_the_first_model_for_chat_is_taken_and_kept(provider: FakeProvider) -> None:
    provider.models = ["nomic-embed-text", "qwen3:8b", "llama3"]
    endpoint = Endpoint(provider.base_url)
    assert (await default.resolve_model(endpoint)).model == "qwen3:8b"
    provider.models = ["other"]
    assert (await default.resolve_model(endpoint)).model == "qwen3:8b"


async def test_no_model_offered(provider: FakeProvider) -> None:
    provider.models = []
    with pytest.raises(ModelNotFound):
        await default.resolve_model(Endpoint(provider.base_url))


async def test_no_server() -> None:
    with pytest.raises(Unreachable):
        await default.resolve_model(Endpoint("http://127.0.0.1:1/v1"))


async def test_ollama_is_noticed_and_remembered(
    provider: FakeProvider, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default, "OLLAMA_TIMEOUT", 30.0)
    settings.OLLAMA_URL = provider.root_url
    provider.models = ["llama3:latest", "nomic-embed-text:latest"]
    assert await default.notice_ollama() == ["llama3:latest"]
    provider.models = []
    assert await default.notice_ollama() == ["llama3:latest"]
    default.forget_found_models()
    assert await default.notice_ollama() == []


@pytest.mark.parametrize(
    "reply", [httpx.Response(500), httpx.Response(200, content=b"hello"), httpx.Response(200, json={"models": None})]
)
async def test_what_is_not_ollama_is_nothing(reply: httpx.Response) -> None:
    assert await default.notice_ollama(httpx.MockTransport(lambda _: reply)) == []


async def test_no_ollama_costs_little_time(settings: Settings) -> None:
    settings.OLLAMA_URL = "http://127.0.0.1:1"
    async with asyncio.timeout(20):  # less than the time-outs of a model
        assert await default.notice_ollama() == []
