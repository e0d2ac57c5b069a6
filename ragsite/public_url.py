"""Addresses that are passed on to others."""

from django.conf import settings
from django.http import HttpRequest


def absolute(request: HttpRequest, path: str) -> str:
    """Return the whole address of a path: below `PUBLIC_URL`, or else where the request says that it was sent to."""
    return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else request.build_absolute_uri(path)
