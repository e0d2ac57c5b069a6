"""Word documents (docx): headings, lists, tables, pictures, text boxes and notes in reading order."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
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
from knowledge.parsing.docx.styles import Numbering, Style, Styles, list_place, outline_level, value
from knowledge.parsing.elements import Code, Element, Heading, Notice, Paragraph, Picture, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import STRUCK_OUT, TOO_DEEP, number_in
from knowledge.parsing.ooxml import BROKEN, blob, broken, check_package, parse_xml, whole
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.layout import Cell, table_of, with_captions
from knowledge.parsing.text import chapter_level, looks_like_title

_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)\s*\d*(?:\s*(?:of|von|/)\s*\d*)?|第?\s*\d*\s*页(?:\s*[,，/]?\s*共\s*\d*\s*页)?", re.IGNORECASE
)
_NAMES = re.compile(r"[^\W\d_]{2}|[\u4e00-\u9fff]")
_DEEPEST = 8  # tables within tables
_LONG_CELL = 200  # characters; one column of longer cells is a layout, not a table


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a Word document's elements; raises `ParseError` if it is protected, broken or empty."""
    check_package(path, "word/", "Word (.docx)")
    try:
        document = docx.Document(str(whole(path, context.output_dir)))
        reader = _Reader(document.part, PictureStore(context.output_dir))
        found: list[Element] = []
        for is_code, group in groupby(with_captions(reader.run()), lambda element: isinstance(element, Code)):
            if is_code:  # Word uses a paragraph for each line
                found.append(Code(text="\n".join(element.text for element in group if isinstance(element, Code))))
            else:
                found.extend(group)
        if reader.runs.has_struck_out:
            found.append(STRUCK_OUT)
    except (*BROKEN, OpcError, PackageNotFoundError, InvalidXmlError) as error:
        raise broken(error) from error
    if all(isinstance(element, Notice) for element in found):
        raise ParseError("no_text.document")
    return iter(found)


