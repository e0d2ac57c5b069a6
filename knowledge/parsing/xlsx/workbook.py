"""Excel workbooks (xlsx): each sheet is a page with its name, its blocks of cells as tables, charts and pictures."""

import re
import zipfile
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell.read_only import EmptyCell
from openpyxl.utils.cell import range_boundaries
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from knowledge.parsing.decoding import as_shown, clean
from knowledge.parsing.elements import Element, Heading, Notice, PageBreak, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import HIDDEN, HIDDEN_LEFT_OUT, HIDDEN_READ, MAX_COLUMNS, columns_left_out
from knowledge.parsing.ooxml import BROKEN, broken, check_package
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.sheets import SheetTables
from knowledge.parsing.xlsx.drawings import drawings_of
from knowledge.parsing.xlsx.format import builtin_format, show

_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_MERGE = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]+\d+:[A-Z]+\d+)\"")
_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*?hidden=\"(?:1|true)\"[^>]*>")
_NUMBER_OF_ROW = re.compile(rb"\sr=\"(\d+)\"")
_COLUMN = re.compile(rb"<(?:\w+:)?col\s[^>]*?hidden=\"(?:1|true)\"[^>]*>")
_FIRST, _LAST = re.compile(rb"\smin=\"(\d+)\""), re.compile(rb"\smax=\"(\d+)\"")
_MOST_CELLS = 5_000_000
_LAST_ROW = 1_048_576  # Excel's limit
_MOST_MERGED = 200_000  # cells
_SCAN = 1 << 20  # bytes
_LONGEST_TAG = 1000  # bytes
_LONGEST_SIGN = 4  # characters of a cell that may be in a symbol font; longer ones are words

# For each merged cell but the first, the row and column of the first.
Merges = dict[tuple[int, int], tuple[int, int]]


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a workbook's elements sheet by sheet; raises `ParseError` if it is protected, broken, empty or too long."""
    check_package(path, "xl/", "Excel (.xlsx)")
    reader = _Reader(path, context)
    found = False
    try:
        for element in reader.run():
            found = found or not isinstance(element, PageBreak | Notice)
            yield element
    except (*BROKEN, InvalidFileException) as error:
        raise broken(error) from error
    if not found:
        raise ParseError("no_text.sheets")


class _Reader:
    """Reads a workbook row by row, to limit memory."""

    def __init__(self, path: Path, context: ParseContext) -> None:
        self.path, self.context = path, context
        self.pictures = PictureStore(context.output_dir)
        self.rows = 0
        self.cells = 0
        self.has_hidden = False
        self.widest = 0  # columns of the widest row with content beyond `MAX_COLUMNS`

    def run(self) -> Iterator[Element]:
        with self.path.open("rb") as file, zipfile.ZipFile(self.path) as package:
            # Count the cells, including empty ones, before reading them, which takes seconds instead of minutes.
            left = _MOST_CELLS
            parts = [part for part in package.namelist() if "/worksheets/" in part and part.endswith(".xml")]
            for block in (block for part in parts for block in _blocks(package, part)):
                left -= len(_CELL.findall(block))
                if left < 0:
                    raise _too_many_cells()
            # Pass the open file, not its path, since stored documents have no extension, which openpyxl requires.
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            hidden = [sheet for sheet in book.worksheets if sheet.sheet_state != "visible"]
            self.has_hidden = bool(hidden)
            sheets = [sheet for sheet in book.worksheets if sheet not in hidden or self.context.hidden]
            for number, sheet in enumerate(sheets, 1):
                yield PageBreak(page=number, total=len(sheets))
                inner = str(vars(sheet)["_worksheet_path"]).lstrip("/")
                tables = SheetTables(number)
                cells = self._elements(sheet, tables, _merges(package, inner), _hidden(package, inner))
                for place, element in enumerate(chain(cells, drawings_of(package, inner, self.pictures, number))):
                    if place == 0:
                        mark = f" {HIDDEN}" if sheet in hidden else ""
                        yield Heading(page=number, text=sheet.title + mark, level=1)
                    yield element
            yield from columns_left_out(self.widest)
            if self.has_hidden:
                yield HIDDEN_READ if self.context.hidden else HIDDEN_LEFT_OUT

    def _elements(
        self, sheet: ReadOnlyWorksheet, tables: SheetTables, merges: Merges, hidden: tuple[set[int], set[int]]
    ) -> Iterator[Table | Paragraph]:
        anchors: dict[tuple[int, int], str] = {}
        first_cells = set(merges.values())
        sheet.reset_dimensions()  # a sheet may declare a million rows and contain three
        for number, row in enumerate(iter(sheet.rows), 1):
            if number > _LAST_ROW:
                raise ParseError("broken")
            if len(row) == 0:
                yield from tables.end()
                continue
            line = [_text(cell) for cell in row[:MAX_COLUMNS]]
            if len(row) > self.widest and any(map(_text, row[MAX_COLUMNS:])):
                self.widest = len(row)
            self.rows += any(line)
            self.cells += len(line)
            if self.rows > self.context.max_rows:
                raise ParseError("too_many_rows.workbook", rows=self.context.max_rows)
            if self.cells > _MOST_CELLS:
                raise _too_many_cells()
            for column, text in enumerate(line, 1):
                if (number, column) in first_cells:
                    anchors[number, column] = text
            across = line.copy()
            if merges:  # merged cells repeat downwards everywhere, and across in headers
                column = 0
                while column < len(line) or (number, column + 1) in merges:
                    column += 1
                    if column > len(line):
                        line.append("")
                        across.append("")
                    first = merges.get((number, column))
                    if first is None or line[column - 1]:
                        continue
                    across[column - 1] = anchors.get(first, "")
                    if first[0] != number and first[1] == column:
                        line[column - 1] = across[column - 1]
            if number in hidden[0] or hidden[1]:
                line, across = self._without_hidden(number, line, across, hidden)
                if number in hidden[0] and not any(line):
                    continue  # unlike an empty row, it doesn't end a table
            if any(line):
                yield from tables.add(line, across)
            else:
                yield from tables.end()
        yield from tables.finish()

    def _without_hidden(
        self, number: int, line: list[str], across: list[str], hidden: tuple[set[int], set[int]]
    ) -> tuple[list[str], list[str]]:
        """Return a row without its hidden cells, or with a mark if they are to be read."""
        rows, columns = hidden
        gone = range(1, len(line) + 1) if number in rows else columns
        self.has_hidden = self.has_hidden or any(line[column - 1] for column in gone if column <= len(line))
        if not self.context.hidden:
            line, across = (
                ["" if column in gone else cell for column, cell in enumerate(cells, 1)] for cells in (line, across)
            )
        elif number in rows and any(line):
            first = next(place for place, cell in enumerate(line) if cell)
            line = [*line[:first], f"{line[first]} {HIDDEN}", *line[first + 1 :]]
        return line, across


