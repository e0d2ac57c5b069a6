"""Helpers of views: values from requests, and short responses."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _


def absolute(request: HttpRequest, path: str) -> str:
    """Return the absolute URL of a path: below `PUBLIC_URL`, or else on the request's host."""
    return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else request.build_absolute_uri(path)


def ids(values: Iterable[str]) -> list[int]:
    """Return the texts that can be IDs, as integers."""
    return [int(value) for value in values if value.isdecimal() and len(value) < 19]


def number_in(request: HttpRequest, name: str) -> int | None:
    """Return an ID from the query string or the form, or None."""
    return next(iter(ids([request.GET.get(name) or request.POST.get(name, "")])), None)


def is_htmx(request: Any) -> bool:
    """Return whether the request was made by htmx, and so for a part of a page."""
    return bool(request.htmx)


def lead_to(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect to a URL; also htmx loads it as a whole new page."""
    return HttpResponse(headers={"HX-Redirect": address}) if is_htmx(request) else redirect(address)


def refusal(message: str, status: int = 409) -> HttpResponse:
    """Return an error response whose message the page shows."""
    return HttpResponse(message or _("This can't be done."), status=status, headers={"X-Message": quote(message)})
