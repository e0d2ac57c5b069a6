"""Tests of active prompts and profiles: changes apply at once, but not to running turns."""

import pytest

from conversations.models import ModelProfile, PromptTemplate
from conversations.prompts import active, endpoints, templates, versions
from ragsite.db import in_database


def make_profile(model: str = "small") -> ModelProfile:
    return ModelProfile.objects.create(purpose="answer", base_url="http://localhost:1/v1", model=model)


@pytest.mark.django_db
def test_changes_apply_at_once() -> None:
    """Even without a signal, as for changes by another process."""
    for text in ("One.", "Two."):
        PromptTemplate.objects.filter(purpose="answer", language="en", active=True).update(system=text)
        assert templates.get_prompt("answer", "en").system == text
    versions.save_version("answer", "en", "Three.", "{{ question }} {{ evidence }}")
    assert templates.get_prompt("answer", "en").system == "Three."
    PromptTemplate.objects.filter(purpose="answer", language="en").delete()
    assert templates.get_prompt("answer", "en").version == 0


@pytest.mark.django_db
def test_only_enabled_profiles_are_used() -> None:
    assert endpoints.profile_endpoint("answer") is None
    profile = make_profile()
    found = endpoints.profile_endpoint("answer")
    assert found is not None and found.model == "small"
    ModelProfile.objects.filter(pk=profile.pk).update(enabled=False)
    assert endpoints.profile_endpoint("answer") is None


@pytest.mark.django_db(transaction=True)
async def test_turn_keeps_its_initial_setup() -> None:
    with active.pinned_setup():
        before = await active.asetup()
        await in_database(make_profile)
        assert await active.asetup() is before
        assert await in_database(active.setup) is before
    after = await active.asetup()
    assert set(after.profiles) == {"answer"}
