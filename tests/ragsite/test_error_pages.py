"""Tests of the page for unknown addresses."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("language", "title"), [("en", "Page not found"), ("zh-hans", "页面不存在")])
def test_an_unknown_address_leads_on(client: Client, as_owner: Client, language: str, title: str) -> None:
    headers = {"Accept-Language": language, "Accept": "text/html"}
    own, other = as_owner.get("/nowhere/", headers=headers), client.get("/nowhere/", headers=headers)
    assert (own.status_code, other.status_code) == (404, 404)
    for link in ('href="/"', 'href="/knowledge/"'):
        assert link in own.content.decode() and link not in other.content.decode()
    assert 'href="/login/?next=/nowhere/"' in other.content.decode() and title in own.content.decode()
