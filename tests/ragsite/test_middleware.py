"""Middleware for every response."""

import asyncio
import gzip

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from ragsite.middleware import compress_pages

GZIP = {"accept-encoding": "gzip, br"}


def test_pages_are_compressed_for_who_reads_that(as_owner: Client) -> None:
    page = as_owner.get("/account/", headers=GZIP)
    assert page["Content-Encoding"] == "gzip" and "Accept-Encoding" in page["Vary"]
    assert b"</html>" in gzip.decompress(page.content) and len(page.content) * 2 < len(gzip.decompress(page.content))
    assert "Content-Encoding" not in as_owner.get("/account/")
    assert "Content-Encoding" not in as_owner.get("/api/knowledge-bases", headers=GZIP)


def test_what_is_streamed_is_not(rf: RequestFactory) -> None:
    """Whatever its type: each part would wait for the next, and who knows their sizes for what is in them."""
    request = rf.get("/", headers=GZIP)

    def stream(request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(iter([b"word " * 100]), content_type="text/html")

    async def page(request: HttpRequest) -> HttpResponse:
        return HttpResponse("word " * 100)

    assert "Content-Encoding" not in compress_pages(stream)(request)  # type: ignore[arg-type,operator]
    answer: HttpResponse = asyncio.run(compress_pages(page)(request))  # type: ignore[arg-type]
    assert answer["Content-Encoding"] == "gzip"
