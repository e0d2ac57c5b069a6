"""Uploads that keep the folder of a file, where a client sends its path as its name; Django drops it unseen."""

import html
from types import MethodType
from typing import Any

from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser as DjangoMultiPartParser
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from rest_framework import parsers
from rest_framework.exceptions import ParseError


class _Parser(DjangoMultiPartParser):
    """Django's, which gives each file the `folder` that its name began with, with slashes; untrusted as the name is."""

    _folder = ""
    _files: Any

    def sanitize_file_name(self, file_name: str) -> str | None:
        self._folder = html.unescape(file_name).replace("\\", "/").rpartition("/")[0]
        return super().sanitize_file_name(file_name)

    def handle_file_complete(self, old_field_name: str, counters: list[int]) -> None:
        super().handle_file_complete(old_field_name, counters)
        if files := self._files.getlist(old_field_name):
            files[-1].folder = self._folder


def keep_folders(request: HttpRequest) -> None:
    """Have the request's form read by the parser that keeps folders, whoever reads it first."""

    def parse_file_upload(request: HttpRequest, META: Any, post_data: Any) -> Any:
        return _Parser(META, post_data, request.upload_handlers, request.encoding).parse()

    request.parse_file_upload = MethodType(parse_file_upload, request)  # type: ignore[method-assign]


class FolderKeepingParser(parsers.MultiPartParser):
    """DRF's, for views that call `keep_folders`."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return fields and files; raises `ParseError`."""
        request = parser_context["request"]._request
        try:
            return parsers.DataAndFiles(*request.parse_file_upload(request.META, stream))
        except MultiPartParserError as error:
            raise ParseError(_("The form can't be read: {error}").format(error=error)) from None
