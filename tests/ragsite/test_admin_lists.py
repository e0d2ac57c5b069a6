"""The admin's navigation: lists beside every page, in the sections of the first page."""

import re
from html import unescape

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import reverse

from retrieval.embedding_models.models import RegisteredModel
from tests import factories

pytestmark = pytest.mark.django_db
USERS = reverse("admin:auth_user_changelist")


def part(page: str, pattern: str) -> str:
    found = re.search(pattern, page, re.DOTALL)
    assert found is not None
    return found[0]


def lists_beside(page: str) -> list[tuple[str, str]]:
    """Return what stands in the column: the names of sections, and the addresses of lists."""
    return re.findall(r'<p id="lists-[^>]*>([^<]*)|<li>\s*<a href="([^"]*)"', part(page, r'<nav id="lists".*?</nav>'))


def crumbs(client: Client, address: str, **form: object) -> str:
    """Return the breadcrumbs of a page, without their links."""
    page = (client.post(address, form) if form else client.get(address)).content.decode()
    text = re.sub(r"<[^>]*>", "", part(page, r'<div class="breadcrumbs">.*?</div>'))
    return " ".join(unescape(text).split())


def test_every_list_is_beside_every_other_as_on_the_first_page(as_staff: Client) -> None:
    sections = as_staff.get(reverse("admin:index")).context["app_list"]
    expected = []
    for section in sections:
        expected += [(str(section["name"]), ""), *(("", row["admin_url"]) for row in section["models"])]
    assert len(expected) > len(admin.site._registry)
    for section in sections:
        for row in section["models"]:
            page = as_staff.get(row["admin_url"]).content.decode()
            assert lists_beside(page) == expected
            assert re.findall(r'href="([^"]*)" aria-current="page"', page) == [row["admin_url"]]
            assert crumbs(as_staff, row["admin_url"]).startswith(f"Home › {section['name']} › ")


def test_the_list_of_a_form_is_marked(as_staff: Client) -> None:
    user = factories.make_user("someone")
    page = as_staff.get(reverse("admin:auth_user_change", args=[user.pk])).content.decode()
    assert re.findall(r'<a href="([^"]*)" aria-current="true"', page) == [USERS]
    assert 'id="lists"' not in as_staff.get(f"{USERS}?_popup=1").content.decode()


def test_who_may_see_one_list_has_one(client: Client) -> None:
    looker = factories.make_user("looker", is_staff=True)
    looker.user_permissions.set(Permission.objects.filter(codename__in=["view_group", "add_limit"]))
    client.force_login(looker)
    lists = reverse("admin:auth_group_changelist"), reverse("admin:ragsite_limit_add")
    page = client.get(lists[0]).content.decode()
    assert lists_beside(page) == [("People and permissions", ""), *(("", address) for address in lists)]


def test_breadcrumbs_lead_by_the_section_to_the_object(as_staff: Client) -> None:
    user, group = factories.make_user("someone"), Group.objects.create(name="Sales")
    people = "Home › People and permissions › Users"
    assert crumbs(as_staff, USERS) == people
    assert crumbs(as_staff, reverse("admin:auth_user_add")) == f"{people} › Add user"
    assert crumbs(as_staff, reverse("admin:auth_user_change", args=[user.pk])) == f"{people} › someone"
    assert crumbs(as_staff, reverse("admin:auth_user_delete", args=[user.pk])) == f"{people} › someone › Delete"
    history = reverse("admin:auth_user_history", args=[user.pk])
    assert crumbs(as_staff, history) == f"{people} › someone › Change history: someone"
    link = reverse("admin:auth_user_change", args=[user.pk])
    assert f'<a href="{link}">someone</a>' in as_staff.get(history).content.decode()
    chosen = {"action": "delete_selected", "_selected_action": group.pk}
    groups = "Home › People and permissions › Groups › Delete multiple objects"
    assert crumbs(as_staff, reverse("admin:auth_group_changelist"), **chosen) == groups
    models = "Home › Models and prompts › "
    assert crumbs(as_staff, reverse("admin:retrieval_registeredmodel_changelist")) == f"{models}Embedding models"
    model = RegisteredModel.objects.create(name="by-hand", source="files", state="ready")
    assert crumbs(as_staff, reverse("admin:retrieval_registeredmodel_change", args=[model.pk])) == (
        f"{models}Embedding models › by-hand"
    )
    set_up = reverse("admin:conversations_modelprofile_set_up")
    assert crumbs(as_staff, set_up) == f"{models}Model profiles › Connect a model"


def test_a_section_of_the_breadcrumbs_is_one_of_the_first_page(as_staff: Client) -> None:
    page = as_staff.get(USERS).content.decode()
    index, _hash, section = (
        part(page, r'href="([^"]*#[^"]*)">People').partition('"')[2].partition('"')[0].partition("#")
    )
    assert f'id="{section}"' in as_staff.get(index).content.decode()
