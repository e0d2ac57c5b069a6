"""Turns the rows of a sheet into tables and paragraphs: titles, headers, tables below and beside each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, dropwhile, takewhile, zip_longest

from knowledge.parsing.elements import Paragraph, Table
from knowledge.parsing.tables.groups import Groups
from knowledge.parsing.tables.headers import count_header_rows, is_number, spread
from knowledge.parsing.tables.layout import LONGEST_CAPTION, merge_header

BATCH = 500  # rows of a part of a table
_SAMPLE = 50  # rows by which a header is found
_MOST_ABOVE = 12  # rows above a header that may be other lines
_BEYOND = 0.2  # the most cells of a table's further rows that are right of its header
_OF_LINE = 0.7  # the most of a table's columns that a line above its header fills


@dataclass(frozen=True, slots=True)
class Row:
    """A row's cells; `across` also has the text of cells that span columns in all of these, as a header needs it."""

    cells: list[str]
    across: list[str]

    def between(self, start: int, end: int) -> "Row":
        """Return the cells of some columns."""
        return Row(self.cells[start:end], self.across[start:end])

    @property
    def filled(self) -> list[str]:
        """The texts of its cells."""
        return [cell for cell in self.cells if cell]


@dataclass(slots=True)
class _Table:
    """The open table, with the rows that are not yet yielded."""

    columns: tuple[str, ...]
    caption: str
    rows: list[list[str]]
    end: int  # the first column after it
    groups: Groups = field(default_factory=Groups)
    kinds: list[bool | None] = field(default_factory=list)  # of its columns, see `_kinds`

    def part(self, page: int | None) -> Iterator[Table]:
        """Yield the next rows, without empty rows and columns, if anything is left."""
        body, self.rows = [row for row in self.rows[:BATCH] if any(row)], self.rows[BATCH:]
        if not body:
            return
        width = max(len(self.columns), *map(len, body))
        body = [[*line, *[""] * (width - len(line))] for line in self.groups.fill(self.columns, body)]
        names = [*self.columns, *[""] * (width - len(self.columns))]
        # A column may only be the rest of merged cells.
        used = [
            any(column) or bool(name and name != before)
            for name, before, column in zip(names, ["", *names], zip(*body, strict=True), strict=False)
        ]
        columns, *shown = (tuple(compress(line, used)) for line in (names, *body))
        yield Table(page=page, columns=columns if any(columns) else (), rows=tuple(shown), caption=self.caption)


class SheetTables:
    """Reads a sheet row by row, since it may be long; an empty row ends a table unless the next rows continue it."""

    def __init__(self, page: int | None = None, caption: str | None = None) -> None:
        """Take the number of the sheet, counted from 1, if there are several.

        `caption` is given for columns of a sheet that stand beside others: the title above all of them, or "".
        """
        self.page = page
        self._caption = caption
        self._rows: list[Row] = []  # that are not yet part of a table
        self._gap = 0  # rows before an empty one, of which the last may name the columns below
        self._table: _Table | None = None
        self._above: _Table | None = None  # the one that ended last
        self._beside: list[tuple[int, int, SheetTables]] = []  # open tables beside each other, with their columns
        self._is_interrupted = False  # by an empty row
        self._title: Paragraph | None = None  # a single cell, perhaps the title of the next table

    def add(self, cells: list[str], across: list[str] | None = None) -> Iterator[Table | Paragraph]:
        """Add a row that is not empty; yield a part of the table once it is long enough."""
        self._rows.append(Row(cells, cells if across is None else across))
        if len(self._rows) >= BATCH:
            yield from self._take()

    def end(self) -> Iterator[Table | Paragraph]:
        """Read an empty row."""
        wide = [len(row.filled) > 1 for row in self._rows]
        if not self._gap and wide.count(True) == 1 and wide[-1]:
            self._gap = len(self._rows)
            return
        yield from self._take()
        self._is_interrupted = True

    def finish(self) -> Iterator[Table | Paragraph]:
        """End the sheet."""
        yield from self._take()
        yield from self._close()
        yield from self._release()

    def _take(self) -> Iterator[Table | Paragraph]:
        """Read the rows so far."""
        width = max((len(cells) for row in self._rows for cells in (row.cells, row.across)), default=0)
        rows = [
            Row(*([*cells, *[""] * (width - len(cells))] for cells in (row.cells, row.across))) for row in self._rows
        ]
        self._rows = []
        gap, self._gap = self._gap, 0
        below = rows[gap:]
        if gap and (not below or _header_of(below) or not _header_of([rows[gap - 1], *below])):
            yield from self._read(rows[:gap])
            self._is_interrupted = True
            rows = below
        yield from self._read(rows)

    def _read(self, rows: list[Row]) -> Iterator[Table | Paragraph]:
        """Make rows part of the open tables, or else begin new ones."""
        if not rows:
            return
        if self._table is not None and (not self._is_interrupted or self._continue(self._table, rows)):
            self._table.rows += [row.cells for row in rows]
        elif self._beside and not self._is_interrupted:
            yield from self._divide(rows)
        else:
            yield from self._close()
            spans = _beside(rows)
            texts, caption, rows = _without_titles(rows) if len(spans) == 1 else ([], "", rows)
            if self._caption is not None:
                texts, caption = [], " / ".join(filter(None, [self._caption, *texts, caption]))
            if not rows:
                yield from self._release()
                *others, last = texts or [caption]
                yield from (Paragraph(page=self.page, text=text) for text in others)
                self._title = Paragraph(page=self.page, text=last)
                return
            if self._title is not None and not texts and not caption and len(self._title.text) <= LONGEST_CAPTION:
                caption, self._title = self._title.text, None
            yield from self._release()
            yield from (Paragraph(page=self.page, text=text) for text in texts)
            if len(spans) > 1:
                self._beside = [(start, end, SheetTables(self.page, caption)) for start, end in spans]
                yield from self._divide(rows)
            else:
                self._begin(rows, caption)
        self._is_interrupted = False
        while self._table is not None and len(self._table.rows) >= BATCH:
            yield from self._table.part(self.page)

    def _divide(self, rows: Sequence[Row]) -> Iterator[Table | Paragraph]:
        """Read the rows of tables beside each other."""
        for start, end, tables in self._beside:
            for row in rows:
                part = row.between(start, end)
                yield from tables.add(part.cells, part.across) if part.filled else tables.end()

    def _begin(self, rows: Sequence[Row], caption: str) -> None:
        """Open the table that begins with these rows."""
        header = _header_of(rows)
        columns = merge_header(spread([row.across for row in rows[:header]]))
        body = [row.cells for row in rows[header:]]
        table = _Table(columns, caption, body, len(rows[0].cells), kinds=_kinds(body))
        above = self._above
        if not header and caption and above is not None and above.columns and {True, False} <= set(table.kinds):
            # The sections of a sheet may have titles of their own below one header.
            both = zip_longest(table.kinds, above.kinds)
            if all(kind is None or kind == other for kind, other in both):
                table.columns = above.columns
        self._table = table

    def _continue(self, table: _Table, rows: list[Row]) -> bool:
        """Return whether rows after an empty one belong to the table above it; removes its header if it is repeated."""
        texts, caption, _rest = _without_titles(rows)
        if texts or caption or len(_beside(rows)) > 1:
            return False
        filled = [place for row in rows for place, cell in enumerate(row.cells) if cell]
        if sum(place >= table.end for place in filled) > _BEYOND * len(filled):
            return False
        header = _header_of(rows)
        if header and merge_header(spread([row.across for row in rows[:header]])) == table.columns:
            del rows[:header]
            return True
        # Words above numbers name other columns; words above words may be a row like those before.
        values = (cell for row in rows[header : header + _SAMPLE] for cell in row.filled)
        return bool(table.columns) and not (header and any(map(is_number, values)))

    def _close(self) -> Iterator[Table | Paragraph]:
        """End the open tables."""
        for _start, _end, tables in self._beside:
            yield from tables.finish()
        while self._table is not None and self._table.rows:
            yield from self._table.part(self.page)
        self._above = self._table or self._above
        self._table, self._beside = None, []

    def _release(self) -> Iterator[Paragraph]:
        if self._title is not None:
            yield self._title
        self._title = None


