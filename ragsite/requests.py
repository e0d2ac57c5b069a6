"""What pages read from requests, and the short answers that they give."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _


def absolute(request: HttpRequest, path: str) -> str:
    """Return the whole address of a path: below `PUBLIC_URL`, or else where the request says that it was sent to."""
    return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else request.build_absolute_uri(path)


def ids(values: Iterable[str]) -> list[int]:
    """Return those of some texts that can be ids, as numbers."""
    return [int(value) for value in values if value.isdecimal() and len(value) < 19]


def number_in(request: HttpRequest, name: str) -> int | None:
    """Return an id that the address or the form gives, or None."""
    return next(iter(ids([request.GET.get(name) or request.POST.get(name, "")])), None)


def is_htmx(request: Any) -> bool:
    """Tell whether htmx asks, and so for a part of a page."""
    return bool(request.htmx)


def lead_to(request: HttpRequest, address: str) -> HttpResponse:
    """Lead to an address: a whole new page, also for htmx."""
    return HttpResponse(headers={"HX-Redirect": address}) if is_htmx(request) else redirect(address)


def refusal(message: str, status: int = 409) -> HttpResponse:
    """Return a refusal in words; the page shows it as a message."""
    return HttpResponse(message or _("This can't be done."), status=status, headers={"X-Message": quote(message)})
