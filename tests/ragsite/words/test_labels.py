"""Labels in the admin, and the Chinese texts of its scripts."""

import gettext
import json
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse
from django.utils.functional import Promise

from conversations.models import Message
from knowledge.models import Chunk
from ragsite.models import ApiToken
from ragsite.words import labels

CATALOGUE = Path("locale") / "zh_Hans" / "LC_MESSAGES" / "djangojs.mo"


def test_fields_without_a_label_of_their_own_have_one_that_can_be_translated() -> None:
    for model in admin.site._registry:
        for field in model._meta.concrete_fields:
            if field.name.replace("_", " ") in labels.FIELDS:
                assert isinstance(field.verbose_name, Promise), field
    assert str(Chunk._meta.get_field("page_from").verbose_name) == "first page"
    assert str(Message._meta.get_field("role").verbose_name) == "role"
    assert str(apps.get_model("mfa.Authenticator")._meta.verbose_name_plural) == "second factors"


def test_migrations_do_not_notice() -> None:
    field = Chunk._meta.get_field("page_from")
    assert "verbose_name" not in field.deconstruct()[3]


@pytest.mark.django_db
def test_permissions_are_shown_in_the_reader_s_language(as_staff: Client) -> None:
    page = as_staff.get(reverse("admin:auth_group_add"), HTTP_ACCEPT_LANGUAGE="zh-hans").content.decode()
    assert ">对话 | 消息 | 查看</option>" in page and ">知识库 | 知识库 | 管理全部</option>" in page
    assert " | Can " not in page
    assert "Can " in str(Permission(name="Can fly", codename="fly_kite", content_type=ContentType(app_label="x")))


@pytest.mark.django_db
def test_who_leaves_a_group_that_is_deleted_is_named(as_staff: Client, owner: User) -> None:
    group = Group.objects.create(name="Law")
    group.user_set.add(owner)
    group.permissions.add(Permission.objects.get(codename="view_message"))
    page = as_staff.get(reverse("admin:auth_group_delete", args=[group.pk])).content.decode()
    assert "Membership of a group: owner" in page and "Permission of a group: Conversations | message | view" in page
    assert "Memberships of groups: 1" in page


@pytest.mark.django_db
def test_no_page_of_a_token_joins_words_of_two_scripts(as_staff: Client, owner: User) -> None:
    token = ApiToken.objects.create(user=owner, name="Own")
    for page, args in (("changelist", []), ("change", [token.pk])):
        address = reverse(f"admin:ragsite_apitoken_{page}", args=args)
        title = as_staff.get(address, HTTP_ACCEPT_LANGUAGE="zh-hans").context["title"]
        assert "API" in title and not re.search(r"[\u4e00-\u9fff]API", title)


@pytest.mark.django_db
def test_scripts_speak_chinese(as_staff: Client) -> None:
    catalogue = as_staff.get(reverse("admin:jsi18n"), HTTP_ACCEPT_LANGUAGE="zh-hans").content.decode()
    assert json.dumps("移除全部%s") in catalogue


def test_the_scripts_catalogue_is_compiled() -> None:
    source = CATALOGUE.with_suffix(".po").read_text(encoding="utf-8")
    with CATALOGUE.open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for text in ("Choose all %s", "Chosen %s", "Filter", "(click to clear)"):
        assert f'msgstr "{compiled.gettext(text)}"' in source
