"""An assistant's values in force in the API, and who gets them."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from conversations.assistants.choice import save_version
from conversations.assistants.configuration import Configuration
from conversations.models import Assistant, AssistantVersion, ModelProfile, PromptTemplate
from knowledge.models import KnowledgeBase
from ragsite.models import SiteSetting
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(owner: User, stranger: User) -> Assistant:
    """An assistant of the owner with a base of theirs and one of someone else's, and its own model and prompt."""
    desk = Assistant.objects.create(name="Help desk", description="IT questions", everyone=False)
    desk.people.add(owner)
    profile = ModelProfile.objects.create(
        purpose="answer",
        base_url="http://127.0.0.1:9",
        model="desk-model",
        temperature=0.1,
        max_tokens=99,
        enabled=False,
    )
    prompt = PromptTemplate.objects.create(
        purpose="answer", language="en", version=7, active=False, system="Be the help desk.", user="{{ question }}"
    )
    bases = [factories.make_knowledge_base(person, "IT").pk for person in (owner, stranger)]
    configuration = {
        "knowledge_bases": bases, "pipeline": "quick", "settings": {"ANSWER_TOP_K": 3, "ANSWER_LENGTH": "short"},
        "prompts": {"answer.en": prompt.pk}, "models": {"answer": profile.pk}, "greeting": "Ask me.",
        "questions": ["Where?"],
    }  # fmt: skip
    save_version(desk, Configuration.from_dict({}), None)
    save_version(desk, Configuration.from_dict(configuration), None)
    return desk


def allow(user: User, *codenames: str) -> None:
    user.user_permissions.add(*Permission.objects.filter(codename__in=codenames))


def shown(client: Client, assistant: Assistant) -> dict[str, Any]:
    response = client.get(reverse("api-assistant", args=[assistant.pk]))
    assert response.status_code == 200, response.content
    return dict(response.json())


def test_users_see_what_they_can_choose_but_not_how_it_works(as_owner: Client, owner: User, desk: Assistant) -> None:
    (own,) = KnowledgeBase.objects.filter(owner=owner).values_list("pk", flat=True)
    assert shown(as_owner, desk) == {
        "id": desk.pk, "name": "Help desk", "description": "IT questions", "is_default": False, "greeting": "Ask me.",
        "questions": ["Where?"], "version": 2, "knowledge_bases": [own], "model": "desk-model", "in_force": None,
    }  # fmt: skip


def test_curators_see_the_values_in_force(as_owner: Client, owner: User, desk: Assistant, settings: Settings) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = "http://127.0.0.1:9/v1", "site-model", "s3cret"
    SiteSetting.objects.create(name="FUSED_K", value="17")
    allow(owner, "view_assistant", "view_prompttemplate")
    values = shown(as_owner, desk)["in_force"]
    assert values["pipeline"] == "quick"
    assert values["own_settings"] == ["ANSWER_LENGTH", "ANSWER_TOP_K"]
    assert (values["settings"]["ANSWER_TOP_K"], values["settings"]["FUSED_K"]) == (3, 17)
    assert values["settings"]["SEARCH_MODE"] == "hybrid" and values["settings"]["ENABLE_RERANK"] is False
    assert values["models"]["answer"] == {"model": "desk-model", "temperature": 0.1, "max_tokens": 99}
    # Whole documents are read by the model that answers.
    assert (values["models"]["notes"]["model"], values["models"]["understand"]["model"]) == ("desk-model", "site-model")
    prompt = values["prompts"]["answer.en"]
    assert prompt["version"] == 7 and prompt["user"] == "{{ question }}"
    assert prompt["system"].startswith("Be the help desk.") and "at most three sentences" in prompt["system"]
    assert "{{ question }}" in values["prompts"]["rewrite.zh"]["user"]  # the site's
    assert "s3cret" not in str(values) and "127.0.0.1" not in str(values)


def test_prompts_need_the_permission_to_view_them(as_owner: Client, owner: User, desk: Assistant) -> None:
    allow(owner, "change_assistant")
    values = shown(as_owner, desk)["in_force"]
    assert values["prompts"] is None and values["models"]["understand"] is None


def test_only_those_who_may_use_it_see_it(client: Client, stranger: User, desk: Assistant) -> None:
    client.force_login(stranger)
    assert client.get(reverse("api-assistant", args=[desk.pk])).status_code == 404
    default = Assistant.objects.get(is_default=True)
    assert shown(client, default)["model"] == "" and shown(client, default)["knowledge_bases"] == []


def test_an_invalid_configuration_is_a_conflict(as_owner: Client, desk: Assistant) -> None:
    AssistantVersion.objects.create(assistant=desk, number=3, configuration={"gone": 1})
    response = as_owner.get(reverse("api-assistant", args=[desk.pk]))
    assert (response.status_code, response.json()["code"]) == (409, "assistant_unusable")
