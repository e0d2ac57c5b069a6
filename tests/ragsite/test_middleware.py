"""Middleware for every response."""

import asyncio
import gzip

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from ragsite.middleware import compress_pages

GZIP = {"accept-encoding": "gzip, br"}


def test_pages_are_compressed_if_the_client_accepts_it(as_owner: Client) -> None:
    page = as_owner.get("/account/", headers=GZIP)
    assert page["Content-Encoding"] == "gzip" and "Accept-Encoding" in page["Vary"]
    assert b"</html>" in gzip.decompress(page.content) and len(page.content) * 2 < len(gzip.decompress(page.content))
    assert "Content-Encoding" not in as_owner.get("/account/")
    assert "Content-Encoding" not in as_owner.get("/api/knowledge-bases", headers=GZIP)


def test_streamed_responses_are_not_compressed(rf: RequestFactory) -> None:
    """Compression would delay parts, and their sizes could leak content."""
    request = rf.get("/", headers=GZIP)

    def stream(request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(iter([b"word " * 100]), content_type="text/html")

    async def page(request: HttpRequest) -> HttpResponse:
        return HttpResponse("word " * 100)

    assert "Content-Encoding" not in compress_pages(stream)(request)  # type: ignore[arg-type,operator]
    answer: HttpResponse = asyncio.run(compress_pages(page)(request))  # type: ignore[arg-type]
    assert answer["Content-Encoding"] == "gzip"
