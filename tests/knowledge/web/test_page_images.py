"""Pictures of PDF pages."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from knowledge.models import Document, KnowledgeBase, ScannedPage
from knowledge.web import page_images
from tests import factories


@pytest.fixture
def pdf(base: KnowledgeBase) -> Document:
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=(400, 300))
    for line in ("Green tea is steeped at eighty degrees.", "Coffee is brewed at ninety-three degrees."):
        canvas.drawString(40, 150, line)
        canvas.showPage()
    canvas.save()
    return factories.make_document(base, "drinks.pdf", content.getvalue(), media_type="application/pdf", pages=2)


def _get(client: Client, document: Document, number: int, **query: Any) -> Any:
    return client.get(reverse("document-page", args=[document.pk, number]), query)


def test_a_page_is_rendered_once(as_colleague: Client, pdf: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    response = _get(as_colleague, pdf, 1)
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    with Image.open(io.BytesIO(response.content)) as image:
        assert image.size == (1400, 1050)
    monkeypatch.setattr(page_images, "render_page", lambda *args: pytest.fail("It was rendered again."))
    assert _get(as_colleague, pdf, 1).content == response.content
    (kept,) = Path(default_storage.path(f"pages/{pdf.pk}")).iterdir()
    assert kept.name == "1.png"


def test_a_passage_is_highlighted_at_its_position(as_owner: Client, pdf: Document) -> None:
    cache.clear()
    chunk = factories.make_chunk(pdf, "Coffee is brewed at ninety-three degrees.", page_from=2, page_to=2)
    plain = _get(as_owner, pdf, 2).content
    marked = _get(as_owner, pdf, 2, highlight=chunk.pk).content
    assert _marker_pixels(plain) == 0
    assert _marker_pixels(marked) > 1000
    assert _get(as_owner, pdf, 1, highlight=chunk.pk + 1).status_code == 200  # an unknown chunk has no highlight


def test_all_parts_of_a_joined_passage_on_the_page_are_highlighted(as_owner: Client, pdf: Document) -> None:
    cache.clear()
    first = factories.make_chunk(pdf, "Green tea is steeped at eighty degrees.", page_from=1, page_to=1)
    start = factories.make_chunk(pdf, "Coffee is brewed", page_from=2, page_to=2)
    end = factories.make_chunk(pdf, "ninety-three degrees.", page_from=2, page_to=2)
    joined = f"{first.pk},{start.pk},{end.pk}"
    for address in (reverse("document", args=[pdf.pk]), reverse("passage", args=[end.pk])):
        page = as_owner.get(address, {"chunk": end.pk, "joined": joined}).content.decode()
        assert f'/pages/2.png?highlight={start.pk},{end.pk}"' in page
    one, both = (_get(as_owner, pdf, 2, highlight=ids).content for ids in (end.pk, f"{start.pk},{end.pk}"))
    assert _marker_pixels(both) > 1.3 * _marker_pixels(one) > 0
    # On the next page the rest of it is highlighted.
    headers = {"HX-Request": "true", "HX-Target": "page-viewer"}
    query = {"chunk": end.pk, "joined": joined, "page": 1}
    viewer = as_owner.get(reverse("document", args=[pdf.pk]), query, headers=headers).content.decode()
    assert f'/pages/1.png?highlight={first.pk}"' in viewer
    assert f"?chunk={end.pk}&amp;joined={first.pk}%2C{start.pk}%2C{end.pk}&amp;page=2" in viewer


def test_missing_pages_are_404(as_owner: Client, as_stranger: Client, pdf: Document) -> None:
    assert _get(as_owner, pdf, 3).status_code == 404
    assert _get(as_owner, pdf, 0).status_code == 404
    assert _get(as_stranger, pdf, 1).status_code == 404
    Path(pdf.file.path).write_bytes(b"%PDF-1.7 broken")
    assert _get(as_owner, pdf, 1).status_code == 404
    text = factories.make_document(pdf.knowledge_base)
    assert _get(as_owner, text, 1).status_code == 404


def _layer(client: Client, document: Document, number: int, **query: Any) -> Any:
    return client.get(reverse("document-page-layer", args=[document.pk, number]), query)


def test_the_layer_contains_the_passage_and_its_sentences(as_owner: Client, pdf: Document) -> None:
    cache.clear()
    text = "Coffee is brewed at ninety-three degrees."
    first = factories.make_chunk(pdf, "Green tea is steeped at eighty degrees.", page_from=1, page_to=1)
    chunk = factories.make_chunk(pdf, f"Green is no coffee. {text}", page_from=2, page_to=2)
    layer = _layer(as_owner, pdf, 2, chunk=chunk.pk, said=f"{chunk.pk}.1").json()
    ((x0, y0, x1, y1),) = layer["said"]
    assert layer["cited"] == layer["said"] and layer["lines"] == []
    assert abs(x0 - 0.1) < 0.01 and 0.5 < x1 < 0.8 and 0.45 < y0 < y1 < 0.55
    # Text on another page, or in no sentence, is not highlighted.
    assert _layer(as_owner, pdf, 1, chunk=chunk.pk).json() == {"lines": [], "cited": [], "said": []}
    layer = _layer(as_owner, pdf, 2, chunk=chunk.pk, joined=f"{first.pk},{chunk.pk}", said=f"{chunk.pk}.9").json()
    assert (len(layer["cited"]), layer["said"]) == (1, [])
    assert _layer(as_owner, pdf, 3).status_code == 404
    Path(pdf.file.path).write_bytes(b"%PDF-1.7 broken")
    cache.clear()
    assert _layer(as_owner, pdf, 2, chunk=chunk.pk).status_code == 404


def test_a_scanned_page_is_highlighted_at_its_recognised_lines(as_owner: Client, pdf: Document) -> None:
    cache.clear()
    lines = [["保修期内可", 0.1, 0.2, 0.6, 0.25], ["免费更换。", 0.1, 0.3, 0.6, 0.35], ["Page 7", 0.4, 0.9, 0.5, 0.92]]
    ScannedPage.objects.create(document=pdf, number=2, lines=lines)
    chunk = factories.make_chunk(pdf, "保修期内可免费更换。", page_from=2, page_to=2)
    layer = _layer(as_owner, pdf, 2, chunk=chunk.pk).json()
    assert layer["lines"] == lines
    assert layer["cited"] == [[0.1, 0.2, 0.6, 0.25], [0.1, 0.3, 0.5, 0.35]]
    assert _marker_pixels(_get(as_owner, pdf, 2, highlight=chunk.pk).content) > 1000
    Document.objects.filter(pk=pdf.pk).update(scanned_pages=1)
    page = as_owner.get(reverse("document", args=[pdf.pk]), {"chunk": chunk.pk}).content.decode()
    assert 'data-scanned="2"' in page and 'data-marked="2"' in page and f'data-marks="chunk={chunk.pk}"' in page


def test_the_document_shows_the_cited_page(as_owner: Client, pdf: Document) -> None:
    chunk = factories.make_chunk(pdf, "Coffee is brewed.", page_from=2, page_to=2)
    address = reverse("document", args=[pdf.pk])
    page = as_owner.get(address, {"chunk": chunk.pk}).content.decode()
    assert f"/pages/2.png?highlight={chunk.pk}" in page
    assert "Page 2 of 2" in page
    viewer = as_owner.get(address, {"page": 1}, headers={"HX-Request": "true", "HX-Target": "page-viewer"})
    assert "/pages/1.png" in viewer.content.decode()
    assert "<html" not in viewer.content.decode()
    panel = as_owner.get(reverse("passage", args=[chunk.pk])).content.decode()
    assert f"/pages/2.png?highlight={chunk.pk}" in panel


def _marker_pixels(png: bytes) -> int:
    with Image.open(io.BytesIO(png)) as image:
        return sum(
            count for count, colour in image.convert("RGB").getcolors(1 << 24) or [] if colour == (255, 236, 140)
        )
