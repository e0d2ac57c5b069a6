"""What every answer of the site is given on its way out."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
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
