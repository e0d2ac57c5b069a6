"""Finds tables on a PDF page from its ruling lines and the words between them. Pure.

A full grid defines the cells, including merged ones. If there are only horizontal rules, as in most papers, the columns
are determined by the gaps between words.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median_high, median_low
from typing import TypeVar

from knowledge.parsing.pdf.layout import Row, is_chinese_column, join_lines, rows_of
from knowledge.parsing.pdf.shapes import Edge
from knowledge.parsing.pdf.text import Box, Line, Word, line_of
from knowledge.parsing.tables.groups import Groups
from knowledge.parsing.tables.headers import count_header_rows

SNAP = 3.0  # points within which lines count as one
MAX_EDGES = 4000
MAX_COLUMNS, MAX_ROWS = 60, 400
MAX_TRIES = 400  # lower right corners tried for a cell
LOOSE_COLUMNS, LOOSE_ROWS = 3, 4  # minimum size of a table without rules
LOOSE_GAP = 0.1  # em between its columns
ROW_GAP, TURN_GAP = 2.5, 1.5  # em between its rows, and between the lines of a row
WORD_GAP = 0.8  # em between words in different columns
LOOSE_CELL = 24  # maximum average length of its cells, in characters
LOOSE_FILLED, NAMED_FILLED = 0.7, 0.4  # least share of filled cells; the second if every column has a name
LONERS = 0.2  # most rows, as a share, with a piece that is aligned with none of the others
TIGHT = 0.25  # em by which the lines of a header are closer than the rows below
ALIGNED = 2  # points
COLUMN_GAP = 0.6  # em between the columns of a table with rules above and below
MIN_FILLED = 0.3  # share of filled cells; a grid with fewer is a drawing or a form's frame

_Piece = TypeVar("_Piece", Word, Line)
_NUMERIC = re.compile(r"^[\s\d.,:%$€£¥()+\-–—/]*\d[\s\d.,:%$€£¥()+\-–—/]*$")


@dataclass(frozen=True, slots=True)
class Found:
    """A table: its box in points, header cells (may be empty), rows of equal length, and its title if it has one."""

    box: Box
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    bounds: tuple[float, ...] = ()  # the x of the borders between columns, if no lines are drawn


def find_tables(edges: Sequence[Edge], lines: Sequence[Line]) -> list[Found]:
    """Return the tables of a page, from the top."""
    if not 3 <= len(edges) <= MAX_EDGES:
        return []
    words = [word for line in lines for word in line.words]
    edges = _without_underlines(edges, lines)
    found = [
        table for group in _groups(_merged(edges)) for table in _from_grid(group, words) or _from_rules(group, words)
    ]
    kept: list[Found] = []  # those that are not within a larger one
    for table in sorted(found, key=lambda item: -(item.box[2] - item.box[0]) * (item.box[3] - item.box[1])):
        x, y = (table.box[0] + table.box[2]) / 2, (table.box[1] + table.box[3]) / 2
        if not any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in (other.box for other in kept)):
            kept.append(table)
    return sorted(kept, key=lambda table: (table.box[1], table.box[0]))


def inside(line: Line, box: Box) -> bool:
    """Return whether the line's middle is in the box."""
    return box[0] - 1 <= (line.x0 + line.x1) / 2 <= box[2] + 1 and box[1] - 1 <= line.middle <= box[3] + 1


def _without_underlines(edges: Sequence[Edge], lines: Sequence[Line]) -> list[Edge]:
    """Leave out underlines and strikethroughs, which start and end with words of a line."""

    def is_under(edge: Edge, line: Line) -> bool:
        high = line.y1 - line.y0
        return (
            line.y0 + 0.3 * high < edge.at < line.y1 + 0.1 * high
            and any(abs(word.x0 - edge.start) < 1.5 for word in line.words)
            and any(-1.5 < edge.end - word.x1 < 0.4 * word.size for word in line.words)  # it may end with a space
        )

    return [edge for edge in edges if not (edge.horizontal and any(is_under(edge, line) for line in lines))]


