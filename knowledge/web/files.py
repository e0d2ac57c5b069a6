"""Serves files and pictures in such a way that nothing in them runs on this site."""

import re
from collections.abc import AsyncIterator, Generator
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core.files.storage import default_storage
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.http.response import ResponseHeaders
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from knowledge.explanations import explain
from knowledge.models import Document, Picture
from knowledge.parsing import registry

_PIECE = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
# Media types that the browser displays; everything else is downloaded. None of these can contain scripts.
_INLINE = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "text/plain"}
_SANDBOX = "default-src 'none'; sandbox"


def document_response(request: HttpRequest, document: Document, download: bool = False) -> HttpResponseBase:
    """Return a document's bytes; raises `Http404` if it has no file or the file is missing."""
    if not document.file:
        raise Http404(_("This passage came with a corpus; it has no file."))
    inline = not download and document.media_type in _INLINE
    return _response(request, str(document.file.name), document.media_type, document.original_filename, inline)


def picture_response(request: HttpRequest, picture: Picture) -> HttpResponseBase:
    """Return a picture's bytes, to be cached by the browser, since a picture never changes."""
    stored = str(picture.file.name)
    name = stored.rpartition("/")[2]
    media_type = {"png": "image/png", "webp": "image/webp"}.get(name.rpartition(".")[2], "image/jpeg")
    return cached(_response(request, stored, media_type, name, inline=True))


def image_response(content: bytes, media_type: str) -> HttpResponse:
    """Return a rendered picture."""
    response = HttpResponse(content, content_type=media_type)
    _protect(response.headers, media_type)
    cached(response)
    return response


def cached(response: HttpResponseBase) -> HttpResponseBase:
    """Let the browser cache the response, but no proxy."""
    response.headers["Cache-Control"] = "private, max-age=86400"
    return response


def _response(request: HttpRequest, name: str, media_type: str, shown: str, inline: bool) -> HttpResponseBase:
    try:
        file = default_storage.open(name, "rb")
    except FileNotFoundError:
        raise Http404(_("The stored file is missing.")) from None
    size = file.size
    start, end = _wanted_part(request, size)
    if start >= end and size:
        file.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    file.seek(start)
    pieces = _pieces_async(file, end - start) if isinstance(request, ASGIRequest) else _pieces(file, end - start)
    response = StreamingHttpResponse(pieces, content_type=media_type)
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Content-Length"] = str(end - start)
    if end - start < size:
        response.status_code = 206
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    response.headers["Content-Disposition"] = content_disposition_header(not inline, shown) or "inline"
    _protect(response.headers, media_type)
    return response


def _wanted_part(request: HttpRequest, size: int) -> tuple[int, int]:
    """Return the start and end of the requested byte range, or of the whole file.

    Requests for several ranges, or with `If-Range`, which nothing here could match, get the whole file (RFC 9110,
    14.2).
    """
    asked = _RANGE.fullmatch(request.headers.get("Range", ""))
    if not asked or "If-Range" in request.headers or asked[0] == "bytes=-":
        return 0, size
    if not asked[1]:
        return max(0, size - int(asked[2])), size
    return int(asked[1]), min(size, int(asked[2]) + 1) if asked[2] else size


def _protect(headers: ResponseHeaders, media_type: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    if media_type != "application/pdf":  # the browser's own viewer does not run inside a sandbox
        headers["Content-Security-Policy"] = _SANDBOX


def _pieces(file: IO[bytes], length: int) -> Generator[bytes]:
    with file:
        while length and (piece := file.read(min(_PIECE, length))):
            length -= len(piece)
            yield piece


async def _pieces_async(file: IO[bytes], length: int) -> AsyncIterator[bytes]:
    """Read in a thread, piece by piece, since Django would read a synchronous file into memory as a whole."""
    pieces = _pieces(file, length)
    try:
        while piece := await sync_to_async(lambda: next(pieces, b""), thread_sensitive=False)():
            yield piece
    finally:
        pieces.close()
        file.close()


def upload_rules() -> dict[str, Any]:
    """Return the extensions and messages with which a page's script checks file names; `{kind}` is the extension."""
    return {
        "extensions": registry.extensions(),
        "missing": {name: explain(error.key, **error.params) for name, error in registry.missing().items()},
        "unsupported": explain("unsupported", kind="{kind}", known=", ".join(registry.kinds())),
        "unnamed": explain("unsupported.no_extension", known=", ".join(registry.kinds())),
    }
