"""The page of the site's settings for staff."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import translation
from pytest_django import Settings

from conversations.web import settings_page
from conversations.web.settings_page import Cell
from ragsite import env
from ragsite.models import SettingChange, SiteSetting
from ragsite.site_settings.config import config
from tests import factories

pytestmark = pytest.mark.django_db
NAMES = [
    option.name
    for section, rows in env.rows()
    for row in rows
    if section.shown or any(option.live for option in row)
    for option in row
]


def cell(name: str) -> Cell:
    return settings_page.cell(env.options[name])


def rows_of(page: str) -> dict[str, str]:
    """Return the text of each variable's row, with its cells separated by a bar."""
    row = r'<tr>\s*<th scope="row">(?:<label[^>]*>)?<code>(\w+)</code>.*?</th>(.*?)</tr>'
    return {
        name: re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", re.sub(r"\s*</td>", "|", rest))).strip()
        for name, rest in re.findall(row, page, re.DOTALL)
    }


@pytest.fixture
def as_viewer() -> Client:
    """A client who can view the site's configuration, but not change it."""
    viewer = factories.make_user(is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_modelprofile"))
    client = Client()
    client.force_login(viewer)
    return client


def test_staff_see_every_setting_with_its_value_and_its_default(as_viewer: Client, settings: Settings) -> None:
    settings.ANSWER_TOP_K, settings.VECTOR_THRESHOLD = 7, 0.0
    rows = rows_of(as_viewer.get(reverse("pipeline-settings")).content.decode())
    assert list(rows) == NAMES
    assert rows["ANSWER_TOP_K"] == "7 not the default| 5 (1 – 100)| Number of passages used for an answer|"
    assert rows["VECTOR_THRESHOLD"].startswith("0 not the default| off|")
    assert rows["FUSED_K"] == "10| 10 (1 – 1000)| Number of hits kept after fusion|"
    assert rows["ENABLE_RERANK"].startswith("false| false|")
    assert rows["RERANK_BLEND"].startswith("fused:0.3,endpoint:0.7| fused:0.3,endpoint:0.7|")


def test_others_cannot_see_the_settings(as_owner: Client, client: Client) -> None:
    assert as_owner.get(reverse("pipeline-settings")).status_code == 404
    assert client.get(reverse("pipeline-settings")).status_code == 302


def test_no_secret_shows(as_staff: Client, settings: Settings) -> None:
    for name in NAMES:
        if name.endswith("_KEY"):
            setattr(settings, name, "s3cret")
        if name.endswith("_URL"):
            setattr(settings, name, "https://me:s3cret@models.example.com:8443/v1?key=s3cret#s3cret")
    page = as_staff.get(reverse("pipeline-settings")).content.decode()
    assert "s3cret" not in page
    rows = rows_of(page)
    assert rows["LLM_API_KEY"].startswith("set not the default| not set|")
    assert rows["LLM_BASE_URL"].startswith("https://models.example.com:8443/v1 not the default| not set|")


def test_values_determined_at_start_are_described(settings: Settings) -> None:
    with translation.override("en"):
        for name, words in (
            ("LLM_MODEL", "the first one offered"),
            ("BM25_THRESHOLD", "off"),
            ("TRACE_EXPIRE_DAYS", "never"),
        ):
            assert (cell(name).value, cell(name).default) == (words, words)
        settings.EMBEDDING_LANGUAGES = ()
        assert cell("EMBEDDING_LANGUAGES") == Cell("EMBEDDING_LANGUAGES", "all", "derived from the model's name")


def test_it_links_to_and_from_the_pipeline(as_staff: Client) -> None:
    assert reverse("pipeline-settings") in as_staff.get(reverse("pipeline")).content.decode()
    assert reverse("pipeline-settings") in as_staff.get(reverse("admin:index")).content.decode()
    assert f'href="{reverse("pipeline")}"' in as_staff.get(reverse("pipeline-settings")).content.decode()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_it_speaks_the_readers_language(as_staff: Client, staff: User, language: str) -> None:
    page = as_staff.get(reverse("pipeline-settings"), headers={"Accept-Language": language}).content.decode()
    with translation.override(language):
        assert translation.gettext("Language model") in page
        assert str(env.options["CONVERSATION_EXPIRE_DAYS"].unset) in page


def test_an_administrator_changes_and_resets_settings(as_staff: Client, staff: User) -> None:
    address = reverse("pipeline-settings")
    saved = as_staff.post(address, {"ANSWER_TOP_K": "8", "ENABLE_RERANK": "true", "RERANK_BLEND": "fused:1,local:2"})
    assert saved.status_code == 302
    assert (config.ANSWER_TOP_K, config.ENABLE_RERANK) == (8, True)
    assert config.RERANK_BLEND == {"fused": 1.0, "local": 2.0}
    page = as_staff.get(address).content.decode()
    assert re.search(r'name="ANSWER_TOP_K" value="8"', page) and "default: 5" in page
    as_staff.post(address, {"ANSWER_TOP_K": "", "ENABLE_RERANK": "true", "RERANK_BLEND": "fused:1,local:2"})
    assert config.ANSWER_TOP_K == 5
    assert list(SiteSetting.objects.values_list("name", flat=True)) == ["ENABLE_RERANK", "RERANK_BLEND"]
    changes = SettingChange.objects.filter(name="ANSWER_TOP_K").order_by("pk")
    assert [(each.before, each.after, each.username) for each in changes] == [
        (None, "8", staff.username),
        ("8", None, staff.username),
    ]
    assert SettingChange.objects.count() == 4


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ANSWER_TOP_K", "101", "less than or equal to 100"),
        ("ANSWER_TOP_K", "many", "Enter a whole number"),
        ("RERANK_BLEND", "magic:1", "Valid names are: fused, endpoint, local, llm"),
        ("ANSWER_DIALECT", "xml", "xml is not one of the available choices"),
    ],
)
def test_a_value_out_of_bounds_changes_nothing(as_staff: Client, name: str, value: str, says: str) -> None:
    answer = as_staff.post(reverse("pipeline-settings"), {name: value, "FUSED_K": "20"})
    assert answer.status_code == 422
    assert says in answer.content.decode() and "Nothing was changed" in answer.content.decode()
    assert config.FUSED_K == 10 and not SiteSetting.objects.exists()


def test_what_the_environment_sets_is_pinned(as_staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    SiteSetting.objects.create(name="ANSWER_TOP_K", value="9")
    monkeypatch.setenv("ANSWER_TOP_K", "5")
    page = as_staff.get(reverse("pipeline-settings")).content.decode()
    assert rows_of(page)["ANSWER_TOP_K"].startswith("5 set by the environment|")
    assert 'name="ANSWER_TOP_K"' not in page
    as_staff.post(reverse("pipeline-settings"), {"ANSWER_TOP_K": "7"})
    assert config.ANSWER_TOP_K == 5


def test_viewers_cannot_change_settings(as_viewer: Client, as_owner: Client) -> None:
    assert 'name="ANSWER_TOP_K"' not in as_viewer.get(reverse("pipeline-settings")).content.decode()
    assert as_viewer.post(reverse("pipeline-settings"), {"ANSWER_TOP_K": "8"}).status_code == 403
    assert as_owner.post(reverse("pipeline-settings"), {"ANSWER_TOP_K": "8"}).status_code == 404
    assert not SiteSetting.objects.exists()
