"""Tests of answering with several assistants, over HTTP against a provider."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import AsyncClient
from pytest_django import Settings

from conversations import services
from conversations.assistants import choice
from conversations.assistants.choice import Choices
from conversations.assistants.configuration import Configuration
from conversations.events import StepEvent
from conversations.models import Assistant, ChatSession, ModelProfile, PromptTemplate, TraceStep, Turn
from conversations.turn_store import TurnRefused
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.models import SiteSetting
from tests import factories
from tests.conversations.assistants.conftest import Make
from tests.conversations.conftest import index_document, run_turn
from tests.conversations.prompts.test_small_questions import ask, asked
from tests.fakes.provider import FakeProvider
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

PORTS = "How many ports has the TL-SE2109 switch?"


@pytest.fixture
async def client(owner: User) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(owner)
    return client


@pytest.fixture
def served(provider: FakeProvider, settings: Settings) -> FakeProvider:
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "usual"
    return provider


def profile(provider: FakeProvider, model: str, purpose: str = "answer", **fields: Any) -> ModelProfile:
    return ModelProfile.objects.create(
        purpose=purpose, base_url=provider.base_url, own_network=True, model=model, **{"enabled": False} | fields
    )


def models_of(provider: FakeProvider) -> set[str]:
    """Return the models called since the last check, except for titles."""
    found = {body["model"] for body in provider.requests}
    provider.requests.clear()
    return found


async def test_default_assistant_follows_the_site_settings(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    default = await Assistant.objects.aget(is_default=True)
    assert (default.enabled, default.everyone) == (True, True)
    await run_turn(owner, session, PORTS)
    turn = await Turn.objects.select_related("assistant_version").aget()
    assert turn.assistant_version is not None
    assert (turn.assistant_version.assistant_id, turn.assistant_version.configuration) == (default.pk, {})


async def test_quick_pipeline_calls_a_model_once(
    client: AsyncClient, handbook: KnowledgeBase, served: FakeProvider, make_assistant: Make
) -> None:
    quick = await in_database(make_assistant, "Quick", {"pipeline": "quick"})
    answer, session = await ask(client, PORTS, assistant=quick.pk)
    assert "nine ports" in answer and [purpose for purpose, *_rest in asked(served)] == [""]
    answer, _session = await ask(client, "And how is it reset?", assistant=quick.pk, session_id=session)
    assert [purpose for purpose, *_rest in asked(served)] == [""]
    await ask(client, PORTS)
    assert [purpose for purpose, *_rest in asked(served)] == ["understand", ""]


async def test_assistants_have_own_prompts_models_settings_and_documents(
    client: AsyncClient, owner: User, handbook: KnowledgeBase, served: FakeProvider, make_assistant: Make
) -> None:
    def prepare() -> Assistant:
        other = factories.make_knowledge_base(owner, "Leave")
        index_document(other, ("Everyone has 27 days of paid leave a year, and one more with each port.",), "leave.txt")
        prompt = PromptTemplate.objects.create(
            purpose="answer", language="en", version=99, active=False,
            system="You are the help desk.", user="{{ question }} {{ evidence }}",
        )  # fmt: skip
        return make_assistant(
            "Help desk",
            {
                "knowledge_bases": [other.pk],
                "settings": {"ANSWER_TOP_K": 1, "ANSWER_LENGTH": "short", "ANSWER_LANGUAGE": "zh"},
                "prompts": {"answer.en": prompt.pk},
                "models": {"answer": profile(served, "desk").pk},
            },
        )

    desk = await in_database(prepare)
    await ask(client, "How many days of paid leave are there?", assistant=desk.pk)
    [request] = [body for body in served.requests if body["model"] == "desk"]
    system = request["messages"][0]["content"]
    assert system.startswith("You are the help desk.")
    assert "at most three sentences" in system and "in Simplified Chinese" in system
    step = await TraceStep.objects.aget(key="search")
    assert step.detail["knowledge_bases"] == [
        await KnowledgeBase.objects.values_list("pk", flat=True).aget(name="Leave")
    ]
    served.requests.clear()
    await ask(client, PORTS)
    assert "help desk" not in str(served.requests) and models_of(served) == {"usual"}


async def test_changed_settings_apply_from_the_next_turn(
    owner: User, session: ChatSession, handbook: KnowledgeBase, make_assistant: Make
) -> None:
    async def hits() -> int:
        await run_turn(owner, session, "switch")
        step = await TraceStep.objects.filter(key="fusion").order_by("-pk").afirst()
        assert step is not None
        return len(step.detail["hits"])

    before = await hits()
    await SiteSetting.objects.acreate(name="FUSED_K", value="1")  # in another process
    await SiteSetting.objects.acreate(name="ENABLE_REORDER", value="false")
    await SiteSetting.objects.acreate(name="MERGE_NEIGHBOURS", value="false")
    assert before > 1 and await hits() == 1
    assistant = await in_database(make_assistant, "Wide", {"settings": {"FUSED_K": 2}})
    await in_database(choice.set_assistant, owner, session, assistant.pk)
    assert await hits() == 2


async def test_offered_models_can_be_chosen(
    client: AsyncClient, owner: User, handbook: KnowledgeBase, served: FakeProvider
) -> None:
    await in_database(profile, served, "large", offered=True)
    await in_database(profile, served, "secret")
    assert (await client.get("/api/models")).json() == [
        {"id": "usual", "is_default": True},
        {"id": "large", "is_default": False},
    ]
    _answer, session = await ask(client, PORTS, model_id="large")
    assert models_of(served) == {"usual", "large"}  # the site's model understands the question
    await ask(client, PORTS, model_id="usual", session_id=session)
    assert models_of(served) == {"usual"}
    for name in ("secret", "nonexistent"):
        for field in ("model_id", "insert_block_llm_id"):
            body = {"question": PORTS, field: name}
            refused = await client.post("/api/chat/conversation", body, content_type="application/json")
            assert refused.status_code == 404
            assert refused.json()["code"] == "unknown_model"
            assert f"model “{name}” is not available. Available models: usual, large" in refused.json()["detail"]
    assert served.requests == []
    put = await client.put(f"/api/chat/sessions/{session}", {"model_id": "large"}, content_type="application/json")
    assert put.status_code == 200
    assert (await client.get(f"/api/chat/sessions/{session}")).json()["model_id"] == "large"
    await ask(client, PORTS, session_id=session)
    assert models_of(served) == {"usual", "large"}
    refused = await client.put(f"/api/chat/sessions/{session}", {"model_id": "secret"}, content_type="application/json")
    assert refused.status_code == 404 and "usual, large" in refused.json()["detail"]


async def test_filter_model_is_chosen_separately(
    client: AsyncClient, handbook: KnowledgeBase, served: FakeProvider
) -> None:
    await in_database(profile, served, "judge", purpose="filter", offered=True)
    await ask(client, PORTS, use_insert_block=True, insert_block_llm_id="judge")
    assert models_of(served) == {"usual", "judge"}


async def test_without_a_filter_model_the_model_that_answers_judges(
    client: AsyncClient, handbook: KnowledgeBase, provider: FakeProvider
) -> None:
    await in_database(profile, provider, "connected", enabled=True)
    await ask(client, PORTS, use_insert_block=True)
    step = await TraceStep.objects.aget(key="filter")
    assert step.detail["model"] == "connected" and step.detail["judged"]


@pytest.mark.parametrize(
    ("field", "on", "off"),
    [
        ("reasoning_effort", {"reasoning_effort": "medium"}, {"reasoning_effort": "none"}),
        (
            "enable_thinking",
            {"chat_template_kwargs": {"enable_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        ("thinking", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
    ],
)
async def test_thinking_is_requested_and_hidden(
    client: AsyncClient,
    handbook: KnowledgeBase,
    served: FakeProvider,
    settings: Settings,
    field: str,
    on: dict[str, Any],
    off: dict[str, Any],
) -> None:
    settings.LLM_THINKING = field
    names = {"reasoning_effort", "chat_template_kwargs", "thinking"}
    for thinking, expected in ((True, on), (False, off), (None, {})):
        served.requests.clear()
        served.reply("Nine ports [1].", thinking="Let me see.", purpose="")
        body = {"question": PORTS, "thinking": thinking}
        response = await client.post("/api/chat/conversation", body, content_type="application/json")
        text = "".join([chunk.decode() async for chunk in response.streaming_content])
        assert ("THINK:" in text) == (thinking is not False)
        await wait_for_all()
        understood, written = [body for body in served.requests if "title" not in str(body["messages"][0]).lower()][:2]
        assert {name: written[name] for name in names & set(written)} == expected
        assert {name: understood[name] for name in names & set(understood)} == off, "a person waits for it"


async def test_modes(client: AsyncClient, handbook: KnowledgeBase, served: FakeProvider) -> None:
    answer, _session = await ask(client, PORTS, mode="chat")
    assert [purpose for purpose, *_rest in asked(served)] == [""] and "[1]" not in answer
    unknown = "Who painted the Mona Lisa in the Louvre museum?"
    await ask(client, unknown, mode="documents")
    assert [purpose for purpose, *_rest in asked(served)] == ["understand"]
    await ask(client, unknown, mode="general")
    assert [purpose for purpose, *_rest in asked(served)] == ["understand", ""]
    refused = await client.post(
        "/api/chat/conversation", {"question": PORTS, "mode": "magic"}, content_type="application/json"
    )
    assert refused.status_code == 400 and "mode" in refused.json()["errors"]


async def test_the_search_mode_is_the_requests_the_assistants_or_the_sites(
    client: AsyncClient, owner: User, handbook: KnowledgeBase, session: ChatSession, make_assistant: Make
) -> None:
    words = await in_database(make_assistant, "By words", {"settings": {"SEARCH_MODE": "words"}})

    async def searched(**options: Any) -> set[str]:
        answer, _session = await ask(client, PORTS, **options)
        assert "nine ports" in answer
        step = await TraceStep.objects.filter(key="search").alatest("pk")
        return {ranking["type"] for ranking in step.detail["rankings"]}

    assert await searched() == {"bm25", "vector"}
    assert await searched(search_mode="meaning") == {"vector"}
    assert await searched(assistant=words.pk) == {"bm25"}
    assert await searched(assistant=words.pk, search_mode="hybrid") == {"bm25", "vector"}
    events = await run_turn(owner, session, PORTS, choices=Choices(assistant_id=words.pk))
    steps = [
        (event.key, event.status, event.message)
        for event in events
        if isinstance(event, StepEvent) and event.step in (3, 4)
    ]
    assert [step[:2] for step in steps] == [
        ("fulltext_search", "processing"), ("vector_search", "skipped"), ("fulltext_search", "completed"),
    ]  # fmt: skip
    assert steps[1][2] == "This search is by words only."


async def test_number_of_hits_can_be_chosen(client: AsyncClient, handbook: KnowledgeBase) -> None:
    await ask(client, "switch", k=1)
    step = await TraceStep.objects.aget(key="select")
    assert len(step.detail["hits"]) == 1


async def test_access_to_assistants(owner: User, colleague: User, stranger: User, make_assistant: Make) -> None:
    def prepare() -> list[list[str]]:
        make_assistant("For a person", everyone=False).people.add(owner)
        group = Group.objects.create(name="Desk")
        colleague.groups.add(group)
        make_assistant("For a group", everyone=False).groups.add(group)
        make_assistant("Disabled", enabled=False)
        curator = factories.make_user("curator")
        curator.user_permissions.add(choice.Permission.objects.get(codename="change_assistant"))
        return [[each.name for each in choice.listed(user)] for user in (owner, colleague, stranger, curator)]

    default = choice.DEFAULT_NAME
    assert await in_database(prepare) == [
        [default, "For a person"],
        [default, "For a group"],
        [default],
        [default, "For a group", "For a person"],
    ]


async def test_losing_access_to_an_assistant_is_reported(
    owner: User, session: ChatSession, handbook: KnowledgeBase, make_assistant: Make, client: AsyncClient
) -> None:
    assistant = await in_database(make_assistant, "Gone soon")
    await in_database(choice.set_assistant, owner, session, assistant.pk)
    await run_turn(owner, session, PORTS)
    await Assistant.objects.filter(pk=assistant.pk).aupdate(everyone=False)
    with pytest.raises(TurnRefused, match="no longer available to you"):
        await run_turn(owner, session, PORTS)
    body = {"question": PORTS, "session_id": session.pk}
    refused = await client.post("/api/chat/conversation", body, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (404, "no_assistant")
    assert await Turn.objects.acount() == 1
    await Assistant.objects.filter(pk=assistant.pk).adelete()
    await session.arefresh_from_db()
    assert session.assistant_id is None
    await run_turn(owner, session, PORTS)
    assert await Turn.objects.acount() == 2


async def test_invalid_stored_configuration_is_reported(
    owner: User, session: ChatSession, make_assistant: Make, settings: Settings
) -> None:
    assistant = await in_database(make_assistant, "Old", {"pipeline": "quick"})
    await in_database(choice.set_assistant, owner, session, assistant.pk)
    settings.PIPELINES = {"default": settings.PIPELINES["default"]}
    with pytest.raises(
        TurnRefused, match="“Old” can't answer because its configuration is invalid: There is no pipeline “quick”"
    ):
        await run_turn(owner, session, PORTS)


async def test_regenerating_uses_the_original_version(
    owner: User, session: ChatSession, handbook: KnowledgeBase, make_assistant: Make
) -> None:
    assistant = await in_database(make_assistant, "Changing", {"settings": {"ANSWER_TOP_K": 1}})
    await in_database(choice.set_assistant, owner, session, assistant.pk)
    await run_turn(owner, session, PORTS)
    first = await Turn.objects.select_related("assistant_version").aget()
    newer = Configuration.from_dict({"settings": {"ANSWER_TOP_K": 2}})
    version = await in_database(choice.save_version, assistant, newer, owner)
    assert version.number == 2
    assert await in_database(choice.save_version, assistant, newer, owner) == version, "nothing differs"
    message_id = await in_database(lambda: first.messages.get(role="assistant").pk)
    started = await lifecycle.regenerate(owner, message_id)
    await wait_for_all()
    again = await Turn.objects.aget(pk=started.turn_id)
    assert again.assistant_version_id == first.assistant_version_id
    await run_turn(owner, session, PORTS)
    latest = await Turn.objects.order_by("-pk").afirst()
    assert latest is not None and latest.assistant_version_id == version.pk


async def test_concurrent_turns_are_isolated(
    owner: User, colleague: User, handbook: KnowledgeBase, make_assistant: Make
) -> None:
    """Settings of concurrent turns in one process are not mixed."""
    import asyncio

    narrow = await in_database(make_assistant, "Narrow", {"settings": {"ANSWER_TOP_K": 1, "MERGE_NEIGHBOURS": False}})
    sessions = [await in_database(services.create_session, user) for user in (owner, colleague)]
    await asyncio.gather(
        run_turn(owner, sessions[0], PORTS, choices=Choices(assistant_id=narrow.pk)),
        run_turn(colleague, sessions[1], PORTS),
    )
    searched = {step.turn_id: step.detail["knowledge_bases"] async for step in TraceStep.objects.filter(key="search")}
    turns = {turn.session_id: turn.pk async for turn in Turn.objects.all()}
    assert searched[turns[sessions[0].pk]] == [handbook.pk]
    assert searched[turns[sessions[1].pk]] == []
