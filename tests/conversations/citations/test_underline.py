"""Tests of underlining the sentences of an answer that their sources don't support."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.citations.underline import SentenceMark
from conversations.rendering.markdown import Context, Marker, render, render_inline
from tests.conversations.records import make_session, make_turn
from tests.nightly import examples

SURE = SentenceMark("supported", "Supported", "Supported")
PARTLY = SentenceMark("partly", "Partly supported", "Partly · “45” <is> not there")
MISSING = SentenceMark("not_found", "Not found", "Not found")


def context(*verdicts: SentenceMark, second: tuple[SentenceMark, ...] = ()) -> Context:
    return Context({1: Marker("/1", "Source 1", verdicts), 2: Marker("/2", "Source 2", second)})


def doubted(html: str) -> list[tuple[str, str]]:
    """Return class and text of each underlined part."""
    found = re.findall(r'<span class="doubt (\w+)" title="[^"]*">(.*?)</span>', html, re.DOTALL)
    return [(status, re.sub("<[^>]+>", "", text)) for status, text in found]


@pytest.mark.parametrize(
    ("text", "verdicts", "expected"),
    [
        ("It is red [1]. It has 45 ports [1].", (SURE, PARTLY), [("partly", "It has 45 ports")]),
        ("It has 45 ports. [1] It is red.", (PARTLY,), [("partly", "It has 45 ports.")]),
        ("It is red.\nIt hums [1]", (MISSING,), [("not_found", "It hums")]),
        ("它有 45 个端口[1]。它是红的。", (PARTLY,), [("partly", "它有 45 个端口")]),
        ("- One [1]\n- Two [1]\n", (PARTLY, MISSING), [("partly", "One"), ("not_found", "Two")]),
        ("**Bold** and `code.py` here [1]", (PARTLY,), [("partly", t) for t in ("Bold", " and ", "code.py", " here")]),
        ("| a | b [1] |\n|---|---|\n| c | d [1] |\n", (SURE, PARTLY), [("partly", "d")]),
        ("All is well [1].", (SURE,), []),
        ("Not checked [1].", (), []),
    ],
)
def test_the_sentence_of_a_marker_is_underlined(
    text: str, verdicts: tuple[SentenceMark, ...], expected: list[str]
) -> None:
    assert doubted(render(text, context(*verdicts))) == expected


def test_sentence_with_two_sources_is_underlined_once() -> None:
    html = render("It hums [1][2] softly.", context(PARTLY, second=(PARTLY,)))
    assert doubted(html) == [("partly", "It hums"), ("partly", " softly.")]
    assert html.count('<sup class="citation partly">') == 2


def test_table_cell_is_underlined() -> None:
    assert doubted(render_inline("nine [1] and ten [1]", context(SURE, MISSING))) == [("not_found", " and ten")]


def test_reason_is_escaped() -> None:
    html = render("It has 45 ports [1].", context(PARTLY))
    assert 'title="Partly · “45” &lt;is&gt; not there"' in html
    assert "Source 1 · Partly supported" in html


@settings(max_examples=examples(60))
@given(st.text("ab .。\n[1]*`_|-", max_size=60))
def test_only_underlines_are_added(text: str) -> None:
    plain, marked = render(text, context()), render(text, context(*[MISSING] * 40))
    marked = marked.replace(' not_found"', '"').replace(" · Not found", "")
    assert re.sub('<span class="doubt" title="[^"]*">(.*?)</span>', r"\1", marked, flags=re.DOTALL) == plain


@pytest.mark.django_db
def test_page_shows_underlines(as_owner: Client, owner: User) -> None:
    session = make_session(owner)
    check = {"text": "It has 45 ports.", "sources": [1], "status": "partly", "coverage": 0.5}
    make_turn(session, answer="It has 45 ports [1].", checks=[check | {"problems": [{"kind": "number", "what": "45"}]}])
    page = as_owner.get(reverse("session", args=[session.pk])).content.decode()
    assert doubted(page) == [("partly", "It has 45 ports")]
    assert 'title="Partly supported · “45” is not in the source in this context."' in page
