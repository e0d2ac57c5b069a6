"""Saved prompts of users and of the site, and who can change them."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from conversations.models import SavedPrompt

pytestmark = pytest.mark.django_db


def let_share(user: User) -> None:
    user.user_permissions.add(Permission.objects.get(codename="change_savedprompt"))


def test_own_prompts_are_created_changed_and_deleted(as_owner: Client, owner: User, stranger: User) -> None:
    SavedPrompt.objects.create(owner=stranger, title="Theirs", text="x")
    SavedPrompt.objects.create(title="Of the site", text="y")
    as_owner.post(reverse("saved-prompts"), {"title": "Mine", "text": "How long is {{what}}?", "for_all": "on"})
    mine = SavedPrompt.objects.get(title="Mine")
    assert mine.owner == owner
    listed = as_owner.get(reverse("offered-prompts")).content.decode()
    assert 'data-prompt="How long is {{what}}?"' in listed
    assert "Of the site" in listed
    assert "Theirs" not in listed
    assert as_owner.post(reverse("saved-prompts"), {"title": " ", "text": "z"}).status_code == 400
    as_owner.post(reverse("saved-prompt", args=[mine.pk]), {"title": "Renamed", "text": "z"})
    assert "Renamed" in as_owner.get(reverse("saved-prompts")).content.decode()
    as_owner.post(reverse("delete-saved-prompt", args=[mine.pk]))
    assert not SavedPrompt.objects.filter(owner=owner).exists()


def test_site_prompts_require_a_permission(as_owner: Client, owner: User) -> None:
    shared = SavedPrompt.objects.create(title="Of the site", text="y")
    address = reverse("saved-prompt", args=[shared.pk])
    assert as_owner.post(address, {"title": "Taken", "text": "y"}).status_code == 404
    assert as_owner.delete(f"/api/prompts/{shared.pk}").status_code == 404
    refused = as_owner.post("/api/prompts", {"title": "A", "text": "b", "for_all": True}, "application/json")
    assert refused.status_code == 403
    let_share(owner)
    as_owner.post(address, {"title": "Changed", "text": "y", "for_all": "on"})
    shared.refresh_from_db()
    assert (shared.title, shared.owner) == ("Changed", None)
    made = as_owner.post("/api/prompts", {"title": "A", "text": "b", "for_all": True}, "application/json")
    assert (made.status_code, made.json()["for_all"]) == (201, True)


def test_the_api_manages_saved_prompts(as_owner: Client, owner: User) -> None:
    made = as_owner.post("/api/prompts", {"title": "A", "text": "b"}, "application/json").json()
    assert (
        as_owner.get("/api/prompts").json()
        == [made]
        == [{"id": made["id"], "title": "A", "text": "b", "for_all": False}]
    )
    address = f"/api/prompts/{made['id']}"
    assert as_owner.patch(address, {"text": "c"}, "application/json").json()["text"] == "c"
    assert as_owner.patch(address, {"title": ""}, "application/json").status_code == 400
    assert as_owner.delete(address).status_code == 204