def _merged(edges: Sequence[Edge]) -> list[Edge]:
    """Snap nearby parallel edges to one position, and join those that touch."""
    merged: list[Edge] = []
    for horizontal in (True, False):
        bands: list[list[Edge]] = []
        for edge in sorted((edge for edge in edges if edge.horizontal is horizontal), key=lambda edge: edge.at):
            if not bands or edge.at - bands[-1][0].at > SNAP:
                bands.append([])
            bands[-1].append(edge)
        for band in bands:
            at = sum(edge.at for edge in band) / len(band)
            spans: list[tuple[float, float]] = []
            for edge in sorted(band, key=lambda item: item.start):
                if spans and edge.start <= spans[-1][1] + SNAP:
                    spans[-1] = spans[-1][0], max(spans[-1][1], edge.end)
                else:
                    spans.append((edge.start, edge.end))
            merged += [Edge(horizontal, at, start, end) for start, end in spans]
    return merged


def _groups(edges: Sequence[Edge]) -> list[list[Edge]]:
    """Group edges that touch; isolated horizontal rules with the same ends also form a group."""
    parents = list(range(len(edges)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    level = [i for i, edge in enumerate(edges) if edge.horizontal]
    upright = [i for i, edge in enumerate(edges) if not edge.horizontal]
    touched: set[int] = set()
    for i in level:
        for j in upright:
            flat, tall = edges[i], edges[j]
            if flat.start - SNAP <= tall.at <= flat.end + SNAP and tall.start - SNAP <= flat.at <= tall.end + SNAP:
                parents[root(i)] = root(j)
                touched |= {i, j}
    loose = [i for i in level if i not in touched]
    for position, i in enumerate(loose):
        for j in loose[:position]:
            if abs(edges[i].start - edges[j].start) < 4 and abs(edges[i].end - edges[j].end) < 4:
                parents[root(i)] = root(j)
    groups: dict[int, list[Edge]] = {}
    for index, edge in enumerate(edges):
        groups.setdefault(root(index), []).append(edge)
    return list(groups.values())


def _from_grid(edges: Sequence[Edge], words: Sequence[Word]) -> list[Found]:
    """Read tables with cells enclosed by lines; a table's sides may be open."""
    level = [edge for edge in edges if edge.horizontal]
    upright = [edge for edge in edges if not edge.horizontal]
    if len(level) < 2 or not upright or len(level) + len(upright) < 5:
        return []
    upright, level = upright + _sides(level, upright), level + _sides(upright, level)
    if len({e.at for e in upright}) > MAX_COLUMNS + 1 or len({e.at for e in level}) > MAX_ROWS + 1:
        return []
    return list(filter(None, (_of_cells(cells, words) for cells in _touching(_closed(level, upright)))))


def _sides(edges: Sequence[Edge], across: Sequence[Edge]) -> list[Edge]:
    """Return lines that close open sides, at the most common and the outermost ends of `edges`."""
    starts, ends = [edge.start for edge in edges], [edge.end for edge in edges]
    low, high = min(edge.start for edge in across), max(edge.end for edge in across)
    places = sorted({min(starts), median_low(starts), median_high(ends), max(ends)})
    drawn = [edge.at for edge in across]
    return [
        Edge(not edges[0].horizontal, at, low, high) for at in places if all(abs(other - at) > SNAP for other in drawn)
    ]


def _closed(level: Sequence[Edge], upright: Sequence[Edge]) -> list[Box]:
    """Return the smallest boxes enclosed by lines, one for each upper left corner."""
    across: defaultdict[float, list[Edge]] = defaultdict(list)  # lines by y
    down: defaultdict[float, list[Edge]] = defaultdict(list)
    for edge in level:
        across[edge.at].append(edge)
    for edge in upright:
        down[edge.at].append(edge)

    def joined(edges: Sequence[Edge], start: float, end: float) -> bool:
        return any(edge.start - SNAP <= start and end <= edge.end + SNAP for edge in edges)

    boxes: list[Box] = []
    xs, ys = sorted(down), sorted(across)
    corners = {(x, y) for x in xs for y in ys if joined(down[x], y, y) and joined(across[y], x, x)}
    for top, y in enumerate(ys):
        for left, x in enumerate(xs):
            if (x, y) not in corners:
                continue
            right = [x1 for x1 in xs[left + 1 :] if (x1, y) in corners and joined(across[y], x, x1)]
            below = (y1 for y1 in ys[top + 1 :] if (x, y1) in corners and joined(down[x], y, y1))
            tries = islice(((x1, y1) for y1 in below for x1 in right if (x1, y1) in corners), MAX_TRIES)
            ends = ((x1, y1) for x1, y1 in tries if joined(down[x1], y, y1) and joined(across[y1], x, x1))
            boxes += [(x, y, *end) for end in islice(ends, 1)]
    return boxes


def _touching(boxes: Sequence[Box]) -> list[list[Box]]:
    """Group boxes that share corners."""
    groups: list[list[Box]] = []
    at: dict[tuple[float, float], list[Box]] = {}  # groups by corner
    for box in boxes:
        group = [box]
        for corner in ((x, y) for x in box[::2] for y in box[1::2]):
            other = at.setdefault(corner, group)
            if other is not group:
                small, group = sorted((group, other), key=len)
                group += small
                at.update(((x, y), group) for b in small for x in b[::2] for y in b[1::2])
                small.clear()
        groups.append(group)
    return list({id(group): group for group in groups if group}.values())


def _of_cells(cells: Sequence[Box], words: Sequence[Word]) -> Found | None:
    xs = sorted({x for cell in cells for x in cell[::2]})
    ys = sorted({y for cell in cells for y in cell[1::2]})
    if len(cells) < 4 or len(xs) < 3 or len(ys) < 3:
        return None
    # The cell that covers each position of the grid.
    owners = [[(row, column) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
    for x0, y0, x1, y1 in cells:
        top, left = ys.index(y0), xs.index(x0)
        for row in range(top, ys.index(y1)):
            owners[row][left : xs.index(x1)] = [(top, left)] * (xs.index(x1) - left)
    contents: dict[Cell, list[Word]] = {}
    for word in words:
        middle_x, middle_y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        if xs[0] < middle_x < xs[-1] and ys[0] < middle_y < ys[-1]:
            row, column = bisect_right(ys, middle_y) - 1, bisect_right(xs, middle_x) - 1
            contents.setdefault(owners[row][column], []).append(word)
    texts = {cell: cell_text(inside) for cell, inside in contents.items()}
    bold = {cell for cell, inside in contents.items() if all(word.bold for word in inside)}
    return _table((xs[0], ys[0], xs[-1], ys[-1]), owners, texts, bold)


Cell = tuple[int, int]  # row and column of a cell's upper left corner


def cell_text(words: Iterable[Word]) -> str:
    """Return the text of a cell's words, with its lines joined."""
    lines: list[Line] = []
    for word in words:
        if not lines or word.y0 > lines[-1].y1 - 0.4 * word.size or word.x0 < lines[-1].x1 - word.size:
            lines.append(Line())
        lines[-1].add(word)
    return join_lines(join_lines(line.text for line in row.lines) for row in rows_of(lines))


def _table(box: Box, grid: list[list[Cell]], texts: dict[Cell, str], bold: set[Cell]) -> Found | None:
    """Convert a grid to rows; empty rows and columns are dropped, and vertically merged cells are repeated."""
    cells = [[texts.get(owner, "") if owner[1] == c else "" for c, owner in enumerate(row)] for row in grid]
    kept_rows = [r for r, row in enumerate(cells) if any(row[c] and grid[r][c][0] == r for c in range(len(row)))]
    kept_columns = [c for c in range(len(grid[0])) if any(cells[r][c] for r in kept_rows)]
    owners = {grid[r][c] for r in kept_rows for c in kept_columns}
    filled = sum(bool(texts.get(owner)) for owner in owners)
    if len(kept_rows) < 2 or len(kept_columns) < 2 or filled < max(3, MIN_FILLED * len(owners)):
        return None
    title = ""
    if len(kept_rows) > 2 and len({grid[kept_rows[0]][c] for c in kept_columns}) == 1:
        title = texts.get(grid[kept_rows[0]][kept_columns[0]], "")
        kept_rows = kept_rows[1:]
    rows = [tuple(cells[r][c] for c in kept_columns) for r in kept_rows]
    first = [grid[kept_rows[0]][c] for c in kept_columns]
    wide = [[texts.get(grid[r][c], "") for c in kept_columns] for r in kept_rows]
    header = count_header_rows(wide)
    if not header and is_header(wide[0], all(cell in bold for cell in first if texts.get(cell))):
        header = 1
    columns = tuple(" / ".join(dict.fromkeys(filter(None, names))) for names in zip(*wide[:header], strict=True))
    body = Groups().fill(columns, [list(row) for row in rows[header:]])
    return Found(box, columns, tuple(map(tuple, body)), title)


def is_header(cells: Sequence[str], bold: bool = False) -> bool:
    """Return whether the cells of a first row look like names of columns."""
    filled = [cell for cell in cells if cell]
    if not filled or any(len(cell) > 120 for cell in filled):
        return False
    if bold and len(filled) * 2 >= len(cells):
        return True
    return len(filled) * 5 >= len(cells) * 3 and not any(_NUMERIC.match(cell) for cell in filled)


def _from_rules(edges: Sequence[Edge], words: Sequence[Word]) -> list[Found]:
    """Read a table between three or more horizontal rules, with columns determined by the gaps between words."""
    if len(edges) < 3 or not all(edge.horizontal for edge in edges):
        return []
    ys = sorted(edge.at for edge in edges)
    x0, x1 = min(edge.start for edge in edges) - 4, max(edge.end for edge in edges) + 4
    within = [
        word for word in words if x0 <= (word.x0 + word.x1) / 2 <= x1 and ys[0] <= (word.y0 + word.y1) / 2 <= ys[-1]
    ]
    rows = [[word for line in row.lines for word in line.words] for row in rows_of(map(line_of, within))]
    below = [row for row in rows if row[0].y0 > ys[1] - 2]
    bounds = _column_bounds(below, x0, x1)
    if len(below) < 2 or not 2 <= len(bounds) - 1 <= MAX_COLUMNS or len(rows) > MAX_ROWS:
        return []
    head = [row for row in rows if row[0].y0 <= ys[1] - 2]
    split = [_split(row, bounds) for row in head]
    columns = tuple(cell_text(word for row in split for word in row[column]) for column in range(len(bounds) - 1))
    joined = _joined(_split(row, bounds) for row in below)
    body = [tuple(cell_text(cell) for cell in row) for row in joined]
    if len(body) < 2 or sum(bool(cell) for row in body for cell in row) < 0.4 * len(body) * (len(bounds) - 1):
        return []
    return [Found((x0, ys[0], x1, ys[-1]), columns if any(columns) else (), tuple(body))]


def _joined(rows: Iterable[list[list[Word]]]) -> list[list[list[Word]]]:
    """Join rows that continue the one above: their first cell is empty and they follow closely."""
    joined: list[list[list[Word]]] = []
    for cells in rows:
        flat = [word for cell in cells for word in cell]
        if joined and not cells[0] and flat and joined[-1][0]:
            above = max(word.y1 for cell in joined[-1] for word in cell)
            if min(word.y0 for word in flat) - above < 0.3 * flat[0].size:
                joined[-1] = [upper + lower for upper, lower in zip(joined[-1], cells, strict=True)]
                continue
        joined.append(cells)
    return joined


def find_loose_tables(lines: Sequence[Line], above: Found | None = None) -> list[Found]:
    """Return tables without rules: runs of rows with short cells in the same three or more columns.

    `above` is the last table of the previous page, which may go on.
    """
    found: list[Found] = []
    run: list[Row] = []
    before: Row | None = None
    for row in [*rows_of(lines), None]:
        gap = (row.y0 - run[-1].y1) / row.size if row is not None and run else 0.0
        # A row of few cells belongs to the table above if all are in its columns, and not only in the first.
        if row is not None and (
            (_is_tabular(row) and gap < ROW_GAP)
            or (
                run
                and gap < TURN_GAP
                and row.lines[-1].x0 > min((other.lines[0] for other in run), key=lambda line: line.x0).x1
                and _is_aligned(row, run)
            )
        ):
            # The first line of a header may name some columns only.
            is_near = before is not None and (row.y0 - before.y1) / row.size < TIGHT
            run += [before, row] if not run and before and is_near and _is_aligned(before, [row]) else [row]
            before = row
            continue
        tries = (_from_rows(run[skipped:], above) for skipped in range(min(len(run) - LOOSE_ROWS + 1, 4)))
        found += sorted(filter(None, tries), key=lambda table: -len(table.rows[0]))[:1]
        run = [row] if row is not None and _is_tabular(row) else []
        before = row
    return found


def _is_tabular(row: Row) -> bool:
    # Lines of code may be numbered.
    program = any(line.mono for line in row.lines) and all(line.mono or line.text.isdigit() for line in row.lines)
    return len(row.lines) >= LOOSE_COLUMNS and not program


def _is_aligned(row: Row, others: Sequence[Row]) -> bool:
    """Return whether each piece of a row starts, ends or has its middle where one of the others does."""
    return all(
        any(
            min(abs(line.x0 - other.x0), abs(line.x1 - other.x1), abs(line.x0 + line.x1 - other.x0 - other.x1) / 2)
            < ALIGNED
            for above in others
            for other in above.lines
        )
        for line in row.lines
    )


def _from_rows(run: Sequence[Row], above: Found | None) -> Found | None:
    rows = [[word for line in row.lines for word in line.words] for row in run]
    box = (min(r.x0 for r in run), run[0].y0, max(r.x1 for r in run), run[-1].y1)
    # Pieces of a row are far apart, so that their columns may be close; words are not.
    pieces = [row.lines for row in run]
    x0, x1 = box[0] - 1, box[2] + 1
    bounds = _column_bounds(pieces, x0, x1, LOOSE_GAP)
    if len(bounds) - 1 < max(map(len, pieces)):
        bounds = max(bounds, _column_bounds(rows, x0, x1, WORD_GAP), key=len)
    goes_on = above is not None and above.columns != () and _fits(pieces, above.bounds)
    if above is not None and goes_on:
        bounds = list(above.bounds)
    if not LOOSE_COLUMNS <= len(bounds) - 1 <= MAX_COLUMNS:
        return None
    gaps = [(below.y0 - row.y1) / below.size for row, below in pairwise(run)]
    head = 1  # lines of the header
    while head <= len(run) - LOOSE_ROWS and gaps[head - 1] < median_low(gaps) - TIGHT:
        head += 1
    split = [_split(row, bounds) for row in rows]
    columns: list[list[Line]] = [[] for _bound in bounds[1:]]
    for row in split:
        for column, words in zip(columns, row, strict=True):
            if words:
                column.append(Line())
            for word in words:
                column[-1].add(word)
    if sum(map(is_chinese_column, columns)) > 1:
        return None
    names = tuple(" ".join(filter(None, map(cell_text, column))) for column in zip(*split[:head], strict=True))
    cells = [names, *(tuple(map(cell_text, row)) for row in _joined(split[head:]))]
    header = is_header(names, run[0].bold and not run[head].bold) or count_header_rows(cells) == 1
    if not header:
        cells = [tuple(map(cell_text, row)) for row in _joined(split)]
    filled = [cell for row in cells for cell in row if cell]
    is_sure = goes_on or (
        header
        and all(names)
        and sum(not _is_aligned(row, [other for other in run if other is not row]) for row in run) <= LONERS * len(run)
    )
    least = NAMED_FILLED if is_sure else LOOSE_FILLED
    few = len(cells) < LOOSE_ROWS or len(filled) < least * len(cells) * (len(bounds) - 1)
    if few or sum(map(len, filled)) > LOOSE_CELL * len(filled):
        return None
    if above is not None and goes_on:
        header = names == above.columns
    return Found(box, names if header else (), tuple(cells[1:] if header else cells), bounds=tuple(bounds))


def _fits(pieces: Sequence[Sequence[Line]], bounds: Sequence[float]) -> bool:
    """Return whether no piece of a row is in two columns, and no two are in the same."""
    for row in pieces:
        places = [(bisect_right(bounds, line.x0), bisect_right(bounds, line.x1)) for line in row]
        if any(start != end for start, end in places) or len(set(places)) < len(places):
            return False
    return all(bounds[0] - ALIGNED <= line.x0 and line.x1 <= bounds[-1] + ALIGNED for row in pieces for line in row)


def _column_bounds(rows: Sequence[Sequence[_Piece]], x0: float, x1: float, gap: float = COLUMN_GAP) -> list[float]:
    """Return the x of the borders between columns, which are gaps of `gap` em without words in any row.

    A single cell at the top of a column next to one that is empty there is the name of that one, left-aligned above
    right-aligned numbers.
    """
    spans = sorted((word.x0, word.x1) for row in rows for word in row)
    bounds, reach = [x0], x0
    size = max((word.size for row in rows for word in row), default=0)
    for start, end in spans:
        if start - reach > gap * size and reach > x0:
            bounds.append((start + reach) / 2)
        reach = max(reach, end)
    bounds.append(x1)
    cells = [_split(row, bounds) for row in rows]
    filled = [{number for number, row in enumerate(cells) if row[column]} for column in range(len(bounds) - 1)]
    column = 1
    while column < len(filled):
        left, right = filled[column - 1 : column + 1]
        if {0} in (left, right) and not left & right:
            filled[column - 1 : column + 1] = [left | right]
            del bounds[column]
        else:
            column += 1
    return bounds


def _split(row: Sequence[_Piece], bounds: list[float]) -> list[list[_Piece]]:
    cells: list[list[_Piece]] = [[] for _ in bounds[1:]]
    for word in row:
        cells[min(max(bisect_right(bounds, (word.x0 + word.x1) / 2) - 1, 0), len(cells) - 1)].append(word)
    return cells
