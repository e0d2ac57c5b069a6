"""Table helpers of the parsers: layout of spanning cells, detection of header rows and captions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, pairwise

from knowledge.parsing.elements import Element, Notice, Paragraph, Table
from knowledge.parsing.limits import MAX_COLUMNS, columns_left_out
from knowledge.parsing.tables.groups import Groups
from knowledge.parsing.tables.headers import count_header_rows, spread

_CAPTION = re.compile(r"(?:Table|Tab\.|表格?)\s*(?:\d|[A-Z]\b|[一二三四五六七八九十])")
LONGEST_CAPTION = 300  # characters
_MOST_SPAN_COLUMNS = 500
_MOST_SPAN_ROWS = 5000
# The cells of a table that spanning ones fill with their texts; from then on, they span no more rows or columns.
_MOST_FILLED = 1_000_000


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
    lines, across, width = grid(rows)
    table = make_table(lines, across=across, header_rows=header_rows, caption=caption, page=page)
    if table is not None:
        yield table
    yield from columns_left_out(width)


def grid(rows: Iterable[Sequence[Cell]]) -> tuple[list[list[str]], list[list[str]], int]:
    """Lay out spanning cells as rows of equal width; return these, the same for headers, and the whole width.

    A cell's text is repeated in every row it covers, so that each row can be read alone, and, for header cells and in
    the rows for headers, in every column it covers. The width includes the cells left out.
    """
    result: list[list[tuple[str, str]]] = []
    width = filled = 0
    waiting: dict[int, tuple[tuple[str, str], int]] = {}  # by column, the texts from above and their remaining rows
    for cells in rows:
        line: list[tuple[str, str]] = []
        if filled > _MOST_FILLED:
            waiting = {}
            cells = [Cell(cell.text, header=cell.header) for cell in cells]
        for number, cell in enumerate(cells):
            _fill(line, waiting)
            if len(line) >= MAX_COLUMNS:
                left = [place for place, other in enumerate(cells[number:], 1) if other.text.strip()]
                width = max(width, len(line) + max(left, default=0))
                break
            for place in range(max(1, min(cell.columns, _MOST_SPAN_COLUMNS - len(line)))):
                texts = (cell.text if place == 0 or cell.header or not result else "", cell.text)
                if cell.rows > 1:
                    waiting[len(line)] = (texts, min(cell.rows, _MOST_SPAN_ROWS))
                line.append(texts)
        _fill(line, waiting)
        waiting = {column: (texts, left - 1) for column, (texts, left) in waiting.items() if left > 1}
        result.append(line)
        filled += len(line) - len(cells)
    longest = max(map(len, result), default=0)
    for line in result:
        line += [("", "")] * (longest - len(line))
    lines, across = ([[texts[number] for texts in line] for line in result] for number in (0, 1))
    return lines, across, max(width, longest)


def make_table(
    rows: Sequence[Sequence[str]],
    *,
    across: Sequence[Sequence[str]] | None = None,
    header_rows: int | None = None,
    caption: str = "",
    page: int | None = None,
) -> Table | None:
    """Build a table from rows of equal width, without empty rows and columns; return None if nothing is left.

    `across` are the same rows with cells that span columns repeated, as headers need them. `header_rows` is the number
    of header rows declared in the file; with None it is guessed.
    """
    declared = header_rows or 0
    both = [
        (row, wide)
        for place, (row, wide) in enumerate(zip(rows, across or rows, strict=True))
        if place < declared or any(cell.strip() for cell in row)
    ]
    used = [any(cell.strip() for cell in column) for column in zip(*(row for row, _ in both), strict=False)]
    if not any(used):
        return None
    body, wide = ([list(compress(row, used)) for row in lines] for lines in zip(*both, strict=True))
    if len(body) > 2 and not caption:
        row = wide[0]  # it is a title if it is a single text across all columns
        texts = {cell.strip() for cell in row} - {""}
        if len(row) > 1 and len(texts) == 1 and (len(row) > 2 or row[0] == row[-1]):
            caption = texts.pop()
            body, wide, declared = body[1:], wide[1:], max(0, declared - 1)
    number = declared
    if header_rows is None or (declared and len(set(zip(*wide[:declared], strict=True))) < len(wide[0])):
        number = max(declared, count_header_rows(wide))  # more may name the columns than the file declares
    columns = merge_header(spread(wide[:number]))
    body = Groups().fill(columns, body[number:])
    return Table(page=page, columns=columns, rows=tuple(map(tuple, body)), caption=caption)


def with_captions(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield the elements, with paragraphs such as "Table 3: …" right before tables as their captions."""
    caption = ""
    for element, following in pairwise(chain(elements, [None])):
        bare = isinstance(following, Table) and not following.caption
        if (
            bare
            and isinstance(element, Paragraph)
            and len(element.text) <= LONGEST_CAPTION
            and _CAPTION.match(element.text)
        ):
            caption = element.text.strip()
        elif element is not None:
            yield replace(element, caption=caption) if caption and isinstance(element, Table) else element
            caption = ""


def _fill(line: list[tuple[str, str]], waiting: dict[int, tuple[tuple[str, str], int]]) -> None:
    while len(line) in waiting and len(line) < MAX_COLUMNS:
        line.append(waiting[len(line)][0])


def merge_header(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Merge several header rows into one, such as "Sales / 2023"."""
    columns = tuple(
        " / ".join(dict.fromkeys(filter(None, map(str.strip, cells)))) for cells in zip(*rows, strict=False)
    )
    return columns if any(columns) else ()
