"""Which bodies the API reads. Apart from the rest of it, since the framework's views need this to be imported."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request


class Negotiation(DefaultContentNegotiation):
    """The framework's, which refuses a compressed body in words; a parser would take it for a damaged one."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> Any:
        """Return the parser of the body's media type, if any; raises `UnsupportedMediaType`."""
        encoding = request.headers.get("Content-Encoding", "identity")
        if encoding.lower() != "identity":
            message = _("A body in “{encoding}” isn't read here; send it as it is.").format(encoding=encoding)
            raise UnsupportedMediaType(request.content_type, message)
        return super().select_parser(request, parsers)
