"""Handing out files and pictures so that nothing in them runs on this site."""

from collections.abc import AsyncIterator
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core.files.storage import default_storage
from django.core.handlers.asgi import ASGIRequest
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.http.response import ResponseHeaders
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from knowledge.models import Document, Picture

_PIECE = 256 * 1024
# Shown by the browser; everything else is saved. None of these can carry script.
_INLINE = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "text/plain"}
_SANDBOX = "default-src 'none'; sandbox"


def document_response(request: HttpRequest, document: Document, download: bool = False) -> HttpResponseBase:
    """Return a document's bytes; raises `Http404` when there are none, or none on the disk."""
    if not document.file:
        raise Http404(_("This passage came with a corpus; there is no file of it."))
    inline = not download and document.media_type in _INLINE
    return _response(request, str(document.file.name), document.media_type, document.original_filename, inline)


def picture_response(request: HttpRequest, picture: Picture) -> HttpResponseBase:
    """Return a picture's bytes, to be kept by the browser: a picture never changes."""
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
    """Let this reader's browser keep the response, and no one between."""
    response.headers["Cache-Control"] = "private, max-age=86400"
    return response


def _response(request: HttpRequest, name: str, media_type: str, shown: str, inline: bool) -> HttpResponseBase:
    try:
        file = default_storage.open(name, "rb")
    except FileNotFoundError:
        raise Http404(_("The stored file is missing.")) from None
    response: Any
    if isinstance(request, ASGIRequest):
        response = StreamingHttpResponse(_pieces(file), content_type=media_type)
        response.headers["Content-Length"] = str(file.size)
    else:
        response = FileResponse(file, content_type=media_type)
    response.headers["Content-Disposition"] = content_disposition_header(not inline, shown)
    _protect(response.headers, media_type)
    return response  # type: ignore[no-any-return]


def _protect(headers: ResponseHeaders, media_type: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    if media_type != "application/pdf":  # the browser's own viewer does not run inside a sandbox
        headers["Content-Security-Policy"] = _SANDBOX


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    """Read on a thread, piece by piece: Django would read a synchronous file into memory as a whole."""
    try:
        while piece := await sync_to_async(file.read, thread_sensitive=False)(_PIECE):
            yield piece
    finally:
        file.close()
