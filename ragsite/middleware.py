"""What every answer of the site is given on its way out."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.utils.decorators import sync_and_async_middleware

Answer = Callable[[HttpRequest], HttpResponse] | Callable[[HttpRequest], Awaitable[HttpResponse]]


@sync_and_async_middleware
def keep_private(get_response: Answer) -> Answer:
    """Let nothing on the way, nor the browser, keep an answer that doesn't say itself who may: pages are a person's."""

    def mark(response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponse:
            return mark(await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponse:
        return mark(get_response(request))  # type: ignore[arg-type]

    return answer


@sync_and_async_middleware
def compress_pages(get_response: Answer) -> Answer:
    """Compress pages, parts of them and the texts of the administration's scripts; what is streamed goes as it comes.

    Django adds a name of random length to what it compresses and masks the CSRF token anew each time, so that the
    length of an answer hardly tells of a secret in it. Why, with figures: docs/decisions/page-weight.md.
    """
    compress: Callable[[HttpRequest, HttpResponse], Any] = GZipMiddleware(get_response).process_response

    def is_page(response: HttpResponse) -> bool:
        return not response.streaming and response.get("Content-Type", "").startswith(("text/html", "text/javascript"))

    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponse:
            response = await get_response(request)
            return await asyncio.to_thread(compress, request, response) if is_page(response) else response

        return answer_async

    def answer(request: HttpRequest) -> HttpResponse:
        response: Any = get_response(request)
        return compress(request, response) if is_page(response) else response  # type: ignore[no-any-return]

    return answer
