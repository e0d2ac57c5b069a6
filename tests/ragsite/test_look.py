"""The site's name and colour on its pages and in its mails."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from ragsite.site_settings import accent
from ragsite.site_settings.config import change, refresh


def _rgb(colour: str) -> accent.Rgb:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


@given(st.from_regex(r"#[0-9a-f]{6}", fullmatch=True))
def test_any_colour_is_legible_in_both_themes(colour: str) -> None:
    style = accent.style_of(colour)
    pairs = dict(re.findall(r"--([\w-]+):light-dark\((#\w{6},#\w{6})\)", style))
    light, dark = map(_rgb, pairs["site-accent"].split(","))
    on_light, on_dark = map(_rgb, pairs["on-accent"].split(","))
    assert accent.contrast(light, on_light) >= 4.5 and accent.contrast(dark, on_dark) >= 4.5
    assert accent.contrast(light, (1, 1, 1)) >= 4.5 and accent.contrast(dark, _rgb("#2a2725")) >= 4.5
    assert "}" not in style[:-1] and "<" not in style


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAGSITE_SITE_NAME", "x" * 41),
        ("RAGSITE_SITE_NAME", "two\nlines"),
        ("RAGSITE_SITE_COLOUR", "red"),
        ("RAGSITE_SITE_COLOUR", "#12345"),
        ("RAGSITE_SITE_COLOUR", "#123456;}"),
    ],
)
@pytest.mark.django_db
def test_other_values_are_refused(owner: User, name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        change(owner, {name: value})


@pytest.mark.django_db
def test_pages_have_the_name_and_the_colour(as_owner: Client, as_staff: Client, owner: User, client: Client) -> None:
    assert "<style" not in as_owner.get("/", follow=True).content.decode()
    change(owner, {"RAGSITE_SITE_NAME": "Fen & Marsh", "RAGSITE_SITE_COLOUR": "#0A7A5A"})
    refresh()
    for user, address in ((as_owner, "/"), (as_staff, "/admin/"), (client, "/login/")):
        response = user.get(address, follow=True)
        page = response.content.decode()
        assert "Fen &amp; Marsh" in page and "Ragsite</" not in page, address
        nonce = re.search(r'<style nonce="([^"]+)">:root{--site-accent:light-dark\(#0a7a5a,', page)
        assert nonce and f"'nonce-{nonce[1]}'" in response.headers["Content-Security-Policy"], address
