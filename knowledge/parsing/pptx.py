"""PowerPoint (pptx): each slide a page under its title, its shapes in reading order, then its notes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.exc import PythonPptxError

from knowledge.parsing.charts import read_chart
from knowledge.parsing.decoding import clean
from knowledge.parsing.elements import Element, Heading, Notice, PageBreak, Paragraph, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import TOO_DEEP
from knowledge.parsing.ooxml import BROKEN, blob, broken, check_package, whole
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables import Cell, table_of
from knowledge.parsing.text import looks_like_title

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_FURNITURE = {PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.HEADER}
_TITLES = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
_ROW = 300_000  # EMU, a third of an inch: shapes whose tops are nearer than this stand side by side
_DEEPEST = 10  # groups within groups


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a presentation's elements slide by slide; raises `ParseError` when protected, broken or empty."""
    check_package(path, "ppt/", "PowerPoint (.pptx)")
    pictures = PictureStore(context.output_dir)
    found = False
    try:
        slides = list(Presentation(str(whole(path, context.output_dir))).slides)
        if len(slides) > context.max_pages:
            raise ParseError("too_many_pages.slides", slides=len(slides), most=context.max_pages)
        for number, slide in enumerate(slides, 1):
            yield PageBreak(page=number, total=len(slides))
            for element in _Slide(slide, number, pictures).run():
                found = found or not isinstance(element, Notice)
                yield element
    except (*BROKEN, PythonPptxError) as error:
        raise broken(error) from error
    if slides and (title := _title_of(slides[0])) is not None:
        yield Title(text=_line(title.text_frame.text))
    if not found:
        raise ParseError("no_text.slides")


def _title_of(slide: Any) -> Any:
    """Return the shape that holds a slide's title, or None."""
    for shape in slide.shapes:
        if shape.is_placeholder and shape.placeholder_format.type in _TITLES and _line(shape.text_frame.text):
            return shape
    return None


class _Slide:
    """Reads one slide."""

    def __init__(self, slide: Any, page: int, pictures: PictureStore) -> None:
        self.slide, self.page, self.pictures = slide, page, pictures

    def run(self) -> Iterator[Element]:
        """Yield the title, the shapes from top to bottom, and the notes."""
        title = _title_of(self.slide)
        rest: list[Element] = []
        for shape in _in_reading_order(self.slide.shapes):
            if title is None or shape.shape_id != title.shape_id:
                rest += self._shape(shape, 0)
        frame = self.slide.notes_slide.notes_text_frame if self.slide.has_notes_slide else None
        rest += self._text(frame) if frame is not None else ()
        if title is not None:
            yield Heading(page=self.page, text=_line(title.text_frame.text), level=1)
        elif rest:
            first = rest[0]
            named = len(rest) > 1 and isinstance(first, Paragraph) and looks_like_title(first.text)
            if named and isinstance(first, Paragraph) and not first.text.startswith(("- ", " ", "1. ")):
                rest[0] = Heading(page=self.page, text=first.text, level=1)
            else:
                yield Heading(page=self.page, text=f"Slide {self.page}", level=1)
        yield from rest

    def _shape(self, shape: Any, depth: int) -> Iterator[Element]:
        if shape.is_placeholder and shape.placeholder_format.type in _FURNITURE:
            return
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            if depth >= _DEEPEST:
                yield TOO_DEEP
                return
            for inner in _in_reading_order(shape.shapes):
                yield from self._shape(inner, depth + 1)
        elif shape.has_text_frame:
            yield from self._text(shape.text_frame)
            yield from self._pictures(shape)
        elif getattr(shape, "has_table", False) and shape.has_table:
            rows: list[list[Cell]] = []
            for row in shape.table.rows:
                cells: list[Cell] = []
                for cell in row.cells:
                    if not cell.is_spanned:
                        text = "\n".join(filter(None, (_text_of(node) for node in cell._tc.iter(f"{_A}p"))))
                        width, height = (cell.span_width, cell.span_height) if cell.is_merge_origin else (1, 1)
                        cells.append(Cell(text, width, height))
                rows.append(cells)
            header = 1 if shape.table.first_row and len(rows) > 1 else None
            yield from table_of(rows, header_rows=header, page=self.page)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            yield from read_chart(shape.part.related_part(shape._element.chart_rId).blob, self.page)
        else:
            # The words of a SmartArt diagram lie in a part of their own.
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            for node in shape._element.iter(f"{{{_DIAGRAM}}}relIds"):
                data = blob(shape.part, node.get(f"{_R}dm"))
                root = etree.fromstring(data, parser) if data else None
                for paragraph in root.iter(f"{_A}p") if root is not None else ():
                    text = _text_of(paragraph)
                    if text:
                        yield Paragraph(page=self.page, text=f"- {text}")
            yield from self._pictures(shape)

    def _text(self, frame: Any) -> Iterator[Element]:
        """Yield a frame's paragraphs; those of a list, or further in, are marked as items."""
        paragraphs = [(node, _text_of(node)) for node in frame._txBody.iter(f"{_A}p")]
        filled = [(node, text) for node, text in paragraphs if text]
        counts: dict[int, int] = {}
        for node, text in filled:
            properties = node.find(f"{_A}pPr")
            declared = properties.get("lvl", "0") if properties is not None else "0"
            level = min(int(declared), 8) if declared.isdigit() else 0
            counts = {place: count for place, count in counts.items() if place <= level}
            if _has_mark(node, "buAutoNum"):
                counts[level] = counts.get(level, 0) + 1
                marker = "  " * level + f"{counts[level]}. "
            else:
                counts.pop(level, None)
                marker = "  " * max(0, level) + "- " if level or _has_mark(node, "buChar") else ""
            yield Paragraph(page=self.page, text=marker + text)

    def _pictures(self, shape: Any) -> Iterator[Element]:
        properties = next(iter(shape._element.xpath(".//p:cNvPr")), None)
        alt = "" if properties is None else _line(properties.get("descr") or "")
        for node in shape._element.iter(f"{_A}blip"):
            yield from self.pictures.save(blob(shape.part, node.get(f"{_R}embed")), alt, self.page)


def _in_reading_order(shapes: Any) -> list[Any]:
    """Shapes from top to bottom, those side by side from left to right; shapes that inherit their place keep theirs."""
    rows: list[tuple[int, int, int, Any]] = []
    top = 0
    placed = sorted(enumerate(shapes), key=lambda item: (_place(item[1].top), item[0]))
    row_top = None
    for number, shape in placed:
        top = _place(shape.top)
        if row_top is None or top - row_top > _ROW:
            row_top = top
        rows.append((row_top, _place(shape.left), number, shape))
    return [shape for *_, shape in sorted(rows, key=lambda item: item[:3])]


def _place(value: int | None) -> int:
    return int(value) if value is not None else 0


def _text_of(paragraph: etree._Element) -> str:
    """Return a paragraph's text, with its line breaks."""
    parts: list[str] = []
    for node in paragraph.iter(f"{_A}t", f"{_A}br"):
        parts.append("\n" if node.tag == f"{_A}br" else node.text or "")
    return clean("".join(parts)).strip()


def _has_mark(paragraph: etree._Element, kind: str) -> bool:
    properties = paragraph.find(f"{_A}pPr")
    return properties is not None and properties.find(f"{_A}{kind}") is not None


def _line(text: str) -> str:
    return " ".join(clean(text).split())
