"""Tests of the embedding profile in the admin, used by search and `manage.py reembed`."""

from io import StringIO
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from conversations.models import ModelProfile
from conversations.prompts import profiles
from ragsite.llm import secrets
from ragsite.llm.errors import Unauthorized
from retrieval import checks
from retrieval.engine import spaces
from retrieval.models import EmbeddingSpace, Vector
from tests import factories
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _local(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "local", "bundled"


def make_profile(provider: FakeProvider, **fields: Any) -> ModelProfile:
    given = {"base_url": provider.base_url, "model": "far", "encrypted_key": secrets.encrypt("profile-key")} | fields
    return ModelProfile.objects.create(purpose="embedding", own_network=True, **given)


def reembed(*arguments: str) -> str:
    out = StringIO()
    call_command("reembed", *arguments, stdout=out)
    return out.getvalue()


def last_key(provider: FakeProvider) -> str:
    return provider.headers[-1]["Authorization"]


def test_reembed_and_search_use_the_profile_endpoint(owner: User, provider: FakeProvider, settings: Settings) -> None:
    settings.EMBEDDING_GIVEN = ("EMBEDDING_PROVIDER",)
    document = factories.make_document(factories.make_knowledge_base(owner))
    factories.make_chunk(document, "A passage.")
    factories.index_document(document.pk)
    profile = make_profile(provider)
    output = reembed("--provider", "openai")
    space = EmbeddingSpace.objects.get(active=True)
    assert (space.model, space.provider) == ("far", "openai") and last_key(provider) == "Bearer profile-key"
    assert Vector.objects.filter(space=space).count() == 1
    assert "EMBEDDING_PROVIDER" not in output  # the admin says the same already
    assert not checks.search_uses_the_settings_model(None, ["default"])
    profile.encrypted_key = secrets.encrypt("newer-key")
    profile.save()
    spaces.embed_query(spaces.active_space(), "a question")
    assert last_key(provider) == "Bearer newer-key"
    profile.enabled = False
    profile.save()
    spaces.embed_query(spaces.active_space(), "another question")
    assert last_key(provider) == "Bearer profile-key"  # the space's own
    assert checks.search_uses_the_settings_model(None, ["default"])


def test_profile_key_is_not_sent_elsewhere(provider: FakeProvider) -> None:
    make_profile(provider, base_url="http://elsewhere.invalid/v1")
    reembed("--provider", "openai", "--base-url", provider.base_url, "--model", "near")
    assert "profile-key" not in provider.headers[-1].get("Authorization", "")


def test_address_is_required_without_a_profile(provider: FakeProvider) -> None:
    make_profile(provider, enabled=False)
    with pytest.raises(CommandError, match="embedding profile"):
        reembed("--provider", "openai")
    assert not provider.requests


def test_unreadable_key_is_reported(provider: FakeProvider, settings: Settings) -> None:
    make_profile(provider)
    reembed("--provider", "openai")
    settings.SECRET_KEY = "another"
    with pytest.raises(Unauthorized):
        spaces.active_space()
    with pytest.raises(CommandError, match="key"):
        reembed("--provider", "openai")


def test_profile_test_computes_a_vector(provider: FakeProvider) -> None:
    provider.embeddings.dimension = 48
    outcome = async_to_sync(profiles.try_profile)(make_profile(provider))
    assert outcome.works and "a vector of 48 numbers" in outcome.message
    provider.fail(401)
    assert not async_to_sync(profiles.try_profile)(ModelProfile.objects.get()).works


def test_saving_reports_the_model_used_by_search(as_staff: Client, provider: FakeProvider) -> None:
    spaces.active_space()
    form = {
        "purpose": "embedding", "base_url": provider.base_url, "model": "far", "enabled": "on", "context_window": 4096,
        "connect_timeout": 5, "idle_timeout": 5, "total_timeout": 5, "concurrency": 1, "own_network": "on",
    }  # fmt: skip
    page = as_staff.post(reverse("admin:conversations_modelprofile_add"), form, follow=True).content.decode()
    assert "Search uses bundled (384)" in page and "manage.py reembed --provider openai" in page
    reembed("--provider", "openai")
    address = reverse("admin:conversations_modelprofile_change", args=[ModelProfile.objects.get().pk])
    assert "with the connection of this profile" in as_staff.post(address, form, follow=True).content.decode()
