"""Tables of a PDF page, from its ruling lines and the words between them. Pure.

A full grid gives cells, also joined ones. Where only horizontal rules are drawn, as in most papers, the columns are
found from the gaps that the words leave.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge.parsing.pdf.layout import Row, join_lines, rows_of
from knowledge.parsing.pdf.shapes import Edge
from knowledge.parsing.pdf.text import Box, Line, Word, line_of

SNAP = 3.0  # points within which lines count as one
MAX_EDGES = 4000
MAX_COLUMNS, MAX_ROWS = 60, 400
LOOSE_COLUMNS, LOOSE_ROWS = 3, 4  # what a table without rules has at least
LOOSE_CELL = 24  # characters of its cells at most, on average
MIN_FILLED = 0.3  # share of cells with text, below which a grid is a drawing or a form's frame

_NUMERIC = re.compile(r"^[\s\d.,:%$€£¥()+\-–—/]*\d[\s\d.,:%$€£¥()+\-–—/]*$")


@dataclass(frozen=True, slots=True)
class Found:
    """A table: its box in points, header cells (may be empty), rows of equal length, and its title if it has one."""

    box: Box
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


def find_tables(edges: Sequence[Edge], lines: Sequence[Line]) -> list[Found]:
    """Return the tables of a page, from the top."""
    if not 3 <= len(edges) <= MAX_EDGES:
        return []
    words = [word for line in lines for word in line.words]
    found = filter(None, (_from_grid(group, words) or _from_rules(group, words) for group in _groups(_merged(edges))))
    kept: list[Found] = []  # those that don't lie within a larger one
    for table in sorted(found, key=lambda item: -(item.box[2] - item.box[0]) * (item.box[3] - item.box[1])):
        x, y = (table.box[0] + table.box[2]) / 2, (table.box[1] + table.box[3]) / 2
        if not any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in (other.box for other in kept)):
            kept.append(table)
    return sorted(kept, key=lambda table: (table.box[1], table.box[0]))


def inside(line: Line, box: Box) -> bool:
    """Whether the line's middle lies in the box."""
    return box[0] - 1 <= (line.x0 + line.x1) / 2 <= box[2] + 1 and box[1] - 1 <= line.middle <= box[3] + 1


def _merged(edges: Sequence[Edge]) -> list[Edge]:
    """Snap edges that lie side by side to one position and join those that touch."""
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
    """Group edges that touch; horizontal rules of one extent that nothing touches are one group as well."""
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


def _axis(edges: Iterable[Edge], low: float, high: float) -> list[float]:
    """Return the distinct positions, with the outer ones `low` and `high` added where no line is drawn there."""
    positions: list[float] = []
    for at in sorted([edge.at for edge in edges] + [low, high]):
        if not positions or at - positions[-1] > SNAP:
            positions.append(at)
    return positions


