"""The page that shows staff what the environment sets of the pipeline and the search."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import translation
from pytest_django import Settings

from conversations.web import settings_page
from conversations.web.settings_page import Cell
from ragsite import env

pytestmark = pytest.mark.django_db
NAMES = [option.name for section, rows in env.rows() if section.shown for row in rows for option in row]


def cell(name: str) -> Cell:
    return settings_page.cell(env.options[name])


def rows_of(page: str) -> dict[str, str]:
    """Return the text of each variable's row, its cells apart by a bar."""
    rows = re.findall(r"<tr>\s*<th scope=\"row\"><code>(\w+)</code></th>(.*?)</tr>", page, re.DOTALL)
    return {
        name: re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", rest.replace("</td>", "|"))).strip() for name, rest in rows
    }


def test_staff_see_every_setting_with_its_value_and_its_default(as_staff: Client, settings: Settings) -> None:
    settings.ANSWER_TOP_K, settings.VECTOR_THRESHOLD = 7, 0.0
    rows = rows_of(as_staff.get(reverse("pipeline-settings")).content.decode())
    assert list(rows) == NAMES
    assert rows["ANSWER_TOP_K"] == "7 not the default| 5 (1 – 100)| Passages that reach the answer |"
    assert rows["VECTOR_THRESHOLD"].startswith("0 not the default| off|")
    assert rows["FUSED_K"] == "10| 10 (1 – 1000)| Hits kept after fusion |"
    assert rows["ENABLE_RERANK"].startswith("false| false|")
    assert rows["RERANK_BLEND"].startswith("fused:0.3,endpoint:0.7| fused:0.3,endpoint:0.7|")


def test_nobody_else_does(as_owner: Client, client: Client) -> None:
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


def test_what_is_found_out_at_the_start_is_told_in_words(settings: Settings) -> None:
    with translation.override("en"):
        for name, words in (("LLM_MODEL", "first offered"), ("BM25_THRESHOLD", "off"), ("TRACE_EXPIRE_DAYS", "never")):
            assert (cell(name).value, cell(name).default) == (words, words)
        settings.EMBEDDING_LANGUAGES = ()
        assert cell("EMBEDDING_LANGUAGES") == Cell("EMBEDDING_LANGUAGES", "all", "by the model's name")


def test_it_leads_to_and_from_the_pipeline(as_staff: Client) -> None:
    assert reverse("pipeline-settings") in as_staff.get(reverse("pipeline")).content.decode()
    assert reverse("pipeline-settings") in as_staff.get(reverse("admin:index")).content.decode()
    assert f'href="{reverse("pipeline")}"' in as_staff.get(reverse("pipeline-settings")).content.decode()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_it_speaks_the_readers_language(as_staff: Client, staff: User, language: str) -> None:
    page = as_staff.get(reverse("pipeline-settings"), headers={"Accept-Language": language}).content.decode()
    with translation.override(language):
        assert translation.gettext("Language model") in page
        assert str(env.options["CONVERSATION_EXPIRE_DAYS"].unset) in page
