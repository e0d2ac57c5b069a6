"""Word documents (docx): headings, lists, tables, pictures, text boxes and notes in reading order."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import docx
from docx.opc.exceptions import OpcError, PackageNotFoundError
from docx.oxml.exceptions import InvalidXmlError
from docx.oxml.ns import qn
from lxml import etree

from knowledge.parsing.charts import read_chart
from knowledge.parsing.decoding import clean
from knowledge.parsing.docx.runs import Run, RunReader, children, plain_text
from knowledge.parsing.docx.styles import Numbering, Styles, list_place, outline_level, value
from knowledge.parsing.elements import Code, Element, Heading, Notice, Paragraph, Picture, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import TOO_DEEP
from knowledge.parsing.ooxml import BROKEN, blob, broken, check_package, whole
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables import Cell, table_of, with_captions
from knowledge.parsing.text import chapter_level, looks_like_title

_DEEPEST = 8  # tables within tables
_LONG_CELL = 200  # characters; one column of longer cells is a layout, not a table


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a Word document's elements; raises `ParseError` for what is protected, broken or empty."""
    check_package(path, "word/", "Word (.docx)")
    try:
        document = docx.Document(str(whole(path, context.output_dir)))
        reader = _Reader(document.part, PictureStore(context.output_dir))
        found = list(_join_code(with_captions(reader.run())))
    except (*BROKEN, OpcError, PackageNotFoundError, InvalidXmlError) as error:
        raise broken(error) from error
    if all(isinstance(element, Notice) for element in found):
        raise ParseError("no_text.document")
    return iter(found)


