"""OpenDocument workbooks (ods): each sheet is a page with its name, read row by row to limit memory."""

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from knowledge.parsing.decoding import clean
from knowledge.parsing.elements import Element, Heading, PageBreak, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import calculation
from knowledge.parsing.limits import HIDDEN, HIDDEN_LEFT_OUT, HIDDEN_READ, MAX_COLUMNS, STRUCK_OUT, columns_left_out
from knowledge.parsing.odf.blocks import Blocks, number_of
from knowledge.parsing.odf.package import (
    DRAW,
    OFFICE,
    STYLE,
    TABLE,
    TEXT,
    Package,
    is_struck_out,
    reporting_broken,
    words_of,
)
from knowledge.parsing.ooxml import blocks_of
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.sheets import SheetTables

_SHEET, _ROW = f"{TABLE}table", f"{TABLE}table-row"
_CELL, _COVERED = f"{TABLE}table-cell", f"{TABLE}covered-table-cell"
_FRAME, _BODY = f"{DRAW}frame", f"{OFFICE}spreadsheet"
_PROPERTIES, _TEXT_PROPERTIES = f"{STYLE}table-properties", f"{STYLE}text-properties"
# A cell with a formula but without its value and text, as programs write it that don't calculate.
_UNCALCULATED = re.compile(
    rb"<table:table-cell\b(?=[^>]*\stable:formula=)(?![^>]*\soffice:(?:(?:string-|date-|time-|boolean-)?value)=)"
    rb"[^>]*(?:/>|>\s*</table:table-cell>)"
)


@reporting_broken
def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a workbook's elements sheet by sheet; raises `ParseError` if it is protected, broken, empty or too long."""
    kind = "OpenDocument (.ods)"
    with Package(path, context, kind) as package:
        blocks = blocks_of(package.archive, "content.xml")
        uncalculated = sum(len(_UNCALCULATED.findall(block)) for block in blocks)
    if uncalculated and (calculated := calculation.calculated(path, "ods", context.output_dir)):
        path, uncalculated = calculated, 0
    with Package(path, context, kind) as package:
        reader = _Reader(package, context)
        yield from reader.run()
        if not reader.found:
            raise ParseError("no_text.sheets")
        yield from columns_left_out(reader.widest)
        if reader.has_hidden:
            yield HIDDEN_READ if context.hidden else HIDDEN_LEFT_OUT
        if reader.has_struck:
            yield STRUCK_OUT
        yield from calculation.left_out(uncalculated)
        yield package.title()


