"""Views of a document."""

import re
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone
from PIL import Image
from pytest_django import DjangoAssertNumQueries

from knowledge.models import Chunk, Document, KnowledgeBase, Picture
from tests import factories

HTMX = {"HX-Request": "true"}


def url(name: str, *args: Any) -> str:
    return reverse(name, args=args)


def body(response: Any) -> str:
    return response.content.decode()  # type: ignore[no-any-return]


@pytest.fixture
def document(base: KnowledgeBase) -> Document:
    made = factories.make_document(base, "drinks.md")
    factories.make_chunk(made, "Green tea is steeped.\n\n- 80 degrees\n- two minutes", heading_path=["Tea"])
    factories.make_chunk(made, "<script>alert(1)</script>", heading_path=["Tea", "Black"], token_count=7)
    factories.make_chunk(
        made, "Bean | Roast", kind="table", heading_path=["Coffee"], table_columns=["Bean"], table_rows=[["Arabica"]]
    )
    return made


def test_a_row_polls_only_while_the_document_is_unfinished(as_owner: Client, document: Document) -> None:
    address = url("document-row", document.pk)
    for status, polls in (("queued", "every 3s"), ("parsing", "every 1s"), ("indexing", "every 1s"), ("ready", "")):
        Document.objects.filter(pk=document.pk).update(status=status, heartbeat_at=timezone.now())
        response = as_owner.get(address, headers=HTMX)
        row = body(response)
        assert (polls in row) if polls else ("hx-trigger" not in row)
        assert ("HX-Trigger" in response) is (status == "ready"), "the page is notified that the document was read"


def test_a_working_row_shows_stage_percentage_and_time_left(as_owner: Client, document: Document) -> None:
    cache.clear()
    now = timezone.now()
    Document.objects.filter(pk=document.pk).update(
        status="indexing", stage="vectors", progress=75, started_at=now - timedelta(minutes=3), heartbeat_at=now
    )
    row = body(as_owner.get(url("document-row", document.pk), headers=HTMX))
    # 40 points in 3 minutes, 25 left
    for words in ("Searchable by words", "Indexing meaning", "75%", "about 2 minutes left"):
        assert words in row


def test_the_time_left_is_estimated_by_the_last_documents_pace(as_owner: Client, document: Document) -> None:
    cache.clear()
    now = timezone.now()
    finished = factories.make_document(
        document.knowledge_base, started_at=now, finished_at=now + timedelta(seconds=100)
    )
    factories.make_chunk(finished)
    Document.objects.filter(pk=document.pk).update(
        status="indexing", stage="vectors", progress=61, started_at=now, heartbeat_at=now
    )
    # 3 passages at 100 seconds each, 60 % of them left
    assert "about 3 minutes left" in body(as_owner.get(url("document-row", document.pk), headers=HTMX))
    cache.clear()
    Document.objects.filter(pk=document.pk).update(status="chunked", progress=35, heartbeat_at=None)
    other = factories.make_document(document.knowledge_base, status="chunked")
    factories.make_chunk(other)
    # its 3 passages, after the other document's
    assert "about 7 minutes left" in body(as_owner.get(url("document-row", document.pk), headers=HTMX))


def test_documents_indexed_in_parallel_have_one_pace(as_owner: Client, document: Document) -> None:
    cache.clear()
    now = timezone.now()
    for start, end in ((0, 100), (50, 150), (60, 200), (-900, -800)):
        times = {"started_at": now + timedelta(seconds=start), "finished_at": now + timedelta(seconds=end)}
        factories.make_chunk(factories.make_document(document.knowledge_base, **times))
    Document.objects.filter(pk=document.pk).update(status="indexing", stage="vectors", progress=35, heartbeat_at=now)
    # 3 passages in 200 seconds, without the one long before
    assert "about 3 minutes left" in body(as_owner.get(url("document-row", document.pk), headers=HTMX))


