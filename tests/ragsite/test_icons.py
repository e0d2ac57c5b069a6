"""Icons in pages."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ragsite.templatetags.icons import lucide

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


def test_an_icon_is_an_svg_within_html() -> None:
    icon = lucide("x", size=16, **{"class": 'a" onload="b'})
    svg = ElementTree.fromstring(icon)
    assert (svg.tag, svg.get("width"), svg.get("height"), svg.get("class")) == ("svg", "16", "16", 'a" onload="b')
    assert [element.tag for element in svg] == ["path", "path"]
    assert "xmlns" not in icon and "\n" not in icon


def test_every_icon_that_a_page_names_is_there() -> None:
    names = {
        name
        for page in TEMPLATES.rglob("*.html")
        for name in re.findall(r'{% lucide "([^"]+)"', page.read_text(encoding="utf-8"))
    }
    assert len(names) > 50
    for name in names:
        lucide(name)


def test_an_unknown_one_is_named() -> None:
    with pytest.raises(KeyError, match=r"no-such-icon\.svg"):
        lucide("no-such-icon")