class _Reader:
    def __init__(self, package: Package, context: ParseContext) -> None:
        self.package, self.context = package, context
        self.pictures = PictureStore(context.output_dir)
        self.found = self.has_hidden = self.has_struck = False
        self.struck_out = set(package.styles.struck_out)  # styles of cells and of text in them
        self.rows = self.widest = 0

    def run(self) -> Iterator[Element]:
        """Yield the sheets' elements; those drawn over the cells come after them."""
        number = 0
        tables: SheetTables | None = None
        heading: Heading | None = None
        drawn: list[Element] = []
        # By column: the text of a merged cell above, its remaining rows, and whether it is the cell's first column.
        merged: dict[int, tuple[str, int, bool]] = {}
        hidden: set[str] = set()  # styles of sheets
        with self.package.archive.open("content.xml") as file:
            events = etree.iterparse(
                file,
                events=("start", "end"),
                tag=(_SHEET, _ROW, _FRAME, _PROPERTIES, _TEXT_PROPERTIES),
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
            )
            for event, node in events:
                parent = node.getparent()
                if node.tag == _PROPERTIES:
                    if node.get(f"{TABLE}display") == "false" and parent is not None:
                        hidden.add(parent.get(f"{STYLE}name", ""))
                    continue
                if node.tag == _TEXT_PROPERTIES:
                    if is_struck_out(node) and parent is not None:
                        self.struck_out.add(parent.get(f"{STYLE}name", ""))
                    continue
                is_sheet = node.tag == _SHEET and parent is not None and parent.tag == _BODY
                if event == "start" and is_sheet:
                    number += 1
                    tables, merged, drawn = SheetTables(number), {}, []
                    is_hidden = node.get(f"{TABLE}style-name") in hidden
                    self.has_hidden = self.has_hidden or is_hidden
                    if is_hidden and not self.context.hidden:
                        tables = None
                    name = node.get(f"{TABLE}name", "") + (f" {HIDDEN}" if is_hidden else "")
                    heading = Heading(page=number, text=name, level=1)
                    yield PageBreak(page=number)
                elif event == "start" or tables is None:
                    continue
                elif is_sheet:
                    for element in (*tables.finish(), *drawn):
                        self.found = True
                        yield from (heading,) if heading else ()
                        heading = None
                        yield element
                    tables = None
                    _forget(node)
                elif node.tag == _FRAME:
                    # A chart's data repeats the cells that it is drawn from.
                    if node.find(f"{DRAW}object") is None:
                        drawn += Blocks(self.package, self.pictures, number).frame(node, 0)
                elif node.tag == _ROW and next(node.iterancestors(_FRAME), None) is None:
                    for element in self._row(node, tables, merged):
                        self.found = True
                        yield from (heading,) if heading else ()
                        heading = None
                        yield element
                    _forget(node)

    def _row(
        self, node: etree._Element, tables: SheetTables, merged: dict[int, tuple[str, int, bool]]
    ) -> Iterator[Table | Paragraph]:
        line: list[str] = []
        across: list[str] = []
        for cell in node.iterchildren(_CELL, _COVERED):
            # As shown, without what is struck out.
            is_struck = cell.get(f"{TABLE}style-name") in self.struck_out
            lines = ["".join(self._words(paragraph, is_struck)) for paragraph in cell.iterchildren(f"{TEXT}p")]
            text = "\n".join(filter(None, (clean(each).strip() for each in lines)))
            repeated = number_of(cell, "number-columns-repeated")
            if text and len(line) + repeated > MAX_COLUMNS:
                self.widest = max(self.widest, len(line) + repeated)
            columns, rows = number_of(cell, "number-columns-spanned"), number_of(cell, "number-rows-spanned")
            for place in range(len(line), min(len(line) + repeated, MAX_COLUMNS)):
                above, left, is_first = merged.get(place, ("", 0, False))
                covered = cell.tag == _COVERED and not text and left > 0
                line.append(above if covered and is_first else text)
                across.append(above if covered else text)
                if columns > 1 or rows > 1:
                    for offset in range(min(columns, MAX_COLUMNS - place)):
                        merged[place + offset] = (text, rows, offset == 0)
        for place, (text, left, is_first) in list(merged.items()):
            if left > 1:
                merged[place] = (text, left - 1, is_first)
            else:
                del merged[place]
        while line and not line[-1] and not across[-1]:
            line.pop()
            across.pop()
        if node.get(f"{TABLE}visibility") in ("collapse", "filter") and any(line):
            self.has_hidden = True
            if not self.context.hidden:
                return
            first = next(place for place, text in enumerate(line) if text)
            line[first] += f" {HIDDEN}"
        if not any(line):
            yield from tables.end()
            return
        for _ in range(number_of(node, "number-rows-repeated")):
            self.rows += 1
            if self.rows > self.context.max_rows:
                raise ParseError("too_many_rows.workbook", rows=self.context.max_rows)
            yield from tables.add(line, across)

    def _words(self, node: etree._Element, is_struck: bool) -> Iterator[str]:
        if is_struck or node.get(f"{TEXT}style-name") in self.struck_out:
            self.has_struck = self.has_struck or bool(words_of(node).strip())
            return
        yield node.text or ""
        for child in node:
            if child.tag == f"{TEXT}s":
                yield " "
            elif child.tag == f"{TEXT}line-break":
                yield "\n"
            elif isinstance(child.tag, str):
                yield from self._words(child, False)
            yield child.tail or ""


def _forget(node: etree._Element) -> None:
    """Free the memory of a node that was read, and of those before it."""
    node.clear()
    while node.getprevious() is not None:
        parent = node.getparent()
        if parent is None:
            return
        del parent[0]
