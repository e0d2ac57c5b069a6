"""Reads HTML tables: their captions, header rows and spanning cells."""

from collections.abc import Callable, Iterator

from lxml import etree

from knowledge.parsing.elements import Notice, Table
from knowledge.parsing.limits import number_in
from knowledge.parsing.tables.layout import Cell, table_of


def rows_of(table: etree._Element) -> list[list[etree._Element]]:
    """Return the cells of a table's own rows, without those of nested tables."""
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table"), None) is table]
    return [[cell for cell in row if cell.tag in ("td", "th")] for row in rows]


def read_table(node: etree._Element, text_of: Callable[[etree._Element], str]) -> Iterator[Table | Notice]:
    """Yield the table, if it isn't empty, and notices of what was left out."""
    rows = [row for row in rows_of(node) if row]
    cells = [
        [Cell(text_of(cell), _span(cell, "colspan"), _span(cell, "rowspan"), cell.tag == "th") for cell in row]
        for row in rows
    ]
    caption = node.find("caption")
    declared = 0  # header rows: those in <thead>, or else those that contain only <th>
    for row in rows[:-1]:
        parent = row[0].getparent()
        section = parent.getparent() if parent is not None else None
        in_head = section is not None and section.tag == "thead"
        if not in_head and not all(cell.tag == "th" for cell in row):
            break
        declared += 1
    return table_of(cells, header_rows=declared or None, caption="" if caption is None else text_of(caption))


def _span(node: etree._Element, name: str) -> int:
    value = number_in(node.get(name), 1)
    return max(1, value) if value < 100_000 else 1
