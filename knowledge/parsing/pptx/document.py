"""PowerPoint (pptx): each slide is a page with its title, shapes in reading order, and notes."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.exc import PythonPptxError

from knowledge.parsing.charts import read_chart
from knowledge.parsing.decoding import as_shown, clean, raised
from knowledge.parsing.elements import Element, Heading, Notice, PageBreak, Paragraph, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import HIDDEN, HIDDEN_LEFT_OUT, HIDDEN_READ, STRUCK_OUT, TOO_DEEP, number_in
from knowledge.parsing.ooxml import BROKEN, COMPATIBILITY, MATH, A, R, blob, broken, check_package, parse_xml, whole
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.pptx.slides import in_reading_order, under_heading
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.layout import Cell, table_of
from ragsite.markup import tex

_DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_FURNITURE = {PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.HEADER}
_TITLES = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
_ROW = 300_000  # EMU, a third of an inch: shapes whose tops are closer than this are side by side
_ITEM = re.compile(r"- | |1\. ")
_DEEPEST = 10  # groups within groups


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a presentation's elements slide by slide; raises `ParseError` if it is protected, broken or empty."""
    check_package(path, "ppt/", "PowerPoint (.pptx)")
    pictures = PictureStore(context.output_dir)
    found = False
    try:
        slides = list(Presentation(str(whole(path, context.output_dir))).slides)
        if len(slides) > context.max_pages:
            raise ParseError("too_many_pages.slides", slides=len(slides), most=context.max_pages)
        has_hidden = has_struck_out = False
        for number, slide in enumerate(slides, 1):
            yield PageBreak(page=number, total=len(slides))
            is_hidden = slide._element.get("show") in ("0", "false")
            has_hidden = has_hidden or is_hidden
            if is_hidden and not context.hidden:
                continue
            struck = (node.get("strike", "noStrike") for node in slide._element.iter(f"{A}rPr"))
            has_struck_out = has_struck_out or any(kind != "noStrike" for kind in struck)
            for element in _Slide(slide, number, pictures).run():
                found = found or not isinstance(element, Notice)
                if is_hidden and isinstance(element, Heading):
                    element = replace(element, text=f"{element.text} {HIDDEN}")
                yield element
        if has_hidden:
            yield HIDDEN_READ if context.hidden else HIDDEN_LEFT_OUT
        if has_struck_out:
            yield STRUCK_OUT
    except (*BROKEN, PythonPptxError) as error:
        raise broken(error) from error
    if slides and (title := _title_of(slides[0])) is not None:
        yield Title(text=_in_one_line(title))
    if not found:
        raise ParseError("no_text.slides")


def _title_of(slide: Any) -> Any:
    """Return the shape with a slide's title, or None."""
    titles = (shape for shape in slide.shapes if shape.is_placeholder and shape.placeholder_format.type in _TITLES)
    return next((shape for shape in titles if _in_one_line(shape)), None)


