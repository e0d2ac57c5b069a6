"""Protection against hostile or mislabelled files: checks of archives, and limits on elements."""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from knowledge.parsing.elements import Code, Element, Heading, Notice, Paragraph, Picture, Table, Title
from knowledge.parsing.errors import ParseError

MAX_ENTRIES = 20_000
MAX_UNPACKED = 1024**3  # bytes in total, unpacked
MAX_RATIO = 200  # of unpacked to packed size; Office XML reaches about 30, a bomb over 1,000
RATIO_FLOOR = 20 * 1024**2  # bytes; the ratio of smaller parts isn't checked
MAX_XML = 300 * 1024**2  # bytes of a part that is parsed as a whole

MAX_TEXT = 100_000  # characters of one element
MAX_CELL = 20_000  # characters of one table cell
MAX_ROW = 100_000  # characters of one table row
MAX_COLUMNS = 1000
MAX_DIGITS = 9  # of a number in the structure of a file, such as that of a list's first item
MAX_TABLE = 500_000  # characters of one table element; a longer table continues in the next one

TOO_DEEP = Notice(key="left_out.nested")
STRUCK_OUT = Notice(key="left_out.struck")
HIDDEN_LEFT_OUT = Notice(key="left_out.hidden")
HIDDEN_READ = Notice(key="read.hidden")
HIDDEN = "(hidden)"  # marks what is read although it is hidden
_LONG_CAPTION = Notice(key="left_out.caption", params={"most": MAX_CELL})

_ENCRYPTED_FLAG = 0x1
_BEFORE_ROOT = 4096  # bytes
_ROOT = re.compile(rb"<[A-Za-z_]")


def check_archive(archive: zipfile.ZipFile) -> None:
    """Raise `ParseError` for a ZIP archive that is encrypted, or would unpack to too much."""
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise ParseError("too_large.parts", parts=len(entries), most=MAX_ENTRIES)
    if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
        raise ParseError("encrypted")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_UNPACKED:
        raise ParseError("too_large.unpacked", size=total // 1024**2)
    for entry in entries:
        if entry.file_size > RATIO_FLOOR and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise ParseError("too_large.bomb")


def check_office_parts(archive: zipfile.ZipFile) -> None:
    """Raise `ParseError` for Office XML that is too large to be parsed as a whole, or may declare a document type.

    No Office program writes such a declaration, which precedes the first element; entities in it are an attack
    ("billion laughs").
    """
    for entry in archive.infolist():
        if not entry.filename.lower().endswith((".xml", ".rels", ".vml")) or entry.is_dir():
            continue
        if entry.file_size > MAX_XML:
            raise ParseError("too_large.office", kind="Office")
        with archive.open(entry) as part:
            head = part.read(_BEFORE_ROOT).replace(b"\x00", b"")
        has_no_root = len(head) > _BEFORE_ROOT // 4 and not _ROOT.search(head)
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head or has_no_root:
            raise ParseError("broken.entities")


# Control characters (PostgreSQL rejects U+0000), lone surrogates and non-characters, which can't be stored or shown.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """Return the text without characters that can't be stored or shown; tabs and line breaks are kept."""
    return _UNWANTED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def bounded(element: Element) -> Iterator[Element]:
    """Yield the element with clean text, split if it is longer than a line of the pipe may be."""
    match element:
        case Heading() | Paragraph() | Code() | Title():
            for piece in pieces(clean(element.text), MAX_TEXT):
                yield replace(element, text=piece)
        case Table():
            caption = clean(element.caption)
            table = replace(element, columns=_cells(element.columns), rows=(), caption=caption[:MAX_CELL])
            batch: list[tuple[str, ...]] = []
            size = 0
            for row in map(_cells, element.rows):
                batch.append(row)
                size += sum(len(cell) + 4 for cell in row)
                if size > MAX_TABLE:
                    yield replace(table, rows=tuple(batch))
                    batch, size = [], 0
            if batch or not element.rows:
                yield replace(table, rows=tuple(batch))
            if len(caption) > MAX_CELL:
                yield _LONG_CAPTION
            lengths = [list(map(len, row)) for row in (element.columns, *element.rows)]
            yield from columns_left_out(max(map(len, lengths)))
            longest = max(sum(row[:MAX_COLUMNS]) for row in lengths)
            cell = max((length for row in lengths for length in row[:MAX_COLUMNS]), default=0)
            if cell > MAX_CELL:
                yield Notice(key="left_out.cell", params={"characters": cell, "most": MAX_CELL})
            if longest > MAX_ROW:
                yield Notice(key="left_out.row", params={"characters": longest, "most": MAX_ROW})
        case Picture():
            alt = clean(element.alt)
            yield replace(element, alt=alt[:MAX_CELL], labels=clean(element.labels)[:MAX_CELL])
            if len(alt) > MAX_CELL:
                yield _LONG_CAPTION
        case _:
            yield element


def pieces(text: str, length: int) -> Iterator[str]:
    """Yield a text in pieces of at most `length` characters, split at white space if possible, without blank ones."""
    start = 0
    while len(text) - start > length:
        half, end = start + length // 2, start + length
        cut = max(text.rfind(" ", half, end), text.rfind("\n", half, end))
        end = cut if cut > 0 else end
        if not text[start:end].isspace():
            yield text[start:end]
        start = end
    if text[start:].strip():
        yield text[start:]


def columns_left_out(columns: int) -> Iterator[Notice]:
    """Yield a notice if a table has more columns than are read."""
    if columns > MAX_COLUMNS:
        yield Notice(key="left_out.columns", params={"columns": columns, "most": MAX_COLUMNS})


def number_in(digits: str | None, default: int) -> int:
    """Return a whole number of a file, or the default for anything else, among it more digits than any place has."""
    text = (digits or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else default


def too_many_pictures(most: int) -> Notice:
    """Return the notice that a file contains more pictures than are stored."""
    return Notice(key="left_out.pictures", params={"most": most})


def _cells(row: tuple[str, ...]) -> tuple[str, ...]:
    left = MAX_ROW
    cells = []
    for cell in islice(row, MAX_COLUMNS):
        cells.append(clean(cell[: min(MAX_CELL, left)]))
        left -= len(cells[-1])
    return tuple(cells)
