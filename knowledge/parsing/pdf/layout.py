"""Turns the lines of a page into paragraphs in reading order: columns, rows, joined lines. Pure."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median

from knowledge.parsing.pdf.text import HYPHENS, Box, Line, around, is_cjk_join

MIN_COLUMN_LINES = 3
PROSE = 22  # characters of a line of running text; table cells are shorter
CHINESE_LINE = 7  # Chinese characters of a line in a narrow column
STOPS = 0.2  # least share of lines with punctuation, which cells of tables rarely have
FULL, FULL_LINES = 0.85, 0.7  # share of a column's width that full lines have, and least share of such lines
MAX_DEPTH = 6
CELL_GAP = 1.8  # em; a wider gap in a row separates cells

# "3.x" is a version at the beginning of a line.
_MARKER = re.compile(
    r"^(?:[•●▪■□◦○·‣➢✓✔☐☑☒§\uf0b7\uf0a7]|[-–—*](?=\s)|\(?\d{1,3}(?:\)(?=\D)|\.(?=[^\da-z]))"
    r"|\(?[a-zA-Z][.)](?=\s)|\[\d{1,3}\]|[(（]?[一二三四五六七八九十]{1,3}[、.)）]|[(（]\d{1,3}[)）]|\d{1,3}、|第[一二三四五六七八九十百\d]{1,4}[章节條条款])"
)
_STOP = re.compile("[，。；、：！？]")
_ENDED = re.compile(r"[.!?。！？；;：:]['\"”’」』)）\]]*$")


class Row:
    """The lines of a region on the same baseline, from the left; box and font size in points."""

    __slots__ = ("bold", "cells", "lines", "mono", "size", "text", "x0", "x1", "y0", "y1")

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.x0, self.x1 = lines[0].x0, lines[-1].x1
        self.y0, self.y1 = min(line.y0 for line in lines), max(line.y1 for line in lines)
        self.size = max(lines, key=lambda line: len(line.words)).size
        self.bold = all(line.bold for line in lines)
        self.mono = all(line.mono for line in lines)
        self.cells = [[lines[0]]]  # the lines, grouped by wide gaps; a list marker stays with its item
        for line in lines[1:]:
            cell = self.cells[-1]
            text = cell[0].text
            marker = len(cell) == 1 and len(text) <= 6 and (_MARKER.match(text + " ") or text.rstrip(".").isdigit())
            if line.x0 - cell[-1].x1 > CELL_GAP * line.size and not marker:
                self.cells.append([line])
            else:
                cell.append(line)
        self.text = "  ".join(join_lines([line.text for line in cell]) for cell in self.cells)


def code_text(rows: Sequence[Row]) -> str:
    """Return monospaced rows as lines, with indentation and spaces according to the positions of words."""
    left = min(row.x0 for row in rows)
    steps = [(w.x1 - w.x0) / len(w.text) for row in rows for line in row.lines for w in line.words if len(w.text) > 2]
    step = median(steps) if steps else 0.6 * rows[0].size
    texts: list[str] = []
    for above, row in zip([None, *rows], rows, strict=False):
        if above is not None and row.y1 - above.y1 > 1.9 * row.size:
            texts.append("")
        text = ""
        for word in (word for line in row.lines for word in line.words):
            column = round((word.x0 - left) / step) if step > 0 else 0
            text = text.ljust(min(max(column, len(text) + (1 if text and word.spaced else 0)), 400)) + word.text
        texts.append(text.rstrip())
    return join_lines(["\n".join(texts)])


@dataclass(slots=True)
class Block:
    """The rows of a paragraph, heading or list item."""

    rows: list[Row] = field(default_factory=list)
    text: str = ""

    @property
    def box(self) -> Box:
        """The bounding box, in points."""
        return around((row.x0, row.y0, row.x1, row.y1) for row in self.rows)

    @property
    def size(self) -> float:
        """The font size in points."""
        return max(self.rows, key=lambda row: len(row.text)).size

    @property
    def bold(self) -> bool:
        """Whether all of it is bold."""
        return all(row.bold for row in self.rows)

    @property
    def mono(self) -> bool:
        """Whether all of it is in a monospaced font."""
        return all(row.mono for row in self.rows)


def regions(lines: Sequence[Line], depth: int = 0) -> list[list[Line]]:
    """Split lines into regions in reading order: left column before right, bands between full-width lines."""
    gutter = _gutter(lines) if depth < MAX_DEPTH and len(lines) >= 2 * MIN_COLUMN_LINES else None
    if gutter is None:
        return [list(lines)] if lines else []
    found: list[list[Line]] = []
    # Groups of lines from the top, alternating between those on one side of the gutter and those that cross it.
    crossing = [line for line in lines if line.x0 < gutter - 1 and line.x1 > gutter + 1]
    middles = sorted(line.middle for line in crossing)
    bands: dict[int, list[Line]] = {}
    for line in lines:
        position = 2 * bisect_left(middles, line.middle - 0.01)
        is_crossing = line.x0 < gutter - 1 and line.x1 > gutter + 1
        bands.setdefault(position + (1 if is_crossing else 0), []).append(line)
    for _, keys in groupby(sorted(bands), lambda key: key % 2 or -key):  # consecutive crossing lines form one group
        band = [line for key in keys for line in bands[key]]
        left = [line for line in band if line.x1 <= gutter + 1]
        right = [line for line in band if line.x0 >= gutter - 1]
        high = min(len(left), len(right)) >= MIN_COLUMN_LINES
        if len(left) + len(right) == len(band) and (high or (depth == 0 and _is_prose(left + right))):
            found += regions(left, depth + 1) + regions(right, depth + 1)
        else:
            found += regions(band, depth + 1) if len(band) < len(lines) else [band]
    return found


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the x just left of a column that best separates the lines, if both sides look like running text."""
    starts = sorted(line.x0 for line in lines)
    ends = sorted(line.x1 for line in lines)
    best, best_score = None, 0.0
    for position, start in enumerate(starts):
        if position and start - starts[position - 1] < 2:
            continue
        gutter = start - 0.5
        after = len(starts) - bisect_left(starts, gutter)
        before = bisect_left(ends, gutter)
        score = min(before, after) - 0.5 * (len(lines) - after - before)
        if min(before, after) < MIN_COLUMN_LINES or score <= best_score:
            continue
        left = [line for line in lines if line.x1 <= gutter]
        right = [line for line in lines if line.x0 >= gutter]
        top = max(min(line.y0 for line in left), min(line.y0 for line in right))
        bottom = min(max(line.y1 for line in left), max(line.y1 for line in right))
        beside = [[line for line in side if line.y1 > top and line.y0 < bottom] for side in (left, right)]
        if all(len(side) >= MIN_COLUMN_LINES and _is_prose(side) for side in beside):
            best, best_score = gutter, score
    return best


