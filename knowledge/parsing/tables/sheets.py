"""Turns the rows of a sheet into tables and paragraphs: titles, headers, tables below and beside each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress

from knowledge.parsing.elements import Paragraph, Table
from knowledge.parsing.tables.groups import Groups
from knowledge.parsing.tables.headers import count_header_rows, is_number, spread
from knowledge.parsing.tables.layout import LONGEST_CAPTION, merge_header

BATCH = 500  # rows of a part of a table
_SAMPLE = 50  # rows by which a header is found
_MOST_ABOVE = 12  # rows above a header that may be other lines
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
    """A table in the sheet's columns from `start` to before `end`, with the rows that are not yet yielded."""

    start: int
    end: int
    columns: tuple[str, ...]
    caption: str
    rows: list[list[str]]
    groups: Groups = field(default_factory=Groups)

    def part(self, page: int | None) -> Iterator[Table]:
        """Yield the next rows, without empty rows and columns, if anything is left."""
        body, self.rows = [row for row in self.rows[:BATCH] if any(row)], self.rows[BATCH:]
        if not body:
            return
        width = max(len(self.columns), *map(len, body))
        lines = [[*line, *[""] * (width - len(line))] for line in (self.columns, *self.groups.fill(self.columns, body))]
        used = [any(column) for column in zip(*lines, strict=True)]
        columns, *shown = (tuple(compress(line, used)) for line in lines)
        yield Table(page=page, columns=columns if any(columns) else (), rows=tuple(shown), caption=self.caption)


class SheetTables:
    """Reads a sheet row by row, since it may be long; an empty row ends a table unless the next rows continue it."""

    def __init__(self, page: int | None = None) -> None:
        """Take the number of the sheet, counted from 1, if there are several."""
        self.page = page
        self._rows: list[Row] = []  # that are not yet part of a table
        self._tables: list[_Table] = []  # the open ones, which stand beside each other
        self._is_interrupted = False  # by an empty row
        self._title: Paragraph | None = None  # a single cell, perhaps the title of the next table

    def add(self, cells: list[str], across: list[str] | None = None) -> Iterator[Table | Paragraph]:
        """Add a row that is not empty; yield a part of the table once it is long enough."""
        self._rows.append(Row(cells, cells if across is None else across))
        if len(self._rows) >= BATCH:
            yield from self._take()

    def end(self) -> Iterator[Table | Paragraph]:
        """Read an empty row."""
        yield from self._take()
        self._is_interrupted = True

    def finish(self) -> Iterator[Table | Paragraph]:
        """End the sheet."""
        yield from self._take()
        yield from self._close()
        yield from self._release()

    def _take(self) -> Iterator[Table | Paragraph]:
        """Make the rows read so far part of the open tables, or else begin new ones."""
        rows, self._rows = _padded(self._rows), []
        if not rows:
            return
        if self._tables and (not self._is_interrupted or self._continue(rows)):
            for table in self._tables:
                table.rows += [row.cells[table.start : table.end] for row in rows]
        else:
            yield from self._close()
            spans = _beside(rows)
            texts, caption, rows = _without_titles(rows) if len(spans) == 1 else ([], "", rows)
            if not rows:
                yield from self._release()
                *others, last = texts
                yield from (Paragraph(page=self.page, text=text) for text in others)
                self._title = Paragraph(page=self.page, text=last)
                return
            if self._title is not None and not texts and not caption and len(self._title.text) <= LONGEST_CAPTION:
                caption, self._title = self._title.text, None
            yield from self._release()
            yield from (Paragraph(page=self.page, text=text) for text in texts)
            self._begin(rows, spans, caption)
        self._is_interrupted = False
        for table in self._tables:
            while len(table.rows) >= BATCH:
                yield from table.part(self.page)

    def _begin(self, rows: Sequence[Row], spans: Sequence[tuple[int, int]], caption: str) -> None:
        """Open the tables that begin with these rows in these columns."""
        for start, end in spans:
            own = [part for row in rows if (part := row.between(start, end)).filled]
            texts, name, own = _without_titles(own) if len(spans) > 1 else ([], "", own)
            header = _header_of(own)
            columns = merge_header(spread([row.across for row in own[:header]]))
            caption_of_own = " / ".join(filter(None, [caption, *texts, name]))
            self._tables.append(_Table(start, end, columns, caption_of_own, [row.cells for row in own[header:]]))

    def _continue(self, rows: list[Row]) -> bool:
        """Return whether rows after an empty one belong to the table above it; removes its header if it is repeated."""
        texts, caption, _rest = _without_titles(rows)
        if texts or caption or len(self._tables) > 1 or len(_beside(rows)) > 1:
            return False
        (table,) = self._tables
        if any(any(row.cells[table.end :]) for row in rows):
            return False
        header = _header_of(rows)
        if header and merge_header(spread([row.across for row in rows[:header]])) == table.columns:
            del rows[:header]
            return True
        # Words above numbers name other columns; words above words may be a row like those before.
        values = (cell for row in rows[header : header + _SAMPLE] for cell in row.filled)
        return bool(table.columns) and not (header and any(map(is_number, values)))

    def _close(self) -> Iterator[Table]:
        """End the open tables."""
        for table in self._tables:
            while table.rows:
                yield from table.part(self.page)
        self._tables = []

    def _release(self) -> Iterator[Paragraph]:
        if self._title is not None:
            yield self._title
        self._title = None


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
    used = [any(row.cells[place] or row.across[place] for row in sample) for place in range(len(rows[0].cells))]
    return count_header_rows([list(compress(row.across, used)) for row in sample])


def _beside(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Return the columns of the tables that stand beside each other, with empty columns between, and headers of all."""
    width = len(rows[0].cells)
    used = [any(row.cells[place] for row in rows) for place in range(width)]
    spans: list[tuple[int, int]] = []
    for place, is_used in enumerate(used):
        if is_used and place and used[place - 1] and spans:
            spans[-1] = (spans[-1][0], place + 1)
        elif is_used:
            spans.append((place, place + 1))
    if len(spans) < 2 or any(end - start < 2 for start, end in spans):
        return [(0, width)]
    parts = [[part for row in rows if (part := row.between(start, end)).filled] for start, end in spans]
    found = [_without_titles(part) for part in parts]
    # An empty column may also be a space within a table: then all have the same rows, without titles of their own.
    apart = len({len(part) for part in parts}) > 1 or any(texts or caption for texts, caption, _ in found)
    if (apart or len({tuple(part[0].cells) for part in parts}) < len(parts)) and all(
        _header_of(own) for *_, own in found
    ):
        return spans
    return [(0, width)]


def _padded(rows: Sequence[Row]) -> list[Row]:
    width = max((len(cells) for row in rows for cells in (row.cells, row.across)), default=0)
    return [Row(*([*cells, *[""] * (width - len(cells))] for cells in (row.cells, row.across))) for row in rows]
