"""Tests of choosing the model and reply settings for a purpose."""

import threading
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.models import ModelProfile
from conversations.prompts import endpoints
from ragsite.llm import secrets
from ragsite.llm.types import ChatMessage
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)

PURPOSES = [purpose for purpose in ModelProfile.Purpose.values if purpose != "embedding"]
ASKED = [ChatMessage("user", "Ready?")]


@pytest.fixture
def site(provider: FakeProvider, settings: Any) -> FakeProvider:
    """A site whose `LLM_*` settings name the provider."""
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "by-settings"
    return provider


async def ask(purpose: str) -> None:
    client = await endpoints.client_for(purpose)
    assert client is not None
    try:
        await client.complete(ASKED)
    finally:
        await client.aclose()


async def make_profile(provider: FakeProvider, **fields: Any) -> ModelProfile:
    defaults: dict[str, Any] = {"purpose": "answer", "base_url": provider.base_url, "model": "by-profile"}
    defaults["own_network"] = True
    return await ModelProfile.objects.acreate(**defaults | fields)


async def test_without_a_model_there_is_no_client() -> None:
    assert await endpoints.client_for("answer") is None


@pytest.mark.parametrize("purpose", PURPOSES)
async def test_settings_apply_to_every_purpose_with_its_reply_settings(
    site: FakeProvider, settings: Any, purpose: str
) -> None:
    settings.LLM_TEMPERATURE, settings.LLM_MAX_TOKENS = 0.4, 900
    await ask(purpose)
    temperature = {
        "answer": 0.4,
        "chat": 0.7,
        "rerank": 0.0,
        "filter": 0.0,
        "judge": 0.0,
        "split": 0.0,
        "missing": 0.0,
    }.get(purpose, 0.3)
    most = {"rewrite": 50, "title": 50, "clarify": 512, "judge": 512, "split": 512, "missing": 512}.get(purpose, 900)
    assert (site.requests[0]["temperature"], site.requests[0]["max_tokens"]) == (temperature, most)
    assert site.requests[0]["model"] == "by-settings"


async def test_enabled_profile_takes_precedence_unchanged(site: FakeProvider) -> None:
    profile = await make_profile(
        site, temperature=1.1, max_tokens=77, concurrency=3, encrypted_key=secrets.encrypt("mine"), enabled=False
    )
    await ask("answer")
    profile.enabled = True
    await profile.asave()
    await ask("answer")
    await ask("chat")
    assert [request["model"] for request in site.requests] == ["by-settings", "by-profile", "by-settings"]
    assert (site.requests[1]["temperature"], site.requests[1]["max_tokens"]) == (1.1, 77)
    assert [headers.get("Authorization") for headers in site.headers] == [None, "Bearer mine", None]
    endpoint = await endpoints.endpoint_for("answer")
    assert endpoint is not None and endpoint.concurrency == 3


async def test_edit_applies_to_the_next_request(site: FakeProvider) -> None:
    profile = await make_profile(site, encrypted_key=secrets.encrypt("old"))
    await ask("answer")
    profile.model, profile.encrypted_key = "another", secrets.encrypt("new")
    await profile.asave()
    await ask("answer")
    await profile.adelete()
    await ask("answer")
    assert [request["model"] for request in site.requests] == ["by-profile", "another", "by-settings"]
    assert [headers.get("Authorization") for headers in site.headers] == ["Bearer old", "Bearer new", None]


async def test_purposes_share_a_connection(site: FakeProvider) -> None:
    for purpose in ("understand", "rewrite", "answer"):
        await ask(purpose)
    assert site.connections == 1


@pytest.mark.parametrize("purpose", ModelProfile.Purpose.values)
async def test_every_purpose_can_be_tested(provider: FakeProvider, staff: User, purpose: str, settings: Any) -> None:
    from conversations.prompts import profiles

    settings.RERANK_METHOD = "llm"
    provider.reply("ready")
    provider.models = ["by-profile"]
    outcome = await profiles.try_profile(await make_profile(provider, purpose=purpose))
    assert outcome.works, outcome.message
    assert "ready" in outcome.message or "a vector of" in outcome.message


@pytest.mark.parametrize("by", ["settings", "profile", "none"])
def test_tokenizer_is_loaded_if_a_model_is_configured(by: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(endpoints.prompt_tokens, "warm_up", lambda: loaded.append(by))
    settings.LLM_BASE_URL = "http://model.invalid/v1" if by == "settings" else ""
    if by == "profile":
        ModelProfile.objects.create(purpose="answer", base_url="http://model.invalid/v1", model="m")
    thread = threading.Thread(target=endpoints.warm_up)  # it closes the connection of its thread
    thread.start()
    thread.join()
    assert loaded == ([] if by == "none" else [by])


@pytest.mark.parametrize("by_profile", [True, False])
async def test_steps_before_an_answer_do_not_wait_for_a_model_that_always_thinks(
    site: FakeProvider, settings: Any, by_profile: bool
) -> None:
    settings.LLM_THINKING = "" if by_profile else "always"
    if by_profile:
        for purpose in PURPOSES:
            await make_profile(site, purpose=purpose, thinking="always")
    without = [purpose for purpose in PURPOSES if await endpoints.endpoint_for(purpose) is None]
    assert sorted(without) == sorted(endpoints.BEFORE_ANSWERING)
    await ask("answer")
    assert not {"thinking", "reasoning_effort", "enable_thinking"} & set(site.requests[-1])
