"""Tests of exporting assistants to files and importing them."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.assistants import transfer
from conversations.assistants.configuration import ConfigurationError
from conversations.models import Assistant, ModelProfile, PromptTemplate
from tests import factories
from tests.conversations.assistants.conftest import Make

pytestmark = pytest.mark.django_db

TEXTS = {"system": "You are the help desk.", "user": "{{ question }} {{ evidence }}"}


@pytest.fixture
def written(owner: User, make_assistant: Make) -> str:
    base = factories.make_knowledge_base(owner, "Handbook")
    prompt = PromptTemplate.objects.create(purpose="answer", language="en", version=99, active=False, **TEXTS)
    profile = ModelProfile.objects.create(
        purpose="answer", base_url="http://models/v1", model="large", enabled=False, encrypted_key=b"s3cret"
    )
    message = {
        "knowledge_bases": [base.pk],
        "settings": {"ANSWER_TOP_K": 8, "ENABLE_RERANK": True},
        "prompts": {"answer.en": prompt.pk},
        "models": {"answer": profile.pk},
        "instructions": "用中文回答。",
        "greeting": "您好，请提问。",
    }
    return transfer.written(make_assistant("帮助台", message, description="For the desk").versions.get())


def test_export_is_readable_and_contains_no_keys_or_ids(written: str) -> None:
    assert json.loads(written) == {
        "format": "ragsite-assistant/1",
        "name": "帮助台",
        "description": "For the desk",
        "version": 1,
        "knowledge_bases": ["Handbook"],
        "settings": {"ANSWER_TOP_K": 8, "ENABLE_RERANK": True},
        "prompts": [{"purpose": "answer", "language": "en", **TEXTS}],
        "models": {"answer": {"model": "large", "base_url": "http://models/v1"}},
        "instructions": "用中文回答。",
        "greeting": "您好，请提问。",
    }
    assert "您好" in written and "\n  " in written


def test_import_on_the_same_site(written: str, owner: User) -> None:
    made, missing = transfer.read(written, owner)
    assert (made.name, made.enabled, missing) == ("帮助台 2", False, [])
    first, second = (each.versions.get().configuration for each in Assistant.objects.filter(name__startswith="帮助台"))
    assert first == second


def test_import_creates_or_reports_missing_objects(written: str, stranger: User) -> None:
    Assistant.objects.filter(name="帮助台").delete()
    PromptTemplate.objects.filter(version=99).delete()
    ModelProfile.objects.all().delete()
    in_use = PromptTemplate.objects.filter(active=True).count()
    made, missing = transfer.read(written, stranger)
    assert made.name == "帮助台"
    assert missing == ["knowledge base “Handbook”", "model “large” for “answer”"], "of a base that isn't shared, too"
    [pk] = made.versions.get().configuration["prompts"].values()
    prompt = PromptTemplate.objects.get(pk=pk)
    assert (prompt.system, prompt.active) == (TEXTS["system"], False)
    assert PromptTemplate.objects.filter(active=True).count() == in_use


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "does not contain an assistant"),
        ({"name": " "}, "has no name"),
        ({"name": 5}, "has no name"),
        ({"settings": {"ANSWER_TOP_K": 0}}, "ANSWER_TOP_K is 0"),
        ({"prompts": {"answer": "x"}}, "“prompts” must be a list"),
        ({"prompts": [{"purpose": "answer", "language": "en", "system": "{{ gone }}", "user": "x"}]}, "gone"),
        ({"tempo": 3}, "“tempo” is not a valid entry"),
    ],
)
def test_invalid_file_stores_nothing(written: str, owner: User, change: dict[str, Any], message: str) -> None:
    before = (Assistant.objects.count(), PromptTemplate.objects.count())
    with pytest.raises(ConfigurationError, match=message):
        transfer.read(json.dumps(json.loads(written) | change), owner)
    for text in ("", "{", "[" * 100_000):
        with pytest.raises(ConfigurationError, match="not valid JSON"):
            transfer.read(text, owner)
    assert (Assistant.objects.count(), PromptTemplate.objects.count()) == before


@pytest.mark.parametrize("text", ['"a\\u0000b"', '"a\\ud800b"', "NaN"])
def test_values_that_cannot_be_stored_are_refused(written: str, owner: User, text: str) -> None:
    before = Assistant.objects.count()
    for field in ("name", "description", "greeting"):
        data = json.dumps(json.loads(written) | {field: "x"}).replace('"x"', text)
        with pytest.raises(ConfigurationError, match="can't be stored"):
            transfer.read(data, owner)
    assert Assistant.objects.count() == before
