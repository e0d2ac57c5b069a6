"""CSV and TSV: detects delimiter, character set and header, and yields rows in batches."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from knowledge.parsing.decoding import read_text
from knowledge.parsing.elements import Element
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import MAX_COLUMNS, columns_left_out
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.sheets import SheetTables

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_LONGEST_FIELD = 1_000_000  # characters
_LONG_RECORD = 20  # lines; longer records are checked again
_PATIENCE = 10  # times the file's lines that may be read in vain to find the ends of quotations
_QUOTED = re.compile(r'"[^"\n]*"')


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield the file's table in batches of rows; raises `ParseError` if it is empty, broken or too long."""
    text = read_text(path)
    widths: set[int] = set()
    if context.filename.lower().endswith((".tsv", ".tab")):
        delimiter = "\t"
    else:
        filled = (line for line in text[:100_000].split("\n") if line.strip())
        lines = [_QUOTED.sub("", line) for line in islice(filled, _SAMPLE_LINES)]
        # The delimiter is the one that splits most lines into the same number of fields.
        delimiter, best_score = ",", 0.0
        for candidate in _DELIMITERS:
            counts = Counter(line.count(candidate) for line in lines)
            fields, lines_alike = max(counts.items(), key=lambda item: (item[0] > 0) * item[1], default=(0, 0))
            score = lines_alike * (1 + min(fields, 20) / 100) if fields else 0.0
            if score > best_score:
                delimiter, best_score = candidate, score
    tables = SheetTables()
    for row in _rows(text, delimiter, context.max_rows, widths):
        yield from tables.add(row) if any(row) else tables.end()
    yield from tables.finish()
    yield from columns_left_out(max(widths))


def _rows(text: str, delimiter: str, max_rows: int, widths: set[int]) -> Iterator[list[str]]:
    """Yield the first `MAX_COLUMNS` cells of each row, and add the rows' numbers of cells to `widths`.

    A quotation mark that is never closed is treated as text, so that it doesn't include everything that follows.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    lines = text.splitlines(keepends=True)
    start = rows = 0
    patience = _PATIENCE * len(lines)
    while start < len(lines):
        end = len(lines) if patience > 0 else min(len(lines), start + _LONG_RECORD + 1)
        reader = csv.reader((lines[number] for number in range(start, end)), delimiter=delimiter)
        try:
            row: list[str] | None = next(reader)
        except csv.Error as error:
            if reader.line_num == 1:
                raise ParseError("broken.csv", line=start + 1, reason=str(error)) from error
            row = None
        record = lines[start : start + reader.line_num]
        if row is not None and len(record) > _LONG_RECORD:
            try:  # check that the quotation marks open and close its fields
                next(csv.reader(record, delimiter=delimiter, strict=True))
            except csv.Error:
                row = None
        if row is None:
            patience -= len(record)
            record = record[:1]
            row = next(csv.reader(record, delimiter=delimiter, quoting=csv.QUOTE_NONE))
        rows += 1
        if rows > max_rows:
            raise ParseError("too_many_rows", rows=max_rows)
        widths.add(len(row))
        yield [cell.strip() for cell in row[:MAX_COLUMNS]]
        start += len(record)