class _Slide:
    """Reads a slide."""

    def __init__(self, slide: Any, page: int, pictures: PictureStore) -> None:
        self.slide, self.page, self.pictures = slide, page, pictures
        # Content for newer programs, such as text with a formula, has a fallback for older ones, often a picture: keep
        # the former if it has text.
        for alternatives in list(slide._element.iter(f"{COMPATIBILITY}AlternateContent")):
            chosen = alternatives.find(f"{COMPATIBILITY}Choice")
            if chosen is None or next(chosen.iter(f"{A}t", f"{MATH}t"), None) is None:
                chosen = alternatives.find(f"{COMPATIBILITY}Fallback")
            for child in () if chosen is None else list(chosen):
                alternatives.addprevious(child)
            alternatives.getparent().remove(alternatives)

    def run(self) -> Iterator[Element]:
        """Yield the title, the shapes from top to bottom, and the notes."""
        title = _title_of(self.slide)
        rest: list[Element] = []
        for shape in in_reading_order(self.slide.shapes, _place, _ROW):
            if title is None or shape.shape_id != title.shape_id:
                rest += self._shape(shape, 0)
        frame = self.slide.notes_slide.notes_text_frame if self.slide.has_notes_slide else None
        rest += self._text(frame) if frame is not None else ()
        yield from under_heading(self.page, "" if title is None else _in_one_line(title), rest, _ITEM)

    def _shape(self, shape: Any, depth: int) -> Iterator[Element]:
        if shape.is_placeholder and shape.placeholder_format.type in _FURNITURE:
            return
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            if depth >= _DEEPEST:
                yield TOO_DEEP
                return
            for inner in in_reading_order(shape.shapes, _place, _ROW):
                yield from self._shape(inner, depth + 1)
        elif shape.has_text_frame:
            yield from self._text(shape.text_frame)
            yield from self._pictures(shape)
        elif getattr(shape, "has_table", False):
            rows: list[list[Cell]] = []
            for row in shape.table.rows:
                cells: list[Cell] = []
                for cell in row.cells:
                    if not cell.is_spanned:
                        text = "\n".join(filter(None, (_text_of(node) for node in cell._tc.iter(f"{A}p"))))
                        width, height = (cell.span_width, cell.span_height) if cell.is_merge_origin else (1, 1)
                        cells.append(Cell(text, width, height))
                rows.append(cells)
            header = 1 if shape.table.first_row and len(rows) > 1 else None
            yield from table_of(rows, header_rows=header, page=self.page)
        elif getattr(shape, "has_chart", False):
            yield from read_chart(shape.part.related_part(shape._element.chart_rId).blob, self.page)
        else:
            # The text of a SmartArt diagram is in a separate part.
            for node in shape._element.iter(f"{{{_DIAGRAM}}}relIds"):
                data = blob(shape.part, node.get(f"{R}dm"))
                root = parse_xml(data) if data else None
                for paragraph in root.iter(f"{A}p") if root is not None else ():
                    if text := _text_of(paragraph):
                        yield Paragraph(page=self.page, text=f"- {text}")
            yield from self._pictures(shape)

    def _text(self, frame: Any) -> Iterator[Element]:
        """Yield a frame's paragraphs; those in a list, or indented, get list markers."""
        counts: dict[int, int] = {}
        for node in frame._txBody.iter(f"{A}p"):
            if not (text := _text_of(node)):
                continue
            properties = node.find(f"{A}pPr")
            declared = properties.get("lvl", "0") if properties is not None else "0"
            level = min(number_in(declared, 0), 8)
            counts = {place: count for place, count in counts.items() if place <= level}
            if node.find(f"{A}pPr/{A}buAutoNum") is not None:
                counts[level] = counts.get(level, 0) + 1
                marker = "  " * level + f"{counts[level]}. "
            else:
                counts.pop(level, None)
                has_bullet = level or node.find(f"{A}pPr/{A}buChar") is not None
                marker = "  " * level + "- " if has_bullet else ""
            yield Paragraph(page=self.page, text=marker + text)

    def _pictures(self, shape: Any) -> Iterator[Element]:
        properties = next(iter(shape._element.xpath(".//p:cNvPr")), None)
        alt = "" if properties is None else _line(properties.get("descr") or "")
        for node in shape._element.iter(f"{A}blip"):
            yield from self.pictures.save(blob(shape.part, node.get(f"{R}embed")), alt, self.page)


def _place(shape: Any) -> tuple[float, float]:
    return shape.top or 0, shape.left or 0  # None if they are inherited


def _text_of(paragraph: etree._Element) -> str:
    """Return a paragraph's text, with its line breaks."""
    parts: list[str] = []
    for node in paragraph.iter(f"{A}t", f"{A}br", f"{MATH}oMath"):
        if node.tag != f"{A}t":
            parts.append("\n" if node.tag == f"{A}br" else tex.of_office(node))
            continue
        struck = node.find(f"../{A}rPr[@strike]")
        if struck is not None and struck.get("strike") != "noStrike":
            continue
        # Typing "-->" inserts an arrow of Wingdings.
        font = node.find(f"../{A}rPr/{A}sym")
        text = as_shown(node.text or "", "" if font is None else font.get("typeface", ""), letters=False)
        above = node.find(f"../{A}rPr[@baseline]")
        is_raised = above is not None and not above.get("baseline", "").startswith(("-", "0"))
        parts.append(raised(text, parts) if is_raised else text)
    return clean("".join(parts)).strip()


def _in_one_line(shape: Any) -> str:
    return _line(" ".join(map(_text_of, shape.text_frame._txBody.iter(f"{A}p"))))


def _line(text: str) -> str:
    return " ".join(clean(text).split())