def _kinds(rows: Sequence[Sequence[str]]) -> list[bool | None]:
    """Return for each column whether most of its cells are numbers; None if it is empty."""
    columns = [[cell for cell in column if cell] for column in zip_longest(*rows[:_SAMPLE], fillvalue="")]
    return [2 * sum(map(is_number, column)) > len(column) if column else None for column in columns]


def _without_titles(rows: Sequence[Row]) -> tuple[list[str], str, list[Row]]:
    """Return the lines above a table, its caption, which is the last short line, and its rows from the header on."""
    texts: list[str] = []
    left = list(rows)
    while left and len(set(left[0].filled)) == 1:  # perhaps merged over several columns
        spanned = [cell for cell in left[0].across if cell]
        if len(spanned) > 1 and not left[0].across[0] and _header_of(left) > 1:
            break  # the name of some of the columns
        texts.append(left.pop(0).filled[0])
    width = max((len(row.filled) for row in left[:_SAMPLE]), default=0)
    for above in range(1, min(_MOST_ABOVE, len(left) - 1) if width > 2 else 0):
        if len(left[above - 1].filled) > width * _OF_LINE or _header_of(left[above - 1 :]):
            break
        if _header_of(left[above:]):
            texts += [(": " if len(row.filled) == 2 else " · ").join(row.filled) for row in left[:above]]
            left = left[above:]
            break
    caption = texts.pop() if left and texts and len(texts[-1]) <= LONGEST_CAPTION else ""
    return texts, caption, left


def _header_of(rows: Sequence[Row]) -> int:
    """Return how many of the first rows name the columns."""
    if not rows:
        return 0
    sample = rows[:_SAMPLE]
    used = [any(row.cells[place] for row in sample) for place in range(len(rows[0].cells))]  # not the rest of merges
    return count_header_rows([list(compress(row.across, used)) for row in sample])


def _beside(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Return the columns of the tables that stand beside each other, with empty columns between, and headers of all."""
    width = len(rows[0].cells)
    merged = [row.across if len(set(row.across) - {""}) > 1 else row.cells for row in rows]  # without titles of all
    used = [any(cells[place] for cells in merged) for place in range(width)]
    spans: list[tuple[int, int]] = []
    for place, is_used in enumerate(used):
        if is_used and place and used[place - 1] and spans:
            spans[-1] = (spans[-1][0], place + 1)
        elif is_used:
            spans.append((place, place + 1))
    if len(spans) < 2 or any(end - start < 2 for start, end in spans):
        return [(0, width)]
    parts = [[row.between(start, end) for row in rows] for start, end in spans]
    first = [list(takewhile(lambda row: row.filled, dropwhile(lambda row: not row.filled, part))) for part in parts]
    found = [_without_titles(part) for part in first]
    # An empty column may also be a space within a table: then all have the same rows, without titles of their own.
    apart = len({len(part) for part in first}) > 1 or any(texts or caption for texts, caption, _ in found)
    if (apart or len({tuple(part[0].cells) for part in first}) < len(first)) and all(
        _header_of(own) for *_, own in found
    ):
        return spans
    return [(0, width)]
