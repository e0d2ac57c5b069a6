"""Users in the admin: deleting them with or without their knowledge bases, roles, and adding users."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.models import ChatSession
from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.accounts.roles import Role, assign, role_of
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


def test_deleting_asks_what_to_do_with_the_bases(as_staff: Client, owner: User, base: KnowledgeBase) -> None:
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


def test_bases_are_transferred(as_staff: Client, owner: User, colleague: User, base: KnowledgeBase) -> None:
    file = Document.objects.get().file.name
    own = factories.make_knowledge_base(colleague, "Handbook")
    as_staff.post(address(owner), {"post": "yes", "bases": "hand_over", "heir": colleague.pk})
    assert not User.objects.filter(pk=owner.pk).exists()
    base.refresh_from_db()
    assert base.owner == colleague and base.name == "Handbook (owner)" and not base.memberships.exists()
    assert own in KnowledgeBase.objects.filter(name="Handbook") and default_storage.exists(file)
    assert IndexEntry.objects.count() == 1


def test_users_without_permission_to_delete_are_redirected(owner: User) -> None:
    session = make_session(owner)
    clerk = factories.make_user("clerk", is_staff=True)
    names = ("view_user", "delete_user", "view_chatsession", "delete_chatsession")
    clerk.user_permissions.set(Permission.objects.filter(codename__in=names[:2]))
    client = Client()
    client.force_login(clerk)
    refused = client.get(address(owner)).content.decode()
    assert f'<a class="button" href="{reverse("admin:auth_user_change", args=[owner.pk])}">Back</a>' in refused
    make_turn(session)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=names))
    sessions = reverse("admin:conversations_chatsession_changelist")
    many = {"action": "delete_selected", "_selected_action": session.pk}
    assert f'<a class="button" href="{sessions}">Back</a>' in client.post(sessions, many).content.decode()


def test_a_user_without_bases_is_just_deleted(as_staff: Client, owner: User) -> None:
    make_session(owner)
    asked = as_staff.get(address(owner)).content.decode()
    assert "<li>1 chat</li>" in asked and "<li>0 " not in asked
    as_staff.post(address(owner), {"post": "yes"})
    assert not User.objects.filter(pk=owner.pk).exists() and not ChatSession.objects.exists()


@pytest.mark.parametrize(("codename", "answer"), [("change", "delete"), ("delete", "hand_over")])
def test_permissions_apply_to_bases_too(
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


def test_deleting_a_user_with_many_passages_takes_few_queries(
    as_staff: Client, owner: User, base: KnowledgeBase, django_assert_max_num_queries: Any
) -> None:
    for _ in range(30):
        factories.make_chunk(Document.objects.get())
    with django_assert_max_num_queries(20):
        assert as_staff.get(address(owner)).status_code == 200


def test_users_cannot_be_deleted_in_bulk(as_staff: Client, owner: User, base: KnowledgeBase) -> None:
    chosen = {"action": "delete_selected", "_selected_action": [owner.pk], "post": "yes"}
    as_staff.post(reverse("admin:auth_user_changelist"), chosen)
    assert User.objects.filter(pk=owner.pk).exists()


def person(user: User, **changed: Any) -> dict[str, Any]:
    """Return the form data of a user, with changes."""
    joined = user.date_joined
    form = {"username": user.username, "is_active": "on", "role": role_of(user).value}
    form |= {"date_joined_0": f"{joined:%Y-%m-%d}", "date_joined_1": f"{joined:%H:%M:%S}"}
    if user.is_superuser:
        form |= {"is_staff": "on", "is_superuser": "on"}
    return {name: value for name, value in (form | changed).items() if value is not None}


def test_the_list_shows_groups_and_links_to_invitations(admin_client: Client, django_assert_num_queries: Any) -> None:
    address, group = reverse("admin:auth_user_changelist"), Group.objects.create(name="Pilots")
    User.objects.create_user("mei").groups.add(group)
    with CaptureQueriesContext(connection) as queries:
        page = admin_client.get(address).content.decode()
    assert '<td class="field-groups_shown">Pilots</td>' in page
    assert f'href="{reverse("admin:knowledge_invitation_add")}">Invite with a link<' in page
    User.objects.create_user("tom").groups.add(group)
    with django_assert_num_queries(len(queries)):
        admin_client.get(address)


@pytest.mark.parametrize("role", [Role.CURATOR, Role.ADMINISTRATOR])
def test_a_role_is_assigned_and_listed(admin_client: Client, role: Role) -> None:
    user = User.objects.create_user("mei")
    address = reverse("admin:auth_user_change", args=[user.pk])
    assert admin_client.post(address, person(user, role=role.value)).status_code == 302
    assert role_of(User.objects.get(pk=user.pk)) == role
    assert str(role.label) in admin_client.get(reverse("admin:auth_user_changelist")).content.decode()


@pytest.mark.parametrize("changed", [{"role": "member"}, {"is_active": None}, {"is_superuser": None}])
def test_the_last_administrator_cannot_be_removed(
    admin_client: Client, admin_user: User, changed: dict[str, Any]
) -> None:
    address = reverse("admin:auth_user_change", args=[admin_user.pk])
    response = admin_client.post(address, person(admin_user, **changed))
    assert response.status_code == 200 and "last administrator" in response.content.decode()
    admin_client.post(reverse("admin:auth_user_delete", args=[admin_user.pk]), {"post": "yes"})
    admin_user.refresh_from_db()
    assert admin_user.is_superuser and admin_user.is_active

    assign(User.objects.create_user("jin"), Role.ADMINISTRATOR)
    assert admin_client.post(address, person(admin_user, **changed)).status_code == 302


def test_staff_cannot_create_administrators(client: Client) -> None:
    clerk = User.objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.add(*Permission.objects.filter(content_type__model="user"))
    client.force_login(clerk)
    user = User.objects.create_user("mei")
    address = reverse("admin:auth_user_change", args=[user.pk])
    sent = person(user, role="administrator", is_superuser="on", is_staff="on", first_name="Mei")
    assert client.post(address, sent).status_code == 302
    user.refresh_from_db()
    assert user.first_name == "Mei" and not user.is_superuser and not user.is_staff


def test_the_password_page_has_help_in_the_users_language(as_staff: Client, owner: User) -> None:
    at = reverse("admin:auth_user_password_change", args=[owner.pk])
    shown = as_staff.get(at, HTTP_ACCEPT_LANGUAGE="zh-hans").content.decode()
    assert "用户是否能够使用密码进行认证" in shown and "Whether the user" not in shown
    assert '<ul id="id_unusable_warning"' in shown


def new_person(**changed: Any) -> dict[str, Any]:
    form = {"username": "mei", "first_name": "Mei", "last_name": "Lin", "email": "mei@example.org"}
    return form | {"role": "curator", "usable_password": "false", "password1": "", "password2": ""} | changed


def test_a_user_is_added_on_one_page_and_sets_the_password_with_a_link(admin_client: Client) -> None:
    group, at = Group.objects.create(name="Pilots"), reverse("admin:auth_user_add")
    page = admin_client.get(at).content.decode()
    assert "Member: asks questions and has their own knowledge bases" in page and "edit more user options" not in page
    page = admin_client.post(at, new_person(groups=[group.pk])).content.decode()
    mei = User.objects.get(username="mei")
    assert (mei.get_full_name(), mei.email) == ("Mei Lin", "mei@example.org")
    assert role_of(mei) == Role.CURATOR and [*mei.groups.all()] == [group]
    assert not mei.has_usable_password() and "The user mei was added." in page and f'href="{at}"' in page
    assert "/static/js/copy.js" in page and 'data-copy="#new-link"' in page
    link = re.search(r'id="new-link">http://testserver(/account/password/reset/[^<]+)<', page)
    assert link is not None
    visitor = Client()
    form = visitor.get(link[1])["Location"]
    visitor.post(form, {"password1": "b1 long and new", "password2": "b1 long and new"})
    assert Client().login(username="mei", password="b1 long and new")


def test_a_user_is_added_with_a_password(admin_client: Client) -> None:
    at, secret = reverse("admin:auth_user_add"), "b1 long and new"
    page = admin_client.post(at, new_person(usable_password="true")).content.decode()
    assert "This field is required" in page and not User.objects.filter(username="mei").exists()
    sent = new_person(usable_password="true", password1=secret, password2=secret, role="")
    assert admin_client.post(at, sent)["Location"] == reverse("admin:auth_user_changelist")
    assert Client().login(username="mei", password=secret)
    assert role_of(User.objects.get(username="mei")) == Role.MEMBER


def test_staff_add_users_without_role_or_groups(client: Client) -> None:
    clerk = User.objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.add(*Permission.objects.filter(content_type__model="user"))
    client.force_login(clerk)
    at, group = reverse("admin:auth_user_add"), Group.objects.create(name="Pilots")
    page = client.get(at).content.decode()
    assert 'name="role"' not in page and "Groups" not in re.sub(r"<nav.*?</nav>", "", page, flags=re.DOTALL)
    assert client.post(at, new_person(role="administrator", groups=[group.pk])).status_code == 200
    mei = User.objects.get(username="mei")
    assert role_of(mei) == Role.MEMBER and not mei.groups.exists()


def test_adding_a_user_from_another_page_returns_to_it(admin_client: Client) -> None:
    at = f"{reverse('admin:auth_user_add')}?_popup=1"
    assert b"popup_response" in admin_client.post(at, new_person(_popup="1")).content
