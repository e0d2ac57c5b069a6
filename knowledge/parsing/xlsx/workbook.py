"""Excel workbooks (xlsx): each sheet is a page with its name, its blocks of cells as tables, charts and pictures."""

import re
import zipfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import chain, product
from math import isfinite
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell.read_only import EMPTY_CELL, EmptyCell, ReadOnlyCell
from openpyxl.cell.rich_text import CellRichText
from openpyxl.utils.cell import range_boundaries
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet import _reader
from openpyxl.worksheet._read_only import ReadOnlyWorksheet
from openpyxl.worksheet._reader import WorkSheetParser
from openpyxl.xml.functions import iterparse

from knowledge.parsing.decoding import as_shown, clean, raised
from knowledge.parsing.elements import Element, Heading, Notice, PageBreak, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import calculation
from knowledge.parsing.limits import (
    HIDDEN,
    HIDDEN_LEFT_OUT,
    HIDDEN_READ,
    MAX_COLUMNS,
    STRUCK_OUT,
    columns_left_out,
)
from knowledge.parsing.ooxml import BROKEN, blocks_of, broken, check_package
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.sheets import SheetTables
from knowledge.parsing.xlsx.drawings import drawings_of
from knowledge.parsing.xlsx.format import builtin_format, show

_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_MERGE = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]+\d+:[A-Z]+\d+)\"")
_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*?hidden=\"(?:1|true)\"[^>]*>")
_NUMBER_OF_ROW = re.compile(rb"\sr=\"(\d{1,9})\"")
_COLUMN = re.compile(rb"<(?:\w+:)?col\s[^>]*?hidden=\"(?:1|true)\"[^>]*>")
_FIRST, _LAST = re.compile(rb"\smin=\"(\d{1,9})\""), re.compile(rb"\smax=\"(\d{1,9})\"")
# A cell with a formula but without its value, or 0, as programs write it that don't calculate; "" is a value of text.
_UNCALCULATED = re.compile(
    rb"<(?:\w+:)?c\b(?![^>]*\st=\"str\")[^>]*>\s*<(?:\w+:)?f\b[^>]*?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*(0?)\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_CALCULATES_ON_OPENING = re.compile(rb"<(?:\w+:)?calcPr\b[^>]*\sfullCalcOnLoad=\"(?:1|true)\"")
_MOST_CELLS = 5_000_000
_OTHER_PARTS = {_reader.CF_TAG, _reader.MERGE_TAG, _reader.VALIDATION_TAG, _reader.HYPERLINK_TAG, _reader.EXT_TAG}
_LAST_ROW = 1_048_576  # Excel's limit
_MOST_MERGED = 200_000  # cells
_LONGEST_SIGN = 4  # characters of a cell that may be in a symbol font; longer ones are words


@dataclass(slots=True)
class _Declared:
    """What a sheet says about its cells, but its row-by-row reader leaves out.

    `merges` has the row and column of the first cell for each other one that is merged with it.
    """

    formulas: int = 0
    uncalculated: int = 0
    zeros: int = 0  # formulas with this value
    merges: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a workbook's elements sheet by sheet; raises `ParseError` if it is protected, broken, empty or too long."""
    check_package(path, "xl/", "Excel (.xlsx)")
    found = False
    try:
        declared = _declared(path)
        formulas, uncalculated, zeros = (
            sum(getattr(sheet, name) for sheet in declared.values()) for name in ("formulas", "uncalculated", "zeros")
        )
        again = False  # whether all formulas have a value that is wrong
        if zeros and formulas == uncalculated + zeros:
            with zipfile.ZipFile(path) as package:
                blocks = blocks_of(package, "xl/workbook.xml")
                again = any(_CALCULATES_ON_OPENING.search(block) for block in blocks)
        uncalculated = formulas if again else uncalculated
        if uncalculated and (calculated := calculation.calculated(path, "xlsx", context.output_dir, again)):
            path, declared, uncalculated = calculated, _declared(calculated), 0
        for element in chain(_Reader(path, context, declared).run(), calculation.left_out(uncalculated)):
            found = found or not isinstance(element, PageBreak | Notice)
            yield element
    except (*BROKEN, InvalidFileException) as error:
        raise broken(error) from error
    if not found:
        raise ParseError("no_text.sheets")


