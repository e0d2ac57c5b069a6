"""Excel 97-2003 without LibreOffice: each sheet's cells, read as in the newer format, but without charts."""

from collections.abc import Iterator
from pathlib import Path

import xlrd
from xlrd.biffh import XLRDError
from xlrd.book import Book
from xlrd.sheet import Cell, Sheet

from knowledge.parsing.decoding import clean
from knowledge.parsing.elements import Element, Heading, PageBreak, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import MAX_COLUMNS, columns_left_out
from knowledge.parsing.ooxml import BROKEN, broken
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.sheets import SheetTables
from knowledge.parsing.xlsx.format import show

_VERY_HIDDEN = 2


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a workbook's elements sheet by sheet; raises `ParseError` if it is protected, broken, empty or too long."""
    found = False
    try:
        with path.open("rb") as file, xlrd.open_workbook(file_contents=file.read(), formatting_info=True) as book:
            sheets = [sheet for sheet in book.sheets() if sheet.visibility != _VERY_HIDDEN]
            if sum(sheet.nrows for sheet in sheets) > context.max_rows:
                raise ParseError("too_many_rows.workbook", rows=context.max_rows)
            for number, sheet in enumerate(sheets, 1):
                yield PageBreak(page=number, total=len(sheets))
                for place, element in enumerate(_read(book, sheet, number)):
                    if place == 0:
                        yield Heading(page=number, text=sheet.name, level=1)
                    found = True
                    yield element
            yield from columns_left_out(max((sheet.ncols for sheet in sheets), default=0))
    except XLRDError as error:
        if "encrypted" in str(error):
            raise ParseError("encrypted.older", newer=".xlsx") from error
        raise broken(error) from error
    except BROKEN as error:
        raise broken(error) from error
    if not found:
        raise ParseError("no_text.sheets")


def _read(book: Book, sheet: Sheet, number: int) -> Iterator[Table | Paragraph]:
    """Yield a sheet's blocks of cells; merged cells repeat downwards, and across in headers."""
    firsts = {
        (row, column): (top, left)
        for top, bottom, left, right in sheet.merged_cells
        for row in range(top, min(bottom, sheet.nrows))
        for column in range(left, min(right, MAX_COLUMNS))
    }
    tables = SheetTables(number)
    for row in range(sheet.nrows):
        line = [_text(book, cell) for cell in sheet.row_slice(row, 0, MAX_COLUMNS)]
        across = line.copy()
        for column in range(len(line)):
            top, left = firsts.get((row, column), (row, column))
            if not line[column] and (top, left) != (row, column) and left < sheet.row_len(top):
                across[column] = _text(book, sheet.cell(top, left))
                if left == column:
                    line[column] = across[column]
        if any(line):
            yield from tables.add(line, across)
        else:
            yield from tables.end()
    yield from tables.finish()


def _text(book: Book, cell: Cell) -> str:
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            return show(xlrd.xldate_as_datetime(cell.value, book.datemode))
        except (ValueError, OverflowError):
            return show(cell.value)
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        known = book.format_map.get(book.xf_list[cell.xf_index].format_key) if cell.xf_index is not None else None
        return show(cell.value, known.format_str if known else "General")
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return show(bool(cell.value))
    return clean(str(cell.value)).strip() if cell.ctype == xlrd.XL_CELL_TEXT else ""
