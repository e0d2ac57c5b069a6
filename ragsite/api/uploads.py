"""Uploads that keep the folder of a file whose client sends a path as its name; Django silently drops the folder.

They also keep files whose names aren't in UTF-8, as old programs send them; Django silently drops these files.
"""

import html
import re
from types import MethodType
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser as DjangoMultiPartParser
from django.http.multipartparser import MultiPartParserError
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import gettext as _
from rest_framework import parsers
from rest_framework.exceptions import ParseError

from ragsite.middleware import Answer

_LONGEST_HEADER = 2048  # bytes


def _in_utf8(header: bytes) -> bytes:
    """Return a part's header in UTF-8; any other encoding is assumed to be GB 18030 or Latin-1.

    It is GB 18030 if at least half the non-ASCII characters are among the 3,755 common ones of GB 2312's first level.
    """
    try:
        header.decode()
        return header
    except UnicodeDecodeError:
        pass
    try:
        text = header.decode("gb18030")
    except UnicodeDecodeError:
        return header.decode("latin-1").encode()
    letters = [character.encode("gb18030") for character in text if not character.isascii()]
    common = sum(b"\xb0\xa1" <= letter <= b"\xd7\xf9" and letter[1] >= 0xA1 for letter in letters)
    return (text if 2 * common >= len(letters) else header.decode("latin-1")).encode()


class InUtf8:
    """A multipart stream that converts the headers of parts to UTF-8."""

    def __init__(self, stream: Any, boundary: bytes) -> None:
        self._stream = stream
        self._delimiter = b"--" + boundary + b"\r\n"
        self._header = re.compile(re.escape(self._delimiter) + rb".{0,%d}?\r\n\r\n" % _LONGEST_HEADER, re.DOTALL)
        self._kept = b""

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, or none at the end."""
        while True:
            more = self._stream.read(size)
            data = self._header.sub(lambda found: _in_utf8(found[0]), self._kept + more)
            if not more:
                end = len(data)
            else:
                # Keep back the beginning of a header that may be incomplete.
                last = data.rfind(self._delimiter)
                if last >= 0 and len(data) - last < _LONGEST_HEADER and b"\r\n\r\n" not in data[last:]:
                    end = last
                else:
                    end = max(0, len(data) - len(self._delimiter))
            self._kept = data[end:]
            if end or not more:
                return data[:end]


class _Parser(DjangoMultiPartParser):
    """Django's parser, which sets each file's `folder`, with slashes, from its name; it is as untrusted as the name."""

    _folder = ""
    _files: Any
    _boundary: bytes

    def __init__(self, META: Any, stream: Any, handlers: Any, encoding: str | None) -> None:
        super().__init__(META, stream, handlers, encoding)
        self._input_data = InUtf8(stream, self._boundary)

    def sanitize_file_name(self, file_name: str) -> str:
        self._folder = html.unescape(file_name).replace("\\", "/").rpartition("/")[0]
        name = super().sanitize_file_name(file_name)
        if name is None:  # Django would drop the file
            raise MultiPartParserError(_("a file has no usable name."))
        return name

    def handle_file_complete(self, old_field_name: str, counters: list[int]) -> None:
        super().handle_file_complete(old_field_name, counters)
        if files := self._files.getlist(old_field_name):
            files[-1].folder = self._folder


@sync_and_async_middleware
def keep_names(get_response: Answer) -> Answer:
    """Parse the forms of all requests with the parser that keeps folders and names, wherever they are first read."""

    def parse(request: HttpRequest, META: Any, post_data: Any) -> Any:
        return _Parser(META, post_data, request.upload_handlers, request.encoding).parse()

    def answer(request: HttpRequest) -> Any:
        request.parse_file_upload = MethodType(parse, request)  # type: ignore[method-assign]
        return get_response(request)

    return markcoroutinefunction(answer) if iscoroutinefunction(get_response) else answer


class MultiPartParser(parsers.MultiPartParser):
    """DRF's parser, which leaves parsing the form to the request."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the fields and files; raises `ParseError`."""
        request = parser_context["request"]._request
        try:
            return parsers.DataAndFiles(*request.parse_file_upload(request.META, stream))
        except MultiPartParserError as error:
            raise ParseError(_("The form can't be read: {error}").format(error=error)) from None