def test_viewing_a_stalled_document_requeues_it(
    as_owner: Client, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # no time passes during the test
    long_ago = now - timedelta(seconds=15)
    Document.objects.filter(pk=document.pk).update(status="parsing", heartbeat_at=long_ago)
    assert "responded for 15 seconds" in body(as_owner.get(url("document-row", document.pk), headers=HTMX))
    Document.objects.filter(pk=document.pk).update(heartbeat_at=long_ago - timedelta(seconds=20))
    assert "Waiting" in body(as_owner.get(url("document-row", document.pk), headers=HTMX))
    document.refresh_from_db()
    assert document.status == "queued"


def test_retry_and_cancel_return_the_row(as_owner: Client, document: Document) -> None:
    Document.objects.filter(pk=document.pk).update(status="failed")
    assert "Waiting" in body(as_owner.post(url("document-retry", document.pk), headers=HTMX))
    assert "Cancelled" in body(as_owner.post(url("document-cancel", document.pk), headers=HTMX))
    back = as_owner.post(url("document-retry", document.pk))
    assert back.headers["Location"] == url("knowledge-base", document.knowledge_base_id)


def test_deleting_asks_for_confirmation(as_owner: Client, document: Document) -> None:
    address = url("document-delete", document.pk)
    assert "<dialog" in body(as_owner.get(address, headers=HTMX))
    assert "Delete “drinks.md”?" in body(as_owner.get(address))
    assert as_owner.post(address, headers=HTMX).content == b""
    assert not Document.objects.exists()


def test_the_text_is_shown_as_it_was_read(as_owner: Client, as_colleague: Client, document: Document) -> None:
    for reader in (as_owner, as_colleague):
        page = body(reader.get(url("document", document.pk)))
        assert page.count(">Tea</p>") == 1  # a heading is shown where it begins
        assert "<li>two minutes</li>" in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert '<td class="short">Arabica</td>' in page
        assert "7 tokens" in page
    assert url("document-delete", document.pk) not in body(as_colleague.get(url("document", document.pk)))


def test_a_heading_inside_a_passage_is_shown_as_one(as_owner: Client, document: Document) -> None:
    factories.make_chunk(document, "Cups.\n\n#### Glass\n\nClear.", heading_path=["Ware"])
    assert "<h4>Glass</h4>" in body(as_owner.get(url("document", document.pk)))


@pytest.mark.parametrize(
    ("fenced", "code"),
    [
        ("```sql\nSELECT 1;\n\nSELECT 2;\n```", "SELECT 1;\n\nSELECT 2;"),
        ("````\nOpen with ```sh\n```\nand close.\n````", "Open with ```sh\n```\nand close."),
    ],
)
def test_code_is_shown_between_the_text_around_it(as_owner: Client, document: Document, fenced: str, code: str) -> None:
    factories.make_chunk(document, f"Before.\n\n{fenced}\n\nBetween.\n\n```\nls\n```\n\nAfter.")
    page = body(as_owner.get(url("document", document.pk)))
    shown = page[page.index("<p>Before.</p>") : page.index("<p>After.</p>")]
    blocks = BeautifulSoup(shown, "html.parser").select("pre[tabindex='0'] > code")
    assert [block.get_text() for block in blocks] == [code, "ls"]
    assert "<p>Between.</p>" in shown


def test_the_cited_passage_is_highlighted(as_owner: Client, document: Document) -> None:
    chunk = document.chunks.get(ordinal=1)
    page = body(as_owner.get(url("document", document.pk), {"chunk": chunk.pk}))
    assert page.count("cited") >= 1
    assert 'id="passage-1" class="passage text cited"' in page
    assert "autofocus" in page
    other = factories.make_chunk(factories.make_document(document.knowledge_base))
    for wrong in (other.pk, "x", "9" * 30, 0):
        assert "autofocus" not in body(as_owner.get(url("document", document.pk), {"chunk": wrong}))


def test_a_long_document_is_shown_in_windows(
    as_owner: Client, base: KnowledgeBase, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    document = factories.make_document(base)
    chunks = [Chunk(document=document, ordinal=n, content=f"Passage number {n}.") for n in range(250)]
    Chunk.objects.bulk_create(chunks)
    with django_assert_max_num_queries(10):
        page = body(as_owner.get(url("document", document.pk), {"chunk": chunks[130].pk}))
    assert "Passage number 130." in page
    assert "Passage number 99." not in page
    assert "?from=0" in page
    assert "?from=200" in page


def test_the_panel_of_a_finished_document_reloads_the_page(as_owner: Client, document: Document) -> None:
    Document.objects.filter(pk=document.pk).update(status="parsing", heartbeat_at=timezone.now())
    assert url("document-state", document.pk) in body(as_owner.get(url("document", document.pk)))
    assert "HX-Refresh" not in as_owner.get(url("document-state", document.pk), headers=HTMX).headers
    Document.objects.filter(pk=document.pk).update(status="ready")
    assert as_owner.get(url("document-state", document.pk), headers=HTMX).headers["HX-Refresh"] == "true"


def test_a_passage_comes_with_its_neighbours(as_colleague: Client, document: Document) -> None:
    chunk = document.chunks.get(ordinal=1)
    panel = body(as_colleague.get(url("passage", chunk.pk)))
    assert "<html" not in panel
    assert "Green tea is steeped." in panel
    assert "Arabica" in panel
    assert f"{url('document', document.pk)}?chunk={chunk.pk}" in panel
    assert "Tea › Black" in panel


@pytest.mark.parametrize(
    ("name", "media_type", "disposition", "sandboxed"),
    [
        ("a.txt", "text/plain", "inline", True),
        ("a.pdf", "application/pdf", "inline", False),
        ("a.html", "text/html", "attachment", True),
        ("a.svg", "image/svg+xml", "attachment", True),
        ("a.exe", "application/octet-stream", "attachment", True),
    ],
)
def test_files_are_served_safely(
    as_owner: Client, base: KnowledgeBase, name: str, media_type: str, disposition: str, sandboxed: bool
) -> None:
    document = factories.make_document(base, name, b"content", media_type=media_type)
    response = as_owner.get(url("document-file", document.pk))
    assert b"".join(response) == b"content"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Disposition"].startswith(disposition)
    assert ("sandbox" in response.headers["Content-Security-Policy"]) == sandboxed
    saved = as_owner.get(url("document-file", document.pk), {"download": ""})
    assert saved.headers["Content-Disposition"] == f'attachment; filename="{name}"'


@pytest.mark.django_db(transaction=True)
async def test_files_are_streamed_under_asgi(document: Document) -> None:
    client = AsyncClient()
    await client.aforce_login(document.knowledge_base.owner)
    response = await client.get(url("document-file", document.pk))
    assert response.is_async
    assert b"".join([piece async for piece in response]) == document.file.read()


@pytest.mark.parametrize(
    ("asked", "status", "content", "content_range"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=0-", 200, b"0123456789", None),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=4-2", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ],
)
def test_a_byte_range_of_a_file_is_served(
    as_owner: Client, base: KnowledgeBase, asked: str, status: int, content: bytes, content_range: str | None
) -> None:
    document = factories.make_document(base, "a.pdf", b"0123456789", media_type="application/pdf")
    response = as_owner.get(url("document-file", document.pk), headers={"Range": asked})
    assert (response.status_code, b"".join(response), response.headers.get("Content-Range")) == (
        status,
        content,
        content_range,
    )
    whole = as_owner.get(url("document-file", document.pk), headers={"Range": asked, "If-Range": '"older"'})
    assert (whole.status_code, b"".join(whole), whole.headers["Accept-Ranges"]) == (200, b"0123456789", "bytes")


@pytest.mark.django_db(transaction=True)
async def test_a_byte_range_is_streamed_under_asgi(document: Document) -> None:
    client = AsyncClient()
    await client.aforce_login(document.knowledge_base.owner)
    response = await client.get(url("document-file", document.pk), headers={"Range": "bytes=1-3"})
    assert (response.status_code, response.headers["Content-Length"]) == (206, "3")
    assert b"".join([piece async for piece in response]) == document.file.read()[1:4]


def _found(client: Client, document: Document, text: str) -> list[tuple[str, list[str]]]:
    """Return the passages listed for a text, each with its link and the words highlighted in it."""
    page = body(client.get(url("document", document.pk), {"find": text}))
    items = re.findall(r'<li><a href="[^"]*(#passage-\d+)">(.*?)</a></li>', page, re.S)
    return [(anchor, re.findall(r"<mark>(.*?)</mark>", item)) for anchor, item in items]


def test_words_are_found_in_the_whole_document(
    as_owner: Client, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.queries.WINDOW", 1)
    assert _found(as_owner, document, " green  TEA ") == [("#passage-0", ["Green tea"])]
    # For a heading it is the passage that begins there; words that don't occur together are searched separately.
    assert _found(as_owner, document, "coffee") == [("#passage-2", [])]
    assert _found(as_owner, document, "tea") == [("#passage-0", ["tea"])]
    assert _found(as_owner, document, "minutes green") == [("#passage-0", ["Green", "minutes"])]
    assert (
        _found(as_owner, document, "100%") == _found(as_owner, document, "a_b") == _found(as_owner, document, "") == []
    )
    assert _found(as_owner, document, "(Roast|") == []
    page = body(as_owner.get(url("document", document.pk), {"find": "<script>\0"}))
    assert "“&lt;script&gt;” found in 1 passage" in page and "<mark>&lt;script&gt;</mark>alert(1)" in page
    assert "is not in this document" in body(as_owner.get(url("document", document.pk), {"find": "cocoa"}))


def test_a_missing_file_is_404(as_owner: Client, document: Document) -> None:
    document.file.storage.delete(document.file.name)
    assert as_owner.get(url("document-file", document.pk)).status_code == 404


def test_pictures_are_shown_to_readers(as_colleague: Client, as_stranger: Client, document: Document) -> None:
    picture = _picture(document)
    response = as_colleague.get(url("picture", picture.pk))
    assert response.headers["Content-Type"] == "image/png"
    assert b"".join(response).startswith(b"\x89PNG")
    assert "private" in response.headers["Cache-Control"]
    assert as_stranger.get(url("picture", picture.pk)).status_code == 404


READERS = ("document", "document-row", "document-state", "document-file")
EDITORS = ("document-retry", "document-cancel", "document-delete")


@pytest.mark.parametrize("name", READERS + EDITORS)
def test_strangers_find_nothing(as_stranger: Client, anonymous: Client, document: Document, name: str) -> None:
    for method in ("get", "post"):
        assert getattr(as_stranger, method)(url(name, document.pk)).status_code in (404, 405)
        assert getattr(anonymous, method)(url(name, document.pk)).status_code in (302, 405)
    chunk = document.chunks.all()[0]
    assert as_stranger.get(url("passage", chunk.pk)).status_code == 404
    assert as_stranger.get(url("document-page", document.pk, 1)).status_code == 404
    assert as_stranger.get(url("document-page-layer", document.pk, 1)).status_code == 404
    assert Document.objects.filter(pk=document.pk, status="ready").exists()


@pytest.mark.parametrize("name", EDITORS)
def test_readers_change_nothing(as_colleague: Client, document: Document, name: str) -> None:
    assert as_colleague.post(url(name, document.pk)).status_code == 403
    assert Document.objects.filter(pk=document.pk, status="ready").exists()


def _picture(document: Document) -> Picture:
    content = BytesIO()
    Image.new("RGB", (4, 3)).save(content, "PNG")
    picture = Picture(document=document)
    picture.file.save("1-1.png", ContentFile(content.getvalue(), "1-1.png"))
    return picture
