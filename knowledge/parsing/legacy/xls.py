"""Excel 97-2003 without LibreOffice: each sheet's cells, read as in the newer format, but without charts."""

from collections.abc import Iterator
from pathlib import Path

import xlrd
from xlrd.biffh import XLRDError
from xlrd.book import Book
from xlrd.sheet import Sheet

from knowledge.parsing.decoding import clean
from knowledge.parsing.elements import Element, Heading, PageBreak, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import HIDDEN, HIDDEN_LEFT_OUT, HIDDEN_READ, MAX_COLUMNS, STRUCK_OUT, columns_left_out
from knowledge.parsing.ooxml import BROKEN, broken
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.sheets import SheetTables
from knowledge.parsing.xlsx.format import builtin_format, show

_DAYS_TO_1904 = 1462  # from the first day of other workbooks to that of old ones from a Mac


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a workbook's elements sheet by sheet; raises `ParseError` if it is protected, broken, empty or too long."""
    found = False
    struck_out: list[str] = []
    try:
        with path.open("rb") as file, xlrd.open_workbook(file_contents=file.read(), formatting_info=True) as book:
            sheets = [sheet for sheet in book.sheets() if not sheet.visibility or context.hidden]
            has_hidden = any(sheet.visibility or _hidden(sheet) != (set(), set()) for sheet in book.sheets())
            if sum(sheet.nrows for sheet in sheets) > context.max_rows:
                raise ParseError("too_many_rows.workbook", rows=context.max_rows)
            for number, sheet in enumerate(sheets, 1):
                yield PageBreak(page=number, total=len(sheets))
                for place, element in enumerate(_read(book, sheet, number, context.hidden, struck_out)):
                    if place == 0:
                        mark = f" {HIDDEN}" if sheet.visibility else ""
                        yield Heading(page=number, text=sheet.name + mark, level=1)
                    found = True
                    yield element
            yield from columns_left_out(max((sheet.ncols for sheet in sheets), default=0))
            if has_hidden:
                yield HIDDEN_READ if context.hidden else HIDDEN_LEFT_OUT
            if struck_out:
                yield STRUCK_OUT
    except XLRDError as error:
        if "encrypted" in str(error):
            raise ParseError("encrypted.older", newer=".xlsx") from error
        raise broken(error) from error
    except BROKEN as error:
        raise broken(error) from error
    if not found:
        raise ParseError("no_text.sheets")


def _hidden(sheet: Sheet) -> tuple[set[int], set[int]]:
    """Return the hidden rows and columns of a sheet that have text, counted from 0."""
    rows = {row for row, info in sheet.rowinfo_map.items() if info.hidden and row < sheet.nrows}
    columns = {column for column, info in sheet.colinfo_map.items() if info.hidden and column < sheet.ncols}
    return {row for row in rows if any(sheet.row_values(row))}, {at for at in columns if any(sheet.col_values(at))}


def _read(
    book: Book, sheet: Sheet, number: int, with_hidden: bool, struck_out: list[str]
) -> Iterator[Table | Paragraph]:
    """Yield a sheet's blocks of cells; merged cells repeat downwards, and across in headers.

    Text that is struck out is left out and added to `struck_out`.
    """
    firsts = {
        (row, column): (top, left)
        for top, bottom, left, right in sheet.merged_cells
        for row in range(top, min(bottom, sheet.nrows))
        for column in range(left, min(right, MAX_COLUMNS))
    }
    tables = SheetTables(number)
    hidden_rows, hidden_columns = _hidden(sheet)
    for row in range(sheet.nrows):
        width = min(sheet.row_len(row), MAX_COLUMNS)
        line = [_text(book, sheet, row, column, struck_out) for column in range(width)]
        across = line.copy()
        for column in range(len(line)):
            top, left = firsts.get((row, column), (row, column))
            if not line[column] and (top, left) != (row, column) and left < sheet.row_len(top):
                across[column] = _text(book, sheet, top, left, struck_out)
                if left == column:
                    line[column] = across[column]
        if row in hidden_rows and not with_hidden:
            continue
        if row in hidden_rows:
            first = next((place for place, cell in enumerate(line) if cell), 0)
            line[first] += f" {HIDDEN}"
        elif hidden_columns and not with_hidden:
            for cells in (line, across):
                cells[:] = ["" if column in hidden_columns else cell for column, cell in enumerate(cells)]
        if any(line):
            yield from tables.add(line, across)
        else:
            yield from tables.end()
    yield from tables.finish()


def _text(book: Book, sheet: Sheet, row: int, column: int, struck_out: list[str]) -> str:
    cell = sheet.cell(row, column)
    if cell.xf_index is not None and cell.value not in ("", None):
        # From each of these characters on, text has another font; the first one is that of the cell.
        runs = [(0, book.xf_list[cell.xf_index].font_index), *sheet.rich_text_runlist_map.get((row, column), ())]
        if any(book.font_list[font].struck_out for _, font in runs):
            text = str(cell.value)
            ends = [*(start for start, _ in runs[1:]), len(text)]
            parts = [(text[start:end], font) for (start, font), end in zip(runs, ends, strict=True)]
            kept = "".join(part for part, font in parts if not book.font_list[font].struck_out)
            if kept != text:
                struck_out.append(text)
                return clean(kept).strip()
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return show(bool(cell.value))
    if cell.ctype not in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE, xlrd.XL_CELL_TEXT):
        return ""
    number_format = "yyyy-mm-dd hh:mm:ss" if cell.ctype == xlrd.XL_CELL_DATE else "General"
    if cell.xf_index is not None:
        key = book.xf_list[cell.xf_index].format_key
        known = book.format_map.get(key)
        number_format = (known.format_str if known else None) or builtin_format(key) or number_format
    if cell.ctype == xlrd.XL_CELL_TEXT:
        return clean(show(str(cell.value), number_format))
    first_day = _DAYS_TO_1904 if cell.ctype == xlrd.XL_CELL_DATE and book.datemode else 0
    return show(cell.value + first_day, number_format)