def is_chinese_column(lines: Sequence[Line]) -> bool:
    """Return whether most lines are Chinese and as wide as the widest, like those of a narrow column of text."""
    widest = max((line.x1 - line.x0 for line in lines), default=0.0)
    full = sum(
        line.x1 - line.x0 > FULL * widest and sum(char > "\u2e80" for char in line.text) >= CHINESE_LINE
        for line in lines
    )
    stops = sum(_STOP.search(line.text) is not None for line in lines)
    return len(lines) >= MIN_COLUMN_LINES and full >= FULL_LINES * len(lines) and stops >= STOPS * len(lines)


def _is_prose(lines: Sequence[Line]) -> bool:
    """Return whether most characters are in lines as long as those of running text."""
    if is_chinese_column(lines):
        return True
    lengths = [len(line.text) + sum(char > "\u2e80" for char in line.text) for line in lines]
    long = [length for length in lengths if length >= PROSE]
    return len(long) >= MIN_COLUMN_LINES and 2 * sum(long) > sum(lengths)


def rows_of(lines: Iterable[Line]) -> list[Row]:
    """Group a region's lines into rows from the top; lines of a row from the left."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda item: (item.middle, item.x0)):
        for row in reversed(rows[-3:]):
            other = max(row, key=lambda item: len(item.words))
            overlap = min(other.y1, line.y1) - max(other.y0, line.y0)
            gap = 0.3 * line.size
            if overlap >= 0.55 * min(other.y1 - other.y0, line.y1 - line.y0) and all(
                line.x0 >= item.x1 - gap or line.x1 <= item.x0 + gap for item in row
            ):
                row.append(line)
                break
        else:
            rows.append([line])
    return [Row(sorted(row, key=lambda item: item.x0)) for row in rows]


def blocks_of(
    rows: Sequence[Row],
    body_size: float,
    known: set[str] | None = None,
    limit: float = math.inf,
    runs_on: bool = False,
) -> list[Block]:
    """Join rows into paragraphs.

    `known` are words that keep their hyphens. Rows that end beyond `limit` (points) have run over the margin, like a
    long address that could not be broken; they don't count for the right margin. With `runs_on`, sentences go on in the
    next row even after a short one.
    """
    blocks: list[Block] = []
    steps = [
        below.y1 - above.y1
        for above, below in pairwise(rows)
        if abs(above.size - below.size) < 0.6 and 0 < below.y1 - above.y1 < 3 * above.size
    ]
    leading = median(steps) if steps else 0.0
    edge = _right_edge(rows, limit)
    for position, row in enumerate(rows):
        margins = _right_edge(rows[max(0, position - 6) : position + 7], limit), edge
        if runs_on and blocks and not _ENDED.search(blocks[-1].rows[-1].text):
            margins = -math.inf, -math.inf  # no row is short
        if blocks and not _breaks(blocks[-1], row, leading, margins, body_size):
            blocks[-1].rows.append(row)
        else:
            blocks.append(Block([row]))
    for block in blocks:
        block.text = join_lines((row.text for row in block.rows), known)
    return blocks


def _right_edge(rows: Sequence[Row], limit: float) -> float:
    return max((row.x1 for row in rows if row.x1 <= limit), default=limit)


def _breaks(block: Block, row: Row, leading: float, margins: tuple[float, float], body_size: float) -> bool:
    """Return whether `row` starts a new paragraph after `block`.

    `margins` are the right edges of the rows nearby and of the region.
    """
    margin = margins[0]
    last = block.rows[-1]
    if last.mono or row.mono:
        return not (last.mono and row.mono) or not 0 < row.y1 - last.y1 < 3 * row.size
    if abs(last.size - row.size) > 0.08 * last.size or (block.bold != row.bold and (block.bold or len(row.lines) < 2)):
        return not (abs(last.size - row.size) <= 0.08 * last.size and not _fits(last, row, margin) and not block.bold)
    step = row.y1 - last.y1
    if step < 0 or step > max(1.4 * leading, 1.25 * row.size) or step > 2.6 * row.size:
        return True
    if len(last.cells) > 1 or len(row.cells) > 1 or _MARKER.match(row.text):
        return True
    if row.size > 1.12 * body_size:
        return False
    if _fits(last, row, margin):
        return True
    first = block.rows[0]
    indent = row.x0 - (block.rows[1].x0 if len(block.rows) > 1 else last.x0)
    if indent < -0.8 * row.size and (len(block.rows) > 1 or _fits(last, row, margins[1])):
        return True
    if indent > 0.8 * row.size:
        hanging = len(block.rows) == 1 and (_MARKER.match(first.text) or not _ENDED.search(last.text))
        return not hanging
    return False


def _fits(last: Row, row: Row, margin: float) -> bool:
    """Return whether the first word of `row` would have fitted at the end of `last`, so the break was intended."""
    word = row.lines[0].words[0]
    if is_cjk_join(last.text, word.text):
        return margin - last.x1 > 2.2 * row.size
    return margin - last.x1 > (word.x1 - word.x0) + 0.9 * row.size


def join_lines(texts: Iterable[str], known: set[str] | None = None) -> str:
    """Join lines into running text, joining hyphenated words, and without spaces between Chinese characters."""
    joined = ""
    if isinstance(texts, Sequence) and len(texts) == 1:
        joined = texts[0]
        texts = ()
    for text in texts:
        if not joined:
            joined = text
        elif joined[-1] in HYPHENS and len(joined) > 1 and joined[-2].isalpha() and text[:1].isalpha():
            start = re.split(r"[\s(]", joined)[-1][:-1]
            rest = re.split(r"[\s,.;:)]", text)[0]
            keeps = not text[0].islower() or f"{start}-{rest}".lower() in (known or ()) or not start.isalpha()
            joined = f"{joined[:-1]}-{text}" if keeps else joined[:-1] + text
        elif is_cjk_join(joined, text):
            joined += text
        else:
            joined += " " + text
    return joined.replace("\x02", "-").replace("\ufffe", "-").replace("\xad", "")


def hyphenated(lines: Iterable[Line]) -> set[str]:
    """Return the words written with a hyphen inside a line, in lower case."""
    return {
        word.text.strip(".,;:()").lower()
        for line in lines
        for word in line.words
        if "-" in word.text[1:-1] and word.text[-1] not in HYPHENS
    }
