"""Highlighting of code: classes, code that stays plain, and contrast."""

import re
from pathlib import Path

import pytest

from ragsite.markup import highlighting
from ragsite.markup.highlighting import LONGEST, LONGEST_LINE, highlighted

CSS = Path(__file__).resolve().parents[3] / "static" / "css"


def plain(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_tokens_become_elements_of_a_few_classes() -> None:
    html = highlighted('def answer(n):\n    return "a" if n < 42 else None  # why\n', "python")
    for element in (
        '<span class="k">def </span>', '<span class="nf">answer</span>', '<span class="m">42 </span>',
        '<span class="c"># why\n</span>',
    ):  # fmt: skip
        assert element in html
    assert re.search(r'<span class="s">&quot;a&quot; ?</span>', html)
    assert set(re.findall(r'class="(\w+)"', html)) <= {"k", "s", "c", "m", "nf", "nb", "nv", "gd", "gi"}


def test_neighbours_of_a_kind_are_one_element() -> None:
    assert highlighted("# one\n# two\n", "python").count("<span") == 1


def test_a_change_shows_what_went_and_what_came() -> None:
    html = highlighted("-old\n+new\n", "diff")
    assert '<span class="gd">-old' in html and '<span class="gi">+new' in html


@pytest.mark.parametrize("language", ["", "nonsense", "x" * 31, "brainfuck"])
def test_of_unknown_languages_it_stays_plain(language: str) -> None:
    assert highlighted("if a < b: pass", language) == "if a &lt; b: pass"


@pytest.mark.parametrize("code", ["x = 1\n" * (LONGEST // 6 + 1), "x" * (LONGEST_LINE + 1)])
def test_what_is_too_long_stays_plain(code: str) -> None:
    assert highlighted(code, "python") == code


@pytest.mark.parametrize("language", ["python", "html", "php", "diff", "text", "bash"])
def test_nothing_is_added_lost_or_executed(language: str) -> None:
    code = "<script>alert('&amp;')</script>\n\n  \tx = \"<b>\"\n"
    html = highlighted(code, language)
    assert "<script" not in html and "<b>" not in html
    assert plain(html).replace("&#x27;", "'").replace("&quot;", '"').replace("&#39;", "'") == code


def test_where_time_is_up_the_rest_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlighting, "_PATIENCE", -1.0)
    html = highlighted("def late():\n    return 1\n", "python")
    assert plain(html) == "def late():\n    return 1\n" and "return</span>" not in html


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_stand_out_from_their_ground(theme: int) -> None:
    tokens = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", (CSS / "tokens.css").read_text()))
    rules = re.findall(
        r"^\.code (\.[^{]+)\{\s*color: light-dark\((#\w{6}, #\w{6})\);([^}]*)", _chat_css(), re.MULTILINE
    )
    assert {name for names, *_ in rules for name in re.findall(r"\.(\w+)", names)} - {"code"} == {
        name for _kind, name in highlighting._CLASSES if name
    }
    for names, colours, more in rules:
        ground = found[1] if (found := re.search(r"background: var\(--([\w-]+)\)", more)) else "sunken"
        both = [_luminance(pair.split(", ")[theme]) for pair in (colours, tokens[ground])]
        assert (max(both) + 0.05) / (min(both) + 0.05) >= 4.5, names


def _chat_css() -> str:
    return (CSS / "pages" / "chat.css").read_text()
