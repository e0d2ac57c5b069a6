"""Deleting a user in the admin: what becomes of their knowledge bases is asked, and nothing of them stays behind."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from conversations.models import ChatSession
from knowledge.models import Chunk, Document, KnowledgeBase
from retrieval.models import IndexEntry
from tests import factories
from tests.conversations.conftest import index_document
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def base(owner: User, colleague: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Handbook")
    index_document(base, ("The switch has nine ports.",))
    factories.share(base, colleague)
    make_turn(make_session(owner), chunk=Chunk.objects.get())
    return base


def address(user: User) -> str:
    return reverse("admin:auth_user_delete", args=[user.pk])


def test_it_is_asked_what_becomes_of_the_bases(as_staff: Client, owner: User, base: KnowledgeBase) -> None:
    page = as_staff.get(address(owner)).content.decode()
    assert 'value="hand_over"' in page and 'value="delete"' in page
    assert "1 knowledge base" in page and "1 document" in page and "1 chat" in page
    for answer in ({}, {"bases": "hand_over"}, {"bases": "hand_over", "heir": owner.pk}, {"bases": "keep"}):
        assert as_staff.post(address(owner), {"post": "yes"} | answer).status_code == 302
        assert User.objects.filter(pk=owner.pk).exists() and KnowledgeBase.objects.exists(), answer


def test_bases_are_deleted_with_files_and_index(as_staff: Client, owner: User, base: KnowledgeBase) -> None:
    file = Document.objects.get().file.name
    as_staff.post(address(owner), {"post": "yes", "bases": "delete"})
    assert not User.objects.filter(pk=owner.pk).exists()
    for model in (KnowledgeBase, Document, Chunk, IndexEntry, ChatSession):
        assert not model._default_manager.exists(), model
    assert not default_storage.exists(file)


def test_bases_are_handed_over(as_staff: Client, owner: User, colleague: User, base: KnowledgeBase) -> None:
    file = Document.objects.get().file.name
    own = factories.make_knowledge_base(colleague, "Handbook")
    as_staff.post(address(owner), {"post": "yes", "bases": "hand_over", "heir": colleague.pk})
    assert not User.objects.filter(pk=owner.pk).exists()
    base.refresh_from_db()
    assert base.owner == colleague and base.name == "Handbook (owner)" and not base.memberships.exists()
    assert own in KnowledgeBase.objects.filter(name="Handbook") and default_storage.exists(file)
    assert IndexEntry.objects.count() == 1


def test_who_has_no_bases_is_just_deleted(as_staff: Client, owner: User) -> None:
    make_session(owner)
    as_staff.post(address(owner), {"post": "yes"})
    assert not User.objects.filter(pk=owner.pk).exists() and not ChatSession.objects.exists()


@pytest.mark.parametrize(("codename", "answer"), [("change", "delete"), ("delete", "hand_over")])
def test_permissions_decide_over_bases_too(
    owner: User, colleague: User, base: KnowledgeBase, codename: str, answer: str
) -> None:
    clerk = factories.make_user("clerk", is_staff=True)
    names = ("view_user", "delete_user", "delete_chatsession", f"{codename}_knowledgebase")
    clerk.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = Client()
    client.force_login(clerk)
    form: dict[str, Any] = {"post": "yes", "heir": colleague.pk}
    client.post(address(owner), form | {"bases": answer})
    assert User.objects.filter(pk=owner.pk).exists()
    other = {"delete": "hand_over", "hand_over": "delete"}[answer]
    client.post(address(owner), form | {"bases": other})
    assert not User.objects.filter(pk=owner.pk).exists()


def test_a_page_for_one_with_many_passages_takes_few_queries(
    as_staff: Client, owner: User, base: KnowledgeBase, django_assert_max_num_queries: Any
) -> None:
    for _ in range(30):
        factories.make_chunk(Document.objects.get())
    with django_assert_max_num_queries(20):
        assert as_staff.get(address(owner)).status_code == 200


def test_many_are_not_deleted_at_once(as_staff: Client, owner: User, base: KnowledgeBase) -> None:
    chosen = {"action": "delete_selected", "_selected_action": [owner.pk], "post": "yes"}
    as_staff.post(reverse("admin:auth_user_changelist"), chosen)
    assert User.objects.filter(pk=owner.pk).exists()