def _too_many_cells() -> ParseError:
    return ParseError("too_many_rows.cells", cells=_MOST_CELLS)


def _blocks(package: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield a part of the package in blocks that don't split a tag, unless it is very long."""
    with package.open(part) as file:
        rest = b""
        while block := file.read(_SCAN):
            block = rest + block
            cut = block.rfind(b"<")
            cut = cut if cut > 0 and len(block) - cut < _LONGEST_TAG else len(block)
            yield block[:cut]
            rest = block[cut:]
        yield rest


def _text(cell: object) -> str:
    value = None if isinstance(cell, EmptyCell) else getattr(cell, "value", None)
    if value is None:
        return ""
    style = _styled(cell, "style_array")
    number_format = (builtin_format(style.numFmtId) or _styled(cell, "number_format") if style else None) or "General"
    if not isinstance(value, str):
        return show(value, number_format)
    text = clean(show(value, number_format))
    if len(text) <= _LONGEST_SIGN and (font := _styled(cell, "font")):  # "ü" in Wingdings is a tick
        text = as_shown(text, font.name or "")
    return "" if text.startswith("=DISPIMG(") else text  # a picture in a cell, as WPS writes it


def _styled(cell: object, name: str) -> Any:
    """Return a property of a cell's style, or None if the file doesn't contain the style."""
    try:
        return getattr(cell, name, None)
    except IndexError:
        return None


def _hidden(package: zipfile.ZipFile, part: str) -> tuple[set[int], set[int]]:
    """Return the numbers of a sheet's hidden rows and columns, which its row-by-row reader leaves out."""
    rows: set[int] = set()
    columns: set[int] = set()
    for block in _blocks(package, part):
        rows.update(int(match.group(1)) for tag in _ROW.findall(block) if (match := _NUMBER_OF_ROW.search(tag)))
        for tag in _COLUMN.findall(block):
            first, last = (int(match.group(1)) if (match := side.search(tag)) else 0 for side in (_FIRST, _LAST))
            columns.update(range(first, min(last, MAX_COLUMNS) + 1))
    return rows, columns


def _merges(package: zipfile.ZipFile, part: str) -> Merges:
    """Return the merged cells of a sheet, which its row-by-row reader leaves out."""
    merges: Merges = {}
    for block in _blocks(package, part):
        for match in _MERGE.finditer(block):
            left, top, right, bottom = (side or 1 for side in range_boundaries(match.group(1).decode()))
            if (right - left + 1) * (bottom - top + 1) > _MOST_MERGED:
                continue
            places = product(range(top, bottom + 1), range(left, min(right, MAX_COLUMNS) + 1))
            merges.update({place: (top, left) for place in places if place != (top, left)})
            if len(merges) > _MOST_MERGED:
                return merges
    return merges
