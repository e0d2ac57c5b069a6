"""Word, Excel and PowerPoint 97-2003: converted by LibreOffice and read as the current formats.

So are their templates, Office 2003 XML and binary workbooks (xlsb). Excel files can also be read without LibreOffice.
"""

from collections.abc import Iterator
from pathlib import Path

import olefile

from knowledge.parsing.elements import Element
from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import libreoffice
from knowledge.parsing.legacy.conversion import convert
from knowledge.parsing.registry import OLE, ParseContext

_ENCRYPTED = 0x0100  # of a Word file's flags
_ENCRYPTED_SLIDES = 0xF3D1C4DF  # token of PowerPoint's "Current User"
_FILEPASS = 0x2F  # record of a workbook
_RECORDS = 20  # first records, which include it
_LONGEST_RECORD = 8224  # bytes


def parse_word(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a Word file's elements; raises `ParseError` if it is protected, broken or empty."""
    from knowledge.parsing.docx.document import parse

    start = _stream(path, "WordDocument", 12)
    if len(start) == 12 and int.from_bytes(start[10:12], "little") & _ENCRYPTED:
        raise ParseError("encrypted.older", newer=".docx")
    return parse(_converted(path, "doc", "docx", context), context)


def parse_slides(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a presentation's elements slide by slide; raises `ParseError` if it is protected, broken or empty."""
    from knowledge.parsing.pptx.document import parse

    start = _stream(path, "Current User", 16)
    if len(start) == 16 and int.from_bytes(start[12:16], "little") == _ENCRYPTED_SLIDES:
        raise ParseError("encrypted.older", newer=".pptx")
    return parse(_converted(path, "ppt", "pptx", context), context)


def parse_workbook(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a workbook's elements sheet by sheet; raises `ParseError` if it is protected, broken, empty or too long."""
    from knowledge.parsing.legacy import xls
    from knowledge.parsing.xlsx.workbook import parse

    with path.open("rb") as file:
        is_binary = file.read(len(OLE)) == OLE
    if not libreoffice.has("calc"):
        if is_binary:
            return xls.parse(path, context)
        raise ParseError(
            "missing_tool.libreoffice", kind="Excel XML", newer=".xlsx", package=libreoffice.package("calc")
        )
    try:
        return parse(_converted(path, "xls", "xlsx", context), context)
    except ParseError as error:
        # Excel and LibreOffice open workbooks that are encrypted with a well-known password.
        if error.key == "broken.conversion" and _has_password(path):
            raise ParseError("encrypted.older", newer=".xlsx") from None
        if error.key != "broken.conversion" or not is_binary:
            raise
    return xls.parse(path, context)


def parse_binary_workbook(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield the elements of an Excel binary workbook (xlsb), as `parse_workbook` does."""
    from knowledge.parsing.xlsx.workbook import parse

    return parse(_converted(path, "xlsb", "xlsx", context), context)


def _converted(path: Path, extension: str, newer: str, context: ParseContext) -> Path:
    with path.open("rb") as file:
        start = file.read(5)
    return convert(
        path, "xml" if start.lstrip(b"\xef\xbb\xbf").startswith(b"<") else extension, newer, context.output_dir
    )


def _has_password(path: Path) -> bool:
    """Return whether the cells of a workbook are encrypted."""
    start = _stream(path, "Workbook", _RECORDS * _LONGEST_RECORD) or _stream(path, "Book", _RECORDS * _LONGEST_RECORD)
    place = 0
    for _ in range(_RECORDS):
        if int.from_bytes(start[place : place + 2], "little") == _FILEPASS:
            return True
        place += 4 + int.from_bytes(start[place + 2 : place + 4], "little")
    return False


def _stream(path: Path, name: str, length: int) -> bytes:
    """Return the first `length` bytes of a stream, or b"" if there is none."""
    try:
        with olefile.OleFileIO(path) as ole:
            return bytes(ole.openstream(name).read(length)) if ole.exists(name) else b""
    except (OSError, ValueError, IndexError, TypeError, AttributeError):
        return b""