class _Reader:
    """Reads a workbook row by row, to limit memory."""

    def __init__(self, path: Path, context: ParseContext, declared: dict[str, _Declared]) -> None:
        self.path, self.context, self.declared = path, context, declared
        self.pictures = PictureStore(context.output_dir)
        self.rows = 0
        self.cells = 0
        self.has_hidden = self.has_struck = False
        self.struck_fonts: set[int] = set()
        self.widest = 0  # columns of the widest row with content beyond `MAX_COLUMNS`

    def run(self) -> Iterator[Element]:
        with self.path.open("rb") as file, zipfile.ZipFile(self.path) as package:
            # Pass the open file, not its path, since stored documents have no extension, which openpyxl requires.
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False, rich_text=True)
            self.struck_fonts = {number for number, font in enumerate(vars(book)["_fonts"]) if font.strike}
            hidden = [sheet for sheet in book.worksheets if sheet.sheet_state != "visible"]
            self.has_hidden = bool(hidden)
            sheets = [sheet for sheet in book.worksheets if sheet not in hidden or self.context.hidden]
            for number, sheet in enumerate(sheets, 1):
                yield PageBreak(page=number, total=len(sheets))
                inner = str(vars(sheet)["_worksheet_path"]).lstrip("/")
                tables = SheetTables(number)
                rows = _rows(sheet, package, inner)
                cells = self._elements(rows, tables, self.declared.get(inner, _Declared()))
                for place, element in enumerate(chain(cells, drawings_of(package, inner, self.pictures, number))):
                    if place == 0:
                        mark = f" {HIDDEN}" if sheet in hidden else ""
                        yield Heading(page=number, text=sheet.title + mark, level=1)
                    yield element
            yield from columns_left_out(self.widest)
            if self.has_hidden:
                yield HIDDEN_READ if self.context.hidden else HIDDEN_LEFT_OUT
            if self.has_struck:
                yield STRUCK_OUT

    def _elements(
        self, rows: Iterator[list[object]], tables: SheetTables, declared: _Declared
    ) -> Iterator[Table | Paragraph]:
        anchors: dict[tuple[int, int], str] = {}
        merges, first_cells = declared.merges, set(declared.merges.values())
        for number, row in enumerate(rows, 1):
            if number > _LAST_ROW:
                raise ParseError("broken")
            if len(row) == 0:
                yield from tables.end()
                continue
            line = [self._text(cell) for cell in row[:MAX_COLUMNS]]
            if len(row) > self.widest and any(map(self._text, row[MAX_COLUMNS:])):
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
            if number in declared.hidden_rows or declared.hidden_columns:
                line, across = self._without_hidden(number, line, across, declared)
                if number in declared.hidden_rows and not any(line):
                    continue  # unlike an empty row, it doesn't end a table
            if any(line):
                yield from tables.add(line, across)
            else:
                yield from tables.end()
        yield from tables.finish()

    def _without_hidden(
        self, number: int, line: list[str], across: list[str], declared: _Declared
    ) -> tuple[list[str], list[str]]:
        """Return a row without its hidden cells, or with a mark if they are to be read."""
        is_row = number in declared.hidden_rows
        gone = range(1, len(line) + 1) if is_row else declared.hidden_columns
        self.has_hidden = self.has_hidden or any(line[column - 1] for column in gone if column <= len(line))
        if not self.context.hidden:
            line, across = (
                ["" if column in gone else cell for column, cell in enumerate(cells, 1)] for cells in (line, across)
            )
        elif is_row and any(line):
            first = next(place for place, cell in enumerate(line) if cell)
            line = [*line[:first], f"{line[first]} {HIDDEN}", *line[first + 1 :]]
        return line, across

    def _text(self, cell: object) -> str:
        value = None if isinstance(cell, EmptyCell) else getattr(cell, "value", None)
        if value is None:
            return ""
        style = _styled(cell, "style_array")
        is_struck = style is not None and style.fontId in self.struck_fonts
        parts: list[str] = []
        for part in value if isinstance(value, CellRichText) else ():
            if is_struck if isinstance(part, str) else part.font.strike:
                self.has_struck = True
            elif isinstance(part, str):
                parts.append(part)
            else:
                parts.append(raised(part.text, parts) if part.font.vertAlign == "superscript" else part.text)
        if isinstance(value, CellRichText):
            value = "".join(parts)
        elif is_struck:
            self.has_struck = True
            return ""
        number_format = (
            builtin_format(style.numFmtId) or _styled(cell, "number_format") if style else None
        ) or "General"
        if not isinstance(value, str):
            return show(value, number_format)
        text = clean(show(value, number_format))
        if len(text) <= _LONGEST_SIGN and (font := _styled(cell, "font")):  # "ü" in Wingdings is a tick
            text = as_shown(text, font.name or "")
        return "" if text.startswith("=DISPIMG(") else text  # a picture in a cell, as WPS writes it


