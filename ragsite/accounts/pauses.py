"""Limits on guesses in requests: attempts during a pause are refused with status 429 and a message."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import ngettext

from ragsite.accounts.lockout import Guess, TooManyGuesses, address_of

# The attribute of a request in which the seconds to wait are stored, for its view.
_WAIT = "guesses_wait"


def pause_message(wait: int) -> str:
    """Return the message that asks to try again after `wait` seconds."""
    minutes = round(wait / 60)
    if minutes < 2:
        text = ngettext(
            "Too many failed attempts. Try again in %(count)d second.",
            "Too many failed attempts. Try again in %(count)d seconds.",
            wait,
        )
        return text % {"count": wait}
    text = ngettext(
        "Too many failed attempts. Try again in %(count)d minute.",
        "Too many failed attempts. Try again in %(count)d minutes.",
        minutes,
    )
    return text % {"count": minutes}


@contextmanager
def guess(request: HttpRequest, username: str, kind: str = "password") -> Iterator[Guess]:
    """Count a guess, which failed unless it is marked as `succeeded`; raises `ValidationError` during a pause."""
    begun = Guess(kind, username, address_of(request))
    try:
        begun.begin()
    except TooManyGuesses as refusal:
        setattr(request, _WAIT, refusal.wait)
        raise ValidationError(pause_message(refusal.wait), code="too_many_guesses") from None
    try:
        yield begun
    finally:
        if not begun.is_right:
            begun.failed()


def with_retry_after(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorator for views: if the form refused a guess, respond with 429 and the seconds to wait as `Retry-After`."""

    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if wait := getattr(request, _WAIT, 0):
            response.status_code = 429
            response.headers["Retry-After"] = str(wait)
        return response

    return wrapped
