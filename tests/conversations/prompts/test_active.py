"""Prompts and profiles in force: a change counts at once; a turn keeps what it began with."""

import pytest

from conversations.models import ModelProfile, PromptTemplate
from conversations.prompts import active, endpoints, templates, versions
from ragsite.db import in_database


def make_profile(model: str = "small") -> ModelProfile:
    return ModelProfile.objects.create(purpose="answer", base_url="http://localhost:1/v1", model=model)


@pytest.mark.django_db
def test_each_change_counts_at_once() -> None:
    """Also without any signal, as when another process has made it."""
    for text in ("One.", "Two."):
        PromptTemplate.objects.filter(purpose="answer", language="en", active=True).update(system=text)
        assert templates.get_prompt("answer", "en").system == text
    versions.save_version("answer", "en", "Three.", "{{ question }} {{ evidence }}")
    assert templates.get_prompt("answer", "en").system == "Three."
    PromptTemplate.objects.filter(purpose="answer", language="en").delete()
    assert templates.get_prompt("answer", "en").version == 0


@pytest.mark.django_db
def test_a_profile_counts_while_it_is_enabled() -> None:
    assert endpoints.profile_endpoint("answer") is None
    profile = make_profile()
    found = endpoints.profile_endpoint("answer")
    assert found is not None and found.model == "small"
    ModelProfile.objects.filter(pk=profile.pk).update(enabled=False)
    assert endpoints.profile_endpoint("answer") is None


@pytest.mark.django_db(transaction=True)
async def test_a_turn_keeps_what_it_began_with() -> None:
    with active.pinned_setup():
        before = await active.asetup()
        await in_database(make_profile)
        assert await active.asetup() is before
        assert await in_database(active.setup) is before
    after = await active.asetup()
    assert set(after.profiles) == {"answer"}