def _from_grid(edges: Sequence[Edge], words: Sequence[Word]) -> Found | None:
    level = [edge for edge in edges if edge.horizontal]
    upright = [edge for edge in edges if not edge.horizontal]
    if len(level) < 2 or not upright or len(level) + len(upright) < 5:
        return None
    xs = _axis(upright, min(e.start for e in level), max(e.end for e in level))
    ys = _axis(level, min(e.start for e in upright), max(e.end for e in upright))
    if not (2 <= len(xs) - 1 <= MAX_COLUMNS and 2 <= len(ys) - 1 <= MAX_ROWS):
        return None
    # For each place of the grid the cell that covers it: places without a line between them are one cell.
    owners = [[(row, column) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            middle_x, middle_y = (xs[column] + xs[column + 1]) / 2, (ys[row] + ys[row + 1]) / 2
            if column and not _has(upright, xs[column], middle_y):
                owners[row][column] = owners[row][column - 1]
            if row and not _has(level, ys[row], middle_x):
                owners[row][column] = owners[row - 1][column]
    contents: dict[Cell, list[Word]] = {}
    for word in words:
        middle_x, middle_y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        if xs[0] < middle_x < xs[-1] and ys[0] < middle_y < ys[-1]:
            row, column = bisect_right(ys, middle_y) - 1, bisect_right(xs, middle_x) - 1
            contents.setdefault(owners[row][column], []).append(word)
    texts = {cell: cell_text(inside) for cell, inside in contents.items()}
    bold = {cell for cell, inside in contents.items() if all(word.bold for word in inside)}
    if len({owner for row in owners for owner in row}) < 4:
        return None
    return _table((xs[0], ys[0], xs[-1], ys[-1]), owners, texts, bold)


Cell = tuple[int, int]  # row and column of a cell's upper left corner


def _has(edges: list[Edge], at: float, middle: float) -> bool:
    return any(abs(edge.at - at) <= SNAP and edge.start - 1 <= middle <= edge.end + 1 for edge in edges)


def cell_text(words: Iterable[Word]) -> str:
    """Return the text of a cell's words, its lines joined."""
    lines: list[Line] = []
    for word in words:
        if not lines or word.y0 > lines[-1].y1 - 0.4 * word.size or word.x0 < lines[-1].x1 - word.size:
            lines.append(Line())
        lines[-1].add(word)
    return join_lines(join_lines(line.text for line in row.lines) for row in rows_of(lines))


def _table(box: Box, grid: list[list[Cell]], texts: dict[Cell, str], bold: set[Cell]) -> Found | None:
    """Make rows of the grid; rows and columns without text are dropped, cells joined downwards are repeated."""
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
    header = 0  # rows: none, one, or two where the first joins columns
    strong = all(cell in bold for cell in first if texts.get(cell))
    if is_header([texts.get(cell, "") for cell in first], strong):
        joined = len(set(first)) < len(first) and len(kept_rows) > 2
        second = [cell for c in kept_columns if texts.get(cell := grid[kept_rows[1]][c])] if joined else []
        alike = not strong or all(cell in bold for cell in second)
        header = 2 if second and alike and not any(_NUMERIC.match(texts[cell]) for cell in second) else 1
    columns = tuple(
        join_lines(dict.fromkeys(filter(None, (texts.get(grid[r][c], "") for r in kept_rows[:header]))))
        for c in kept_columns
    )
    return Found(box, columns if header else (), tuple(rows[header:]), title)


def is_header(cells: Sequence[str], bold: bool = False) -> bool:
    """Whether the cells of a first row read as names of columns."""
    filled = [cell for cell in cells if cell]
    if not filled or any(len(cell) > 120 for cell in filled):
        return False
    if bold and len(filled) * 2 >= len(cells):
        return True
    return len(filled) * 5 >= len(cells) * 3 and not any(_NUMERIC.match(cell) for cell in filled)


def _from_rules(edges: Sequence[Edge], words: Sequence[Word]) -> Found | None:
    """Read a table between three or more horizontal rules; the gaps between the words give the columns."""
    if len(edges) < 3 or not all(edge.horizontal for edge in edges):
        return None
    ys = sorted(edge.at for edge in edges)
    x0, x1 = min(edge.start for edge in edges) - 4, max(edge.end for edge in edges) + 4
    within = [
        word for word in words if x0 <= (word.x0 + word.x1) / 2 <= x1 and ys[0] <= (word.y0 + word.y1) / 2 <= ys[-1]
    ]
    rows = [[word for line in row.lines for word in line.words] for row in rows_of(map(line_of, within))]
    below = [row for row in rows if row[0].y0 > ys[1] - 2]
    bounds = _column_bounds(below, x0, x1)
    if len(below) < 2 or not 2 <= len(bounds) - 1 <= MAX_COLUMNS or len(rows) > MAX_ROWS:
        return None
    head = [row for row in rows if row[0].y0 <= ys[1] - 2]
    split = [_split(row, bounds) for row in head]
    columns = tuple(cell_text(word for row in split for word in row[column]) for column in range(len(bounds) - 1))
    # Rows that go on from the one above are joined: their first cell is empty and they follow closely.
    joined: list[list[list[Word]]] = []
    for row in below:
        cells = _split(row, bounds)
        flat = [word for cell in cells for word in cell]
        if joined and not cells[0] and flat:
            above = max(word.y1 for cell in joined[-1] for word in cell)
            if min(word.y0 for word in flat) - above < 0.3 * flat[0].size and joined[-1][0]:
                joined[-1] = [upper + lower for upper, lower in zip(joined[-1], cells, strict=True)]
                continue
        joined.append(cells)
    body = [tuple(cell_text(cell) for cell in row) for row in joined]
    if len(body) < 2 or sum(bool(cell) for row in body for cell in row) < 0.4 * len(body) * (len(bounds) - 1):
        return None
    return Found((x0, ys[0], x1, ys[-1]), columns if any(columns) else (), tuple(body))


def find_loose_tables(lines: Sequence[Line]) -> list[Found]:
    """Return tables without rules: runs of rows whose short cells stand in the same three or more columns."""
    found: list[Found] = []
    run: list[Row] = []
    for row in [*rows_of(lines), None]:
        follows = row is not None and (not run or row.y0 - run[-1].y1 < 1.5 * row.size)
        if row is not None and follows and _is_tabular(row):
            run.append(row)
            continue
        tries = (_from_rows(run[skipped:]) for skipped in range(min(len(run) - LOOSE_ROWS + 1, 4)))
        found += sorted(filter(None, tries), key=lambda table: -len(table.rows[0]))[:1]
        run = [row] if row is not None and _is_tabular(row) else []
    return found


def _is_tabular(row: Row) -> bool:
    return len(row.cells) >= LOOSE_COLUMNS and not row.mono


def _from_rows(run: Sequence[Row]) -> Found | None:
    rows = [[word for line in row.lines for word in line.words] for row in run]
    box = (min(r.x0 for r in run), run[0].y0, max(r.x1 for r in run), run[-1].y1)
    bounds = _column_bounds(rows, box[0] - 1, box[2] + 1)
    if not LOOSE_COLUMNS <= len(bounds) - 1 <= MAX_COLUMNS:
        return None
    cells = [tuple(cell_text(cell) for cell in _split(row, bounds)) for row in rows]
    filled = [cell for row in cells for cell in row if cell]
    if len(filled) < 0.7 * len(cells) * (len(bounds) - 1) or sum(map(len, filled)) > LOOSE_CELL * len(filled):
        return None
    header = is_header(cells[0], run[0].bold and not run[1].bold)
    return Found(box, cells[0] if header else (), tuple(cells[1:] if header else cells))


def _column_bounds(rows: Sequence[Sequence[Word]], x0: float, x1: float) -> list[float]:
    """Return the x of the borders between columns: the gaps that no row's words cross."""
    spans = sorted((word.x0, word.x1) for row in rows for word in row)
    bounds, reach = [x0], x0
    size = max((word.size for row in rows for word in row), default=0)
    for start, end in spans:
        if start - reach > 0.8 * size and reach > x0:
            bounds.append((start + reach) / 2)
        reach = max(reach, end)
    return [*bounds, x1]


def _split(row: Sequence[Word], bounds: list[float]) -> list[list[Word]]:
    cells: list[list[Word]] = [[] for _ in bounds[1:]]
    for word in row:
        cells[min(max(bisect_right(bounds, (word.x0 + word.x1) / 2) - 1, 0), len(cells) - 1)].append(word)
    return cells
