"""Finds Chinese and Japanese text that is written in columns: downwards, and from right to left.

Its characters are upright, so only the direction in which they advance tells it from horizontal text. Its columns
become the lines of a page turned by a quarter, whose first line is the column on the right.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from knowledge.parsing.pdf.text import LINE_GAP, Line, Word, around, is_cjk_join, line_of

QUARTERS = 3  # quarter turns, counter-clockwise, of letters that lie on their side in a column, relative to others
MIN_COLUMN = 4  # characters that follow each other downwards
MIN_COLUMNS = 2
MIN_CHARACTERS = 12  # in such columns
WIDEST = 1.4  # em; wider text is not a character of a column
APART = 0.3  # em by which the middles of a column's characters differ
STEP = 0.6, 2.2  # em from one character to the next
MIN_SHARE = 0.5  # of a page's Chinese characters that are in columns, unless the columns are long
LONG = 8  # characters

# Forms of punctuation for columns become those of Chinese text.
_PUNCTUATION = str.maketrans(",:;!?()[]{}", "，：；！？（）［］｛｝")


def columns_of(lines: Sequence[Line]) -> list[Line]:
    """Return the characters of the columns on a page, each a line of its own, or nothing if it has none."""
    runs: list[list[Line]] = []
    for line in filter(_is_narrow, lines):
        last = runs[-1][-1] if runs else line
        step = (line.middle - last.middle) / line.size
        if abs(_centre(line) - _centre(last)) < APART * line.size and STEP[0] < step < STEP[1]:
            runs[-1].append(line)
        else:
            runs.append([line])
    columns = [run for run in runs if len(run) >= MIN_COLUMN]
    marks = [line for column in columns for line in column]
    chinese = sum(is_cjk_join(line.text, line.text) for line in marks)
    all_of_page = sum(is_cjk_join(char, char) for line in lines for char in line.text)
    if (
        len(columns) < MIN_COLUMNS
        or len(marks) < MIN_CHARACTERS
        or 2 * chinese < len(marks)
        or (chinese < MIN_SHARE * all_of_page and len(marks) < LONG * len(columns))
    ):
        return []
    # Shorter runs among the columns belong to them too.
    size = max(line.size for line in marks)
    centres = set(map(_centre, marks))
    left, top, right, bottom = around((line.x0, line.y0, line.x1, line.y1) for line in marks)
    return [
        line
        for line in filter(_is_narrow, lines)
        if left - 3 * size < _centre(line) < right + 3 * size
        and top - size < line.middle < bottom + size
        and (is_cjk_join(line.text, line.text) or any(abs(_centre(line) - other) < APART * size for other in centres))
    ]


def turned_lines(columns: Iterable[Line], lying: Iterable[Line], width: float) -> list[Line]:
    """Return the columns of a page `width` points wide as lines of the page turned by `QUARTERS`.

    `lying` are the letters on their side, as read from the turned page.
    """
    words = [word for line in lying for word in line.words]
    for word in (line.words[0] for line in columns):
        text = word.text
        if "\ufe10" <= text[0] <= "\ufe4f":
            text = unicodedata.normalize("NFKC", text).translate(_PUNCTUATION)
        box = (word.y0, width - word.x1, word.y1, width - word.x0)
        words.append(Word(*box, text, word.size, word.bold, word.mono, spaced=False))
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.y0 + word.y1):
        y0, y1 = (rows[-1][0].y0, rows[-1][0].y1) if rows else (0.0, 0.0)
        if min(y1, word.y1) - max(y0, word.y0) > 0.5 * min(y1 - y0, word.y1 - word.y0):
            rows[-1].append(word)
        else:
            rows.append([word])
    lines: list[Line] = []
    for row in rows:
        row.sort(key=lambda word: word.x0)
        for before, word in zip([None, *row], row, strict=False):
            if before is None or word.x0 - before.x1 > LINE_GAP * word.size:
                lines.append(line_of(word))
            else:
                lines[-1].add(word)
    return lines


def _is_narrow(line: Line) -> bool:
    return len(line.words) == 1 and len(line.text) <= 3 and line.x1 - line.x0 < WIDEST * line.size


def _centre(line: Line) -> float:
    return (line.x0 + line.x1) / 2