def _number(text: str) -> float | str:
    """Return a cell's number, or its text if it is none that Excel has, such as one of a thousand digits."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not isfinite(number):
        return text
    return int(text) if text.strip("+-").isdecimal() else number


vars(_reader)["_cast_number"] = _number  # fails for the whole file otherwise


class _CellParser(WorkSheetParser):
    """Reads only the cells of a sheet: one may have hundreds of thousands of rules for colours or merged cells."""

    def parse(self) -> Generator[tuple[int, list[dict[str, Any]]], None, None]:
        """Yield the number and the cells of each row."""
        for _, element in iterparse(self.source):
            if element.tag == _reader.ROW_TAG:
                yield self.parse_row(element)
                element.clear()
            elif element.tag in _OTHER_PARTS:
                element.clear()


def _rows(sheet: ReadOnlyWorksheet, package: zipfile.ZipFile, part: str) -> Iterator[list[object]]:
    """Yield a sheet's rows as `sheet.rows` does, but with rich text, and however many rows and columns it declares."""
    book, following = vars(sheet.parent), 1
    with package.open(part) as source:
        parser = _CellParser(
            source,
            vars(sheet)["_shared_strings"],
            data_only=True,
            epoch=sheet.parent.epoch,
            date_formats=book["_date_formats"],
            timedelta_formats=book["_timedelta_formats"],
            rich_text=True,
        )
        for number, cells in parser.parse():
            for _ in range(following, number):
                yield []
            if number >= following:
                row: list[object] = [EMPTY_CELL] * max((cell["column"] for cell in cells), default=0)
                for cell in cells:
                    row[cell["column"] - 1] = ReadOnlyCell(sheet, **cell)
                yield row
                following = number + 1


def _too_many_cells() -> ParseError:
    return ParseError("too_many_rows.cells", cells=_MOST_CELLS)


def _styled(cell: object, name: str) -> Any:
    """Return a property of a cell's style, or None if the file doesn't contain the style."""
    try:
        return getattr(cell, name, None)
    except IndexError:
        return None


def _declared(path: Path) -> dict[str, _Declared]:
    """Return what the sheets declare, by their parts; raises `ParseError` if there are too many cells.

    They are counted, including empty ones, before they are read, which takes seconds instead of minutes.
    """
    found: dict[str, _Declared] = {}
    cells = merged = 0
    with zipfile.ZipFile(path) as package:
        for part in package.namelist():
            if "/worksheets/" not in part or not part.endswith(".xml"):
                continue
            sheet = found[part.lstrip("/")] = _Declared()
            for block in blocks_of(package, part):
                cells += len(_CELL.findall(block))
                if cells > _MOST_CELLS:
                    raise _too_many_cells()
                if formulas := len(_FORMULA.findall(block)):
                    values = _UNCALCULATED.findall(block)
                    sheet.formulas += formulas
                    sheet.zeros += values.count(b"0")
                    sheet.uncalculated += values.count(b"")
                rows = (_NUMBER_OF_ROW.search(tag) for tag in _ROW.findall(block))
                sheet.hidden_rows.update(int(row.group(1)) for row in rows if row)
                for tag in _COLUMN.findall(block):
                    first, last = (
                        int(match.group(1)) if (match := side.search(tag)) else 0 for side in (_FIRST, _LAST)
                    )
                    sheet.hidden_columns.update(range(first, min(last, MAX_COLUMNS) + 1))
                for match in _MERGE.finditer(block):
                    left, top, right, bottom = (side or 1 for side in range_boundaries(match.group(1).decode()))
                    area = (right - left + 1) * (bottom - top + 1)
                    if max(area, merged) > _MOST_MERGED:
                        continue
                    merged += area
                    places = product(range(top, bottom + 1), range(left, min(right, MAX_COLUMNS) + 1))
                    sheet.merges.update({place: (top, left) for place in places if place != (top, left)})
    return found
