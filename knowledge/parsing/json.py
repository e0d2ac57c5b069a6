"""JSON and JSON lines: short records as a table, others each under its name; the rest as "key: value"."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.parsing.decoding import read_text
from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import MAX_COLUMNS, columns_left_out
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.layout import make_table

_BATCH = 500  # records of one table
_LONG = 300  # characters; records with longer values don't become rows of a table
_SAMPLE = 1000  # records that are checked for that
_SPARSE = 0.25  # least share of filled cells in a table
_DEEPEST = 5  # levels that become headings; anything nested deeper is shown as JSON
_NAMES = ("title", "name", "subject", "question", "label", "标题", "名称", "id", "_id", "key")
_LONGEST_NAME = 120  # characters


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a file's elements; raises `ParseError` if it is empty, invalid, or has too many records."""
    text = read_text(path)
    lines = context.filename.lower().endswith((".jsonl", ".ndjson"))
    value = _records(text) if lines else _value(text)
    found = list(_elements(value, 1, context.max_rows))
    if not found:
        raise ParseError("no_text")
    return iter(found)


def _value(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_whole)
    except json.JSONDecodeError as error:
        try:
            records = _records(text)
        except ParseError:
            records = []
        if len(records) < 2:
            raise ParseError("broken.json", line=error.lineno, column=error.colno) from error
        return records


def _whole(digits: str) -> int | str:
    """Return an integer, or its digits if there are more of them than Python converts."""
    return int(digits) if len(digits) < 1000 else digits


def _records(text: str) -> list[Any]:
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(json.loads(line, parse_int=_whole))
            except json.JSONDecodeError as error:
                raise ParseError("broken.json", line=number, column=error.colno) from error
    return records


def _elements(value: Any, level: int, max_rows: int) -> Iterator[Element]:
    """Yield the elements of a value, with its parts under headings of `level`."""
    if level > _DEEPEST and isinstance(value, dict | list):
        if value:
            yield Code(text=json.dumps(value, ensure_ascii=False, indent=1), language="json")
    elif isinstance(value, dict):
        plain = {name: inner for name, inner in value.items() if _is_plain(inner)}
        if lines := [f"{name}: {_shown(inner)}" for name, inner in plain.items() if _shown(inner)]:
            yield Paragraph(text="\n".join(lines))
        for name, inner in value.items():
            if name not in plain and inner:
                yield Heading(text=str(name), level=level)
                yield from _elements(inner, level + 1, max_rows)
    elif isinstance(value, list):
        if len(value) > max_rows:
            raise ParseError("too_many_rows", rows=max_rows)
        if value and all(isinstance(item, dict) for item in value):
            yield from _of_records(value, level, max_rows)
        elif value and all(isinstance(item, list) and all(map(_is_plain, item)) for item in value):
            width = max(map(len, value))
            rows = [[*map(_shown, row), *[""] * (width - len(row))] for row in value]
            yield from filter(None, (make_table(rows[at : at + _BATCH]) for at in range(0, len(rows), _BATCH)))
        else:
            for item in value:
                if _is_plain(item):
                    yield Paragraph(text=f"- {_shown(item)}")
                else:
                    yield from _elements(item, level + 1, max_rows)
    elif text := _shown(value):
        yield Paragraph(text=text)


def _of_records(records: list[dict[str, Any]], level: int, max_rows: int) -> Iterator[Element]:
    """Yield records as tables with the same columns, or each under its name unless they are similar and short."""
    columns = list(dict.fromkeys(name for record in records for name in record))
    filled = sum(map(len, records)) / (len(records) * max(len(columns), 1))
    sample = [value for record in records[:_SAMPLE] for value in record.values()]
    if filled >= _SPARSE and all(_is_plain(value) and len(_shown(value)) <= _LONG for value in sample):
        yield from columns_left_out(len(columns))
        columns = columns[:MAX_COLUMNS]
        for start in range(0, len(records), _BATCH):
            rows = [tuple(_shown(record.get(name)) for name in columns) for record in records[start : start + _BATCH]]
            yield Table(columns=tuple(map(str, columns)), rows=tuple(rows))
        return
    for number, record in enumerate(records, 1):
        names = (record.get(name) for name in (*_NAMES, *(name.capitalize() for name in _NAMES)))
        name = next((_shown(found) for found in names if _is_plain(found) and _shown(found)), "")
        yield Heading(text=name if 0 < len(name) <= _LONGEST_NAME else f"#{number}", level=level)
        yield from _elements(record, level + 1, max_rows)


def _is_plain(value: Any) -> bool:
    """Return whether a value is shown on one line: a scalar, or a list of scalars."""
    if isinstance(value, list):
        return all(not isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_shown, value)))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value).strip()