class _Reader:
    """Walks the blocks of the document's body."""

    def __init__(self, part: Any, pictures: PictureStore) -> None:
        self.part, self.pictures = part, pictures
        self.styles = Styles(_related(part, "styles"))
        self.numbering = Numbering(_related(part, "numbering"))
        self.runs = RunReader(part, _notes(part, "footnotes"), _notes(part, "endnotes"), _notes(part, "comments"))
        self.body = part.element.find(qn("w:body"))
        self.titled = False
        paragraphs = self.body.iter(qn("w:p")) if self.body is not None else ()
        self.has_headings = any(map(self._styled_level, paragraphs))

    def run(self) -> list[Element]:
        """Return the elements, adding captions below pictures and above tables to these."""
        found: list[Element] = list(self._margins())
        waits = False  # whether the last element is a caption, or a picture that may get one
        for element, is_caption in self._blocks(self.body, 0) if self.body is not None else ():
            last = found[-1] if waits else None
            if is_caption and isinstance(element, Paragraph) and isinstance(last, Picture):
                found[-1] = replace(last, alt="\n".join(filter(None, [last.alt, element.text])))
                waits = False
                continue
            if isinstance(last, Paragraph) and isinstance(element, Table) and not element.caption:
                found.pop()
                element = replace(element, caption=last.text)
            found.append(element)
            waits = isinstance(element, Picture) or (is_caption and isinstance(element, Paragraph))
        return found

    def _margins(self) -> Iterator[Paragraph]:
        """Yield each different line of the pages' headers and footers once, without page numbers."""
        lines: dict[str, None] = {}
        for kind in ("header", "footer"):
            for relation in self.part.rels.values():
                if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
                    root = parse_xml(relation.target_part.blob)
                    paragraphs = root.iter(qn("w:p")) if root is not None else ()
                    lines |= dict.fromkeys(" ".join(clean(self.runs.read(node).text).split()) for node in paragraphs)
        yield from (Paragraph(text=line) for line in lines if _NAMES.search(_PAGE_NUMBER.sub("", line)))

    def _blocks(self, parent: etree._Element, depth: int) -> Iterator[tuple[Element, bool]]:
        if depth > _DEEPEST:
            if plain_text(parent).strip():
                yield TOO_DEEP, False
            return
        for node in children(parent):
            if node.tag == qn("w:p"):
                style = self._style(node)
                if style.kind == "toc":
                    continue
                run = self.runs.read(node)
                text = clean(run.text).strip()
                if text:
                    yield self._text(node, style, text, run), style.kind == "caption"
                for note in run.notes:
                    yield Paragraph(text=note), False
                for relation, alt in run.pictures:
                    for kept in self.pictures.save(blob(self.part, relation), alt):
                        yield kept, False
                for relation in run.charts:
                    for element in read_chart(blob(self.part, relation)):
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

    def _text(self, node: etree._Element, style: Style, text: str, run: Run) -> Element:
        # The marker and the indent of a list item.
        place = list_place(node.find(qn("w:pPr"))) or style.numbering
        if place is None or place[0] == "0":
            marker, indent = "", ""
        else:
            marker, indent = self.numbering.next(*place), "  " * min(place[1], 8)
        # The level as a heading, 0 for running text.
        if style.kind == "title" and not self.titled:
            self.titled = True
            level = 1
        else:
            level = self._styled_level(node)
            if level:
                level = level + 1 if self.titled else level
            elif self.has_headings or not run.bold or run.pictures:
                level = 0
            else:
                # In a document without heading styles, short bold lines are meant as headings.
                level = (chapter_level(text) or 2) if looks_like_title(text) else 0
        if level:
            number = "" if marker == "-" else marker
            return Heading(text=" ".join(f"{number} {text}".split()), level=level)
        if style.kind == "code":
            return Code(text=clean(run.text).rstrip())
        return Paragraph(text=f"{indent}{marker} {text}" if marker else text)

    def _styled_level(self, node: etree._Element) -> int:
        own = outline_level(node.find(qn("w:pPr")))
        style = self._style(node)
        level = own if own is not None else style.outline
        if not level and style.kind == "title":
            return 1
        return level if level and level <= 9 else 0

    def _style(self, node: etree._Element) -> Style:
        return self.styles.of(value(node.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")))

    # Tables

    def _cells(
        self, row: etree._Element, cells: list[etree._Element], others: list[Element], depth: int
    ) -> list[tuple[Cell, str]]:
        """Return a row's cells, each with how it is merged with the one above: "restart", "continue" or ""."""
        before = value(row.find(f"{qn('w:trPr')}/{qn('w:gridBefore')}"))  # columns skipped at the start of the row
        line = [(Cell(""), "")] * min(number_in(before, 0), 100)
        for cell in cells:
            span = value(cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}"))
            merge = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
            kind = "" if merge is None else (value(merge) or "continue")
            lines: list[str] = []
            for element, _ in self._blocks(cell, depth + 1) if kind != "continue" else ():
                if isinstance(element, Picture | Notice):
                    others.append(element)
                elif isinstance(element, Table):
                    lines += [" | ".join(texts) for texts in (element.columns, *element.rows) if any(texts)]
                elif isinstance(element, Heading | Paragraph | Code):
                    lines.append(element.text)
            line.append((Cell("\n".join(lines), int(span) if span.isdigit() and len(span) < 4 else 1), kind))
        return line


def _related(part: Any, kind: str) -> etree._Element | None:
    for relation in part.rels.values():
        if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
            return parse_xml(relation.target_part.blob)
    return None


def _notes(part: Any, kind: str) -> dict[str, etree._Element]:
    root = _related(part, kind)
    nodes = [] if root is None else list(root)
    return {node.get(qn("w:id"), ""): node for node in nodes if node.get(qn("w:type")) in (None, "normal")}
