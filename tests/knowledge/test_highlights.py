"""Highlights of a document: joined passages and sentences in them."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.highlights import Marks, sentences_of
from knowledge.models import Chunk, Document, KnowledgeBase
from tests import factories

TEXT = """\
Tea is steeped. It takes “two. Or three” minutes, e.g. five.

- Green at 80 degrees.
- Black at 95 degrees. Never less.

#### Cups

```sh
boil --water
```

茶要热喝。水温为 80 度；时间为两分钟。"""


@pytest.fixture
def document(base: KnowledgeBase) -> Document:
    made = factories.make_document(base, "drinks.md")
    factories.make_chunk(made, "Before.")
    factories.make_chunk(made, "First part. It begins.")
    factories.make_chunk(made, "Second part. It ends.")
    factories.make_chunk(made, "After.")
    factories.make_chunk(made, TEXT)
    factories.make_chunk(
        made, "Bean | Roast", kind="table", table_columns=["Bean", "Roast"], table_rows=[["Arabica", 3], ["Robusta", 4]]
    )
    return made


def page_of(client: Client, name: str, pk: int, **address: Any) -> str:
    return client.get(reverse(name, args=[pk]), address).content.decode()


def _cited(panel: str) -> str:
    return panel[panel.index('class="cited"') : panel.index("</section>")]


def test_a_url_is_parsed_as_it_was_built() -> None:
    marks = Marks(13, (12, 13), {13: {1}, 12: {4, 0}})
    assert marks.query(chunk=13) == "?chunk=13&joined=12,13&said=12.0,12.4,13.1#said-12-0"
    assert Marks.read(13, marks.beside) == marks
    assert Marks(7).query() == "" and Marks(7).query(chunk=7) == "?chunk=7"


@pytest.mark.parametrize(
    "address",
    [{"joined": "x,-1,,99999999999999999999999"}, {"said": "1,1.x,.2,1.2.3,٣.٣"}, {"joined": "12,14"}, {"said": ""}],
)
def test_invalid_parameters_highlight_nothing(address: dict[str, str]) -> None:
    marks = Marks.read(13, address)
    assert (marks.chunk_ids, dict(marks.said)) == ((13,), {})


def test_a_joined_passage_is_highlighted_completely(as_owner: Client, document: Document) -> None:
    before, first, second, after, *_ = document.chunks.all()
    address = {"joined": f"{first.pk},{second.pk}", "said": f"{first.pk}.1"}

    page = page_of(as_owner, "document", document.pk, chunk=second.pk, **address)
    assert [f'id="passage-{n}" class="passage text cited"' in page for n in range(4)] == [False, True, True, False]
    assert page.count("autofocus") == 1 and page.count("<mark") == 1
    assert f'<p>First part. <mark class="said" id="said-{first.pk}-1">It begins.</mark></p>' in page

    panel = page_of(as_owner, "passage", second.pk, **address)
    cited = _cited(panel)
    assert "First part." in cited and "Second part." in cited
    assert before.content in panel and after.content in panel
    assert before.content not in cited and after.content not in cited
    assert f"?chunk={second.pk}&amp;joined={first.pk},{second.pk}&amp;said={first.pk}.1#said-{first.pk}-1" in panel


def test_every_sentence_can_be_highlighted(as_owner: Client, document: Document) -> None:
    chunk = document.chunks.get(ordinal=4)
    plain = _cited(page_of(as_owner, "passage", chunk.pk))
    seen = []
    for number in range(len(sentences_of(chunk))):
        cited = _cited(page_of(as_owner, "passage", chunk.pk, said=f"{chunk.pk}.{number}"))
        seen += [cited.partition(f'<mark class="said" id="said-{chunk.pk}-{number}">')[2].partition("</mark>")[0]]
        assert re.sub("</?mark[^>]*>", "", cited) == plain
    assert seen == [
        "Tea is steeped.",
        "It takes “two. Or three” minutes, e.g. five.",
        "Green at 80 degrees.",
        "Black at 95 degrees.",
        "Never less.",
        "Cups",
        "",  # a fence is not shown
        "boil --water",
        "",
        "茶要热喝。",
        "水温为 80 度；",
        "时间为两分钟。",
    ]


def test_highlighted_text_is_escaped(as_owner: Client, document: Document) -> None:
    chunk = factories.make_chunk(document, "One <b>&amp;</b>. <script>alert(1)</script>\nTwo.\nTwo.")
    page = page_of(as_owner, "passage", chunk.pk, said=f"{chunk.pk}.0,{chunk.pk}.1,{chunk.pk}.2,{chunk.pk}.99")
    assert f'id="said-{chunk.pk}-0">One &lt;b&gt;&amp;amp;&lt;/b&gt;.</mark>' in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</mark><br>" in page
    assert "<script>alert" not in page
    assert page.count(f'id="said-{chunk.pk}-2"') == 1


def test_rows_of_a_table_are_highlighted(as_owner: Client, document: Document) -> None:
    chunk = document.chunks.get(kind=Chunk.Kind.TABLE)
    assert sentences_of(chunk) == ["Arabica | 3", "Robusta | 4"]
    page = page_of(as_owner, "passage", chunk.pk, said=f"{chunk.pk}.1")
    assert page.count('class="said"') == 1
    assert "Robusta" in page.partition(f'<tr class="said" id="said-{chunk.pk}-1">')[2][:80]


def test_only_readable_passages_are_shown(as_stranger: Client, as_owner: Client, document: Document) -> None:
    chunk = document.chunks.get(ordinal=1)
    secret = factories.make_chunk(
        factories.make_document(factories.make_knowledge_base(factories.make_user())), "A secret."
    )
    address = {"joined": f"{chunk.pk},{secret.pk}"}
    assert "secret" not in page_of(as_owner, "passage", chunk.pk, **address)
    assert as_stranger.get(reverse("passage", args=[chunk.pk]), address).status_code == 404
