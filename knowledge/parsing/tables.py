"""Table helpers of the parsers: layout of spanning cells, detection of header rows and captions."""

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, islice, pairwise

from knowledge.parsing.elements import Element, Notice, Paragraph, Table
from knowledge.parsing.limits import MAX_COLUMNS, columns_left_out

_NUMBER = re.compile(r"[-+(]?[$€£¥￥]?\s*\d[\d,.\s]*(?:[eE][-+]?\d+)?\s*%?\)?$|\d{4}[-/.年]\d{1,2}.*|\d{1,2}:\d{2}.*")
_CAPTION = re.compile(r"(?:Table|Tab\.|表格?)\s*(?:\d|[A-Z]\b|[一二三四五六七八九十])")
_LONGEST_CAPTION = 300  # characters
_MOST_SPAN_COLUMNS = 500
_BATCH = 500  # rows
_MOST_SPAN_ROWS = 5000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, and the numbers of columns and rows that it spans."""

    text: str
    columns: int = 1
    rows: int = 1
    header: bool = False


def table_of(
    rows: Iterable[Sequence[Cell]], *, header_rows: int | None = None, caption: str = "", page: int | None = None
) -> Iterator[Table | Notice]:
    """Yield the table of some cells, if it isn't empty, and notices of what was left out."""
    lines, width = grid(rows)
    table = make_table(lines, header_rows=header_rows, caption=caption, page=page)
    if table is not None:
        yield table
    yield from columns_left_out(width)


def grid(rows: Iterable[Sequence[Cell]]) -> tuple[list[list[str]], int]:
    """Lay out spanning cells as rows of equal width; return these and the width that includes the cells left out.

    A cell's text is repeated in every row it covers, so that each row can be read alone, and, for header cells, in
    every column it covers.
    """
    result: list[list[str]] = []
    width = 0
    waiting: dict[int, tuple[str, int]] = {}  # by column, the text from above and its remaining rows
    for cells in rows:
        line: list[str] = []
        for number, cell in enumerate(cells):
            _fill(line, waiting)
            if len(line) >= MAX_COLUMNS:
                left = [place for place, other in enumerate(cells[number:], 1) if other.text.strip()]
                width = max(width, len(line) + max(left, default=0))
                break
            for place in range(max(1, min(cell.columns, _MOST_SPAN_COLUMNS - len(line)))):
                text = cell.text if place == 0 or cell.header or not result else ""
                if cell.rows > 1:
                    waiting[len(line)] = (text, min(cell.rows, _MOST_SPAN_ROWS))
                line.append(text)
        _fill(line, waiting)
        waiting = {column: (text, left - 1) for column, (text, left) in waiting.items() if left > 1}
        result.append(line)
    return _padded(result), max(width, *map(len, result), 0)


def make_table(
    rows: Sequence[Sequence[str]], *, header_rows: int | None = None, caption: str = "", page: int | None = None
) -> Table | None:
    """Build a table from rows of equal width, without empty rows and columns; return None if nothing is left.

    `header_rows` is the number of header rows declared in the file; with None it is guessed.
    """
    header, rest = rows[: header_rows or 0], rows[header_rows or 0 :]
    filled = [row for row in rest if any(cell.strip() for cell in row)]
    used = [any(cell.strip() for cell in column) for column in zip(*header, *filled, strict=False)]
    if not any(used):
        return None
    declared, body = _only(header, used), _only(filled, used)
    top = declared or body
    if len(declared) + len(body) > 2 and not caption:
        row = top[0]  # it is a title if it is a single text across all columns
        texts = {cell.strip() for cell in row} - {""}
        if len(row) > 1 and len(texts) == 1 and (len(row) > 2 or row[0] == row[-1]):
            caption = texts.pop()
            del top[0]
    if header_rows is None and (number := count_header_rows(body)):
        declared, body = body[:number], body[number:]
    return Table(page=page, columns=_merge_header(declared), rows=tuple(map(tuple, body)), caption=caption)


def guess_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns: its cells are filled, distinct, short and not numbers."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    first = [cell.strip() for cell in rows[0]]
    filled = [cell for cell in first if cell]
    if len(filled) < max(2, len(first) * 0.7) or len(set(filled)) < len(filled):
        return False
    return not any(is_number(cell) for cell in filled) and all(len(cell) <= 60 for cell in filled)


