"""Scripts of admin pages: only used ones are loaded, and all are deferred."""

import re
from typing import Any

import pytest
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.models import Group, User
from django.test import Client, RequestFactory
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db
USERS, GROUPS = reverse("admin:auth_user_changelist"), reverse("admin:auth_group_changelist")


def scripts(page: str) -> list[str]:
    """Return the scripts of a page by name, in order; each waits for the page, but for the one that sets the theme."""
    found = re.findall(r"<script([^>]*)>", page)
    names = [attributes.partition('src="')[2].partition('"')[0] for attributes in found]
    waiting = [re.search(r"\b(defer|async)\b|module", attributes) is not None for attributes in found]
    assert [name for name, waits in zip(names, waiting, strict=True) if not waits] == ["/static/js/admin-theme.js"]
    return [re.sub(r"(\.min)?\.js$", "", name).rpartition("/")[2] for name in names]


def of(client: Client, address: str, **form: Any) -> list[str]:
    response = client.post(address, form) if form else client.get(address)
    assert response.status_code == 200
    return [name for name in scripts(response.content.decode()) if not name.startswith(("admin-", "nav_"))]


def test_a_page_loads_what_it_uses_in_order(as_staff: Client) -> None:
    user, group = factories.make_user("someone"), Group.objects.create(name="Sales")
    jquery = ["jquery", "jquery.init", "core", "RelatedObjectLookups"]
    assert of(as_staff, USERS) == ["filters"]
    assert of(as_staff, f"{USERS}?_popup=1") == ["", *jquery, "filters"]
    assert of(as_staff, GROUPS) == ["", "actions", "filters"]  # the first is the catalogue of texts
    assert of(as_staff, reverse("admin:auth_user_delete", args=[user.pk])) == ["cancel"]
    assert of(as_staff, GROUPS, action="delete_selected", _selected_action=group.pk) == ["cancel"]
    assert of(as_staff, reverse("admin:auth_user_history", args=[user.pk])) == []
    added = of(as_staff, reverse("admin:auth_user_add"))
    assert added == ["", *jquery, "SelectBox", "SelectFilter2", "change_form", "unusable_password_field"]
    form = reverse("admin:auth_group_change", args=[group.pk])
    assert of(as_staff, form) == ["", *jquery, "SelectBox", "SelectFilter2", "change_form"]
    form = reverse("admin:django_q_schedule_add")
    assert {"calendar", "DateTimeShortcuts", "core"} < set(of(as_staff, form))
    boxes = of(as_staff, reverse("admin:knowledge_knowledgebase_add"))
    assert boxes.index("jquery") < boxes.index("select2.full") < boxes.index("jquery.init")
    assert boxes.index("jquery.init") < boxes.index("autocomplete") < boxes.index("inlines")


@pytest.mark.parametrize(
    ("options", "there"),
    [
        ({"fields": ["first_name"]}, set()),
        (
            {"fields": ["first_name", "last_name"], "prepopulated_fields": {"first_name": ["last_name"]}},
            {"jquery", "RelatedObjectLookups", "urlify", "prepopulate", "xregexp", "prepopulate_init"},
        ),
        (
            {"model": Group, "fields": ["permissions"], "raw_id_fields": ["permissions"]},
            {"jquery", "RelatedObjectLookups"},
        ),
    ],
    ids=["text", "prepopulated", "looked up"],
)
def test_a_form_loads_what_its_fields_use(
    rf: RequestFactory, staff: User, options: dict[str, Any], there: set[str]
) -> None:
    model = options.pop("model", User)
    request = rf.get("/")
    request.user = staff
    page = type("Admin", (ModelAdmin,), options)(model, AdminSite("admin")).changeform_view(request)
    ready: Any = page
    found = set(scripts(ready.render().content.decode()))
    known = {"urlify", "prepopulate", "xregexp", "prepopulate_init", "jquery", "RelatedObjectLookups", "actions"}
    assert found & known == there
