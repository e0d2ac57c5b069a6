"""Middleware for every response: cache headers and compression."""

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
    """Forbid proxies and browsers to store responses that don't set `Cache-Control`, since pages are personal."""

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
    """Compress pages, parts of pages and the admin's translation catalogue, but not streaming responses.

    Django adds a file name of random length to compressed responses and masks the CSRF token differently each time, so
    that the length of a response reveals hardly anything about its secrets. Why, with figures:
    docs/decisions/page-weight.md.
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