def count_header_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows name the columns: 0, 1, or 2 if merged cells form a second level."""
    single = guess_header(rows)
    if len(rows) > 2 and len(rows[0]) > 1:
        first, second = ([cell.strip() for cell in row] for row in rows[:2])
        both = list(zip(first, second, strict=True))
        repeated = sum(1 for above, below in both if above and above == below)
        spanning = any(left and left == right for left, right in pairwise(first))
        distinct = len(set(both)) == len(both) and all(map(any, both))
        words = not any(is_number(cell) or len(cell) > 60 for cell in (*first, *second))
        if distinct and words and (repeated >= len(both) / 2 if single else spanning and (repeated or all(second))):
            return 2
    return 1 if single else 0


def is_number(text: str) -> bool:
    """Return whether a cell contains a number, a percentage, an amount, a date or a time."""
    return _NUMBER.match(text.strip()) is not None


def with_captions(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield the elements, with paragraphs such as "Table 3: …" right before tables as their captions."""
    caption = ""
    for element, following in pairwise(chain(elements, [None])):
        bare = isinstance(following, Table) and not following.caption
        if (
            bare
            and isinstance(element, Paragraph)
            and len(element.text) <= _LONGEST_CAPTION
            and _CAPTION.match(element.text)
        ):
            caption = element.text.strip()
        elif element is not None:
            yield replace(element, caption=caption) if caption and isinstance(element, Table) else element
            caption = ""


def _fill(line: list[str], waiting: dict[int, tuple[str, int]]) -> None:
    while len(line) in waiting and len(line) < MAX_COLUMNS:
        line.append(waiting[len(line)][0])


def _only(rows: Iterable[Sequence[str]], used: list[bool]) -> list[list[str]]:
    return [list(compress(row, used)) for row in rows]


def _padded(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    width = max(map(len, rows), default=0)
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _merge_header(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Merge several header rows into one, such as "Sales / 2023"."""
    columns = tuple(
        " / ".join(dict.fromkeys(filter(None, map(str.strip, cells)))) for cells in zip(*rows, strict=False)
    )
    return columns if any(columns) else ()


def in_batches(rows: Iterable[Sequence[str]]) -> Iterator[Table]:
    """Yield a long table in parts of limited length with the same header and width; empty rows are dropped."""
    filled = (row for row in rows if any(cell.strip() for cell in row))
    columns: list[str] | None = None
    while batch := list(islice(filled, _BATCH)):
        named, *padded = _padded([columns or [], *batch])
        if columns is None:
            named = columns = padded.pop(0) if guess_header(padded) else []
        yield Table(columns=tuple(named) if columns else (), rows=tuple(map(tuple, padded)))


class SheetTables:
    """Turns a sheet's rows into tables and paragraphs, row by row; an empty row ends a table."""

    def __init__(self, page: int) -> None:
        self.page = page
        self._rows: list[list[str]] = []
        self._columns: tuple[str, ...] | None = None
        self._caption = ""
        self._title: Paragraph | None = None  # a single cell, perhaps the title of the next table

    @property
    def is_open(self) -> bool:
        """Whether a table has begun."""
        return bool(self._rows) or self._columns is not None

    def add(self, row: list[str]) -> Iterator[Table | Paragraph]:
        """Add a row that is not empty; yield a part of the table once it is long enough."""
        self._rows.append(row)
        if len(self._rows) >= _BATCH:
            yield from self._part()

    def end(self) -> Iterator[Table | Paragraph]:
        """End the table, if one is open."""
        for item in self._part() if self._rows else ():
            if isinstance(item, Paragraph) and self._columns is None:
                yield from self._release()
                self._title = item
            else:
                yield item
        self._columns, self._caption = None, ""

    def finish(self) -> Iterator[Table | Paragraph]:
        """End the sheet."""
        yield from self.end()
        yield from self._release()

    def _release(self) -> Iterator[Paragraph]:
        if self._title is not None:
            yield self._title
        self._title = None

    def _part(self) -> Iterator[Table | Paragraph]:
        rows, self._rows = self._rows, []
        if self._columns is None:
            rows = yield from self._start(rows)
        if not rows:
            return
        padded = _padded([list(self._columns or ()), *rows])
        named, *shown = map(tuple, _only(padded, [any(column) for column in zip(*padded, strict=True)]))
        yield Table(page=self.page, columns=named if any(named) else (), rows=tuple(shown), caption=self._caption)

    def _start(self, rows: list[list[str]]) -> Generator[Table | Paragraph, None, list[list[str]]]:
        """Remove titles and header from a block's first rows and return the rest; single cells become paragraphs."""
        titles: list[str] = []
        while rows and len(texts := {cell for cell in rows[0] if cell}) == 1:  # perhaps merged over several columns
            titles.append(texts.pop())
            rows = rows[1:]
        if not rows:
            yield from self._release()
            yield from (Paragraph(page=self.page, text=text) for text in titles)
            return []
        if self._title is not None and not titles and len(self._title.text) <= _LONGEST_CAPTION:
            self._caption, self._title = self._title.text, None
        yield from self._release()
        if titles and len(titles[-1]) <= _LONGEST_CAPTION:
            self._caption = titles.pop()
        yield from (Paragraph(page=self.page, text=text) for text in titles)
        first = [place for place, cell in enumerate(rows[0]) if cell]
        trimmed = [[row[place] if place < len(row) else "" for place in first] for row in rows]
        covers = len(first) >= max(len([cell for cell in row if cell]) for row in rows) * 0.6
        header = count_header_rows(trimmed) if covers else 0
        self._columns = _merge_header(_padded(rows[:header]))
        return rows[header:]
