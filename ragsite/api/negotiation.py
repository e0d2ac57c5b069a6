"""Content negotiation of the API. In a module of its own, since DRF's views import it."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request


class Negotiation(DefaultContentNegotiation):
    """DRF's content negotiation, which also rejects compressed bodies; a parser would report them as malformed."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> Any:
        """Return the parser of the body's media type, if any; raises `UnsupportedMediaType`."""
        encoding = request.headers.get("Content-Encoding", "identity")
        if encoding.lower() != "identity":
            message = _("The content encoding “{encoding}” is not supported. Send the body uncompressed.")
            raise UnsupportedMediaType(request.content_type, message.format(encoding=encoding))
        return super().select_parser(request, parsers)