class _Reader:
    """Walks the body's blocks."""

    def __init__(self, part: Any, pictures: PictureStore) -> None:
        self.part, self.pictures = part, pictures
        self.styles = Styles(_related(part, "styles"))
        self.numbering = Numbering(_related(part, "numbering"))
        self.runs = RunReader(part, _notes(part, "footnotes"), _notes(part, "endnotes"))
        self.body = part.element.find(qn("w:body"))
        self.titled = False
        self.has_headings = any(
            self._styled_level(node) for node in (self.body.iter(qn("w:p")) if self.body is not None else ())
        )

    def run(self) -> Iterator[Element]:
        """Yield the elements; a caption under a picture or over a table is given to it."""
        held: Picture | None = None
        caption = ""
        for element, is_caption in self._blocks(self.body, 0) if self.body is not None else ():
            if held is not None:
                if is_caption and isinstance(element, Paragraph):
                    yield replace(held, alt="\n".join(filter(None, [held.alt, element.text])))
                    held = None
                    continue
                yield held
                held = None
            if caption:
                if isinstance(element, Table) and not element.caption:
                    element = replace(element, caption=caption)
                else:
                    yield Paragraph(text=caption)
                caption = ""
            if is_caption and isinstance(element, Paragraph):
                caption = element.text
            elif isinstance(element, Picture):
                held = element
            else:
                yield element
        if held is not None:
            yield held
        if caption:
            yield Paragraph(text=caption)

    def _blocks(self, parent: etree._Element, depth: int) -> Iterator[tuple[Element, bool]]:
        if depth > _DEEPEST:
            if plain_text(parent).strip():
                yield TOO_DEEP, False
            return
        for node in children(parent):
            if node.tag == qn("w:p"):
                style = self._style(node)
                if self.styles.is_toc(style):
                    continue
                run = self.runs.read(node)
                text = clean(run.text).strip()
                if text:
                    yield self._text(node, style, text, run), self.styles.is_caption(style)
                for note in run.notes:
                    yield Paragraph(text=note), False
                for relation, alt in run.pictures:
                    for kept in self.pictures.save(blob(self.part, relation), alt):
                        yield kept, False
                for relation in run.charts:
                    data = blob(self.part, relation)
                    for element in read_chart(data) if data else iter(()):
                        yield element, False
                for box in run.boxes:
                    yield from self._blocks(box, depth + 1)
            elif node.tag == qn("w:tbl"):
                rows = [row for row in children(node) if row.tag == qn("w:tr")]
                cells = [[cell for cell in children(row) if cell.tag == qn("w:tc")] for row in rows]
                if depth < _DEEPEST and max(map(len, cells), default=0) <= 1:
                    # A frame around running text: one cell, or one column of long cells.
                    only = [cell for row in cells for cell in row]
                    if len(only) <= 1 or sum(len(plain_text(cell)) for cell in only) / len(only) > _LONG_CELL:
                        for cell in only:
                            yield from self._blocks(cell, depth + 1)
                        continue
                others: list[Element] = []
                lines = [self._cells(row, line, others, depth) for row, line in zip(rows, cells, strict=True)]
                header = 0
                while header < len(rows) - 1 and rows[header].find(f"{qn('w:trPr')}/{qn('w:tblHeader')}") is not None:
                    header += 1
                # Word's "continue" cells take their text from above, by their place in the grid.
                above: dict[int, str] = {}
                grid: list[list[Cell]] = []
                for line in lines:
                    grid.append([])
                    place = 0
                    for found, kind in line:
                        shown = above.get(place, "") if kind == "continue" else found.text
                        above[place] = shown if kind else ""
                        grid[-1].append(replace(found, text=shown))
                        place += found.columns
                for part in (*table_of(grid, header_rows=header or None), *others):
                    yield part, False

    # Paragraphs

    def _text(self, node: etree._Element, style: str, text: str, run: Run) -> Element:
        # What stands before a list item, and its indent.
        place = list_place(node.find(qn("w:pPr"))) or self.styles.numbering(style)
        if place is None or place[0] == "0":
            marker, indent = "", ""
        else:
            marker, indent = self.numbering.next(*place), "  " * min(place[1], 8)
        # The level as a heading, 0 for running text.
        if self.styles.is_title(style) and not self.titled:
            self.titled = True
            level = 1
        else:
            level = self._styled_level(node)
            if level:
                level = level + 1 if self.titled else level
            elif self.has_headings or not run.bold or run.pictures:
                level = 0
            else:
                # Without a single heading style, short bold lines are what the writer meant as headings.
                level = (chapter_level(text) or 2) if looks_like_title(text) else 0
        if level:
            number = "" if marker == "-" else marker
            return Heading(text=" ".join(f"{number} {text}".split()), level=level)
        if self.styles.is_code(style):
            return Code(text=clean(run.text).rstrip())
        return Paragraph(text=f"{indent}{marker} {text}" if marker else text)

    def _styled_level(self, node: etree._Element) -> int:
        own = outline_level(node.find(qn("w:pPr")))
        level = own if own is not None else self.styles.outline(self._style(node))
        if not level and self.styles.is_title(self._style(node)):
            return 1
        return level if level and level <= 9 else 0

    def _style(self, node: etree._Element) -> str:
        properties = node.find(qn("w:pPr"))
        return "" if properties is None else value(properties.find(qn("w:pStyle")))

    # Tables

    def _cells(
        self, row: etree._Element, cells: list[etree._Element], others: list[Element], depth: int
    ) -> list[tuple[Cell, str]]:
        """Return a row's cells and how each is merged with the one above: "restart", "continue" or ""."""
        before = value(row.find(f"{qn('w:trPr')}/{qn('w:gridBefore')}"))  # columns that the row leaves out at its start
        line = [(Cell(""), "")] * (min(int(before), 100) if before.isdigit() else 0)
        for cell in cells:
            properties = cell.find(qn("w:tcPr"))
            span = value(properties.find(qn("w:gridSpan"))) if properties is not None else ""
            merge = properties.find(qn("w:vMerge")) if properties is not None else None
            kind = "" if merge is None else (value(merge) or "continue")
            if kind == "continue":
                text = ""
            else:
                lines = []
                for element, _ in self._blocks(cell, depth + 1):
                    if isinstance(element, Picture | Notice):
                        others.append(element)
                    elif isinstance(element, Table):
                        lines += [" | ".join(texts) for texts in (element.columns, *element.rows) if any(texts)]
                    elif isinstance(element, Heading | Paragraph | Code):
                        lines.append(element.text)
                text = "\n".join(lines)
            line.append((Cell(text, int(span) if span.isdigit() and len(span) < 4 else 1), kind))
        return line


def _join_code(elements: Iterator[Element]) -> Iterator[Element]:
    """Word has a paragraph for each line of code: make them one block."""
    held: Code | None = None
    for element in elements:
        if isinstance(element, Code):
            held = element if held is None else replace(held, text=f"{held.text}\n{element.text}")
            continue
        if held is not None:
            yield held
            held = None
        yield element
    if held is not None:
        yield held


def _related(part: Any, kind: str) -> etree._Element | None:
    for relation in part.rels.values():
        if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            return etree.fromstring(relation.target_part.blob, parser)
    return None


def _notes(part: Any, kind: str) -> dict[str, etree._Element]:
    root = _related(part, kind)
    nodes = [] if root is None else list(root)
    return {node.get(qn("w:id"), ""): node for node in nodes if node.get(qn("w:type")) in (None, "normal")}
