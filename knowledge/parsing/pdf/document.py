"""PDF documents: text in reading order, headings, tables and pictures, using pdfium."""

import logging
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw
from PIL import Image

from knowledge.parsing.elements import (
    Code,
    Element,
    Heading,
    Notice,
    PageBreak,
    Paragraph,
    Picture,
    Scanned,
    Table,
    Title,
)
from knowledge.parsing.errors import ParseError
from knowledge.parsing.images.kept import recognise
from knowledge.parsing.limits import too_many_pictures
from knowledge.parsing.pdf import pictures, scans
from knowledge.parsing.pdf.layout import Block, Row, blocks_of, code_text, hyphenated, regions, rows_of
from knowledge.parsing.pdf.page_breaks import levelled, stitched
from knowledge.parsing.pdf.shapes import Shapes, read_shapes
from knowledge.parsing.pdf.style import (
    Styles,
    contents_lines,
    edge_keys,
    edge_lines,
    is_only_contents,
    is_running,
    read_bookmarks,
    survey,
    without_leaders,
)
from knowledge.parsing.pdf.tables import Found, find_loose_tables, find_tables, inside
from knowledge.parsing.pdf.text import Box, Line, Mark, PageText, Word, line_of, read_text
from knowledge.parsing.pdf.vertical import QUARTERS, columns_of, turned_lines
from knowledge.parsing.registry import ParseContext

logger = logging.getLogger(__name__)

PICTURE_POINTS = 842  # assumed length of a picture's longer side, that of a sheet of paper
SAMPLE = 24  # pages read beforehand for the body size and repeated pictures
AROUND = 4  # pages on each side that running heads are compared with
MIN_LINES_ACROSS = 4  # lines perpendicular to a page's other text; fewer are a notice in the margin
HEAD_PIECES = 3  # parts of a running head, side by side
SHORT = 12  # characters of a paragraph between two announced items: "or", "and"
GARBLED = 0.5  # share of unmapped characters that makes a page unreadable

_TO_TICK = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
# Exceptions from pdfium and broken geometry; such a page is left out, and reading continues.
_PAGE_ERRORS = (pdfium.PdfiumError, ValueError, ArithmeticError, LookupError)


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield the elements of a PDF, page by page.

    Raises `ParseError`: encrypted, broken, empty, too_many_pages, no_text (only pictures of text, or fonts without a
    mapping to characters).
    """
    with closing(open_document(path)) as document:
        total = len(document)
        if total == 0:
            raise ParseError("empty.no_pages")
        if total > context.max_pages:
            raise ParseError("too_many_pages", pages=total, most=context.max_pages)
        yield from levelled(stitched(_Reader(document, context).elements()))
        try:
            metadata_title = str(document.get_metadata_value("Title"))
        except ValueError:  # not UTF-16, which PDF requires
            metadata_title = ""
        yield Title(text=metadata_title, shown=False)


def read_picture(picture: Image.Image, number: int, context: ParseContext) -> list[Element]:
    """Return the elements of the words in a picture, page `number` of its file, laid out like a page."""
    scale = max(picture.size) / PICTURE_POINTS
    text, shapes, styles = scans.laid_out(recognise(number, lambda: picture, context), scale)
    return _Reader((), context).read_scan(_Page(number, text, shapes, set(), 0, scanned=True, styles=styles))


def open_document(path: Path) -> pdfium.PdfDocument:
    """Open a PDF; raises `ParseError` if it needs a password or is damaged."""
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise ParseError("encrypted.pdf") from error
        raise ParseError("broken.pdf") from error
    if document.get_formtype() != raw.FORMTYPE_NONE:
        document.init_forms()
    return document


@contextmanager
def _page_as_filled_in(document: pdfium.PdfDocument, number: int) -> Iterator[tuple[pdfium.PdfPage, list[Mark]]]:
    """Yield a page and its checkboxes; if it has form fields or text notes, a copy into which they are flattened.

    It is a copy, since pdfium loses the character mapping of some fonts when it flattens the page itself. Checkboxes
    are not flattened: a tick is drawn as a shape, or as an arbitrary letter of a font of ornaments.
    """
    with closing(document[number - 1]) as page:
        kinds: set[int] = set()
        marks: list[Mark] = []
        ticked: list[int] = []
        for index in range(raw.FPDFPage_GetAnnotCount(page)):
            note = raw.FPDFPage_GetAnnot(page, index)
            kinds.add(raw.FPDFAnnot_GetSubtype(note))
            place = raw.FS_RECTF()
            hidden = raw.FPDFAnnot_GetFlags(note) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW)
            kind = raw.FPDFAnnot_GetFormFieldType(document.formenv, note) if document.formenv else None
            if kind in _TO_TICK and not hidden and raw.FPDFAnnot_GetRect(note, place):
                box = (place.left, place.bottom, place.right, place.top)
                marks.append((box, "☑" if raw.FPDFAnnot_IsChecked(document.formenv, note) else "☐"))
                ticked.append(index)
            raw.FPDFPage_CloseAnnot(note)
        if not kinds & {raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT}:
            yield page, marks
            return
        with closing(pdfium.PdfDocument.new()) as copy:
            copy.import_pages(document, [number - 1])
            with closing(copy[0]) as plain:
                for index in reversed(ticked):
                    raw.FPDFPage_RemoveAnnot(plain, index)
                raw.FPDFPage_Flatten(plain, raw.FLAT_NORMALDISPLAY)
            with closing(copy[0]) as filled:
                yield filled, marks


@dataclass(slots=True)
class _Page:
    """A page as read, before its layout is analysed."""

    number: int
    text: PageText
    shapes: Shapes
    keys: set[tuple[str, int]]
    rotation: int  # the page's own, degrees clockwise
    across: list["_Page"] = field(default_factory=list)  # its perpendicular text, turned upright
    scanned: bool = False  # whether its words are in a picture
    styles: Styles | None = None  # its own, if they were measured on a picture
    is_vertical: bool = False  # whether its lines are columns of Chinese characters, turned


@dataclass(slots=True)
class _Tally:
    """Counts of what the document contains."""

    characters: int = 0
    garbled: int = 0
    failed: int = 0
    pictured: int = 0
    saved: int = 0
    later: int = 0  # pages to be read with OCR
    known: set[str] = field(default_factory=set)
    left_out: set[Notice] = field(default_factory=set)


class _Reader:
    """Reads a document, a few pages ahead of what it yields, to distinguish running heads from text."""

    def __init__(self, document: Any, context: ParseContext) -> None:
        """Create a reader for a `PdfDocument`, or, for a picture, an empty sequence."""
        self._document = document
        self._context = context
        self._total = len(document)
        self._tally = _Tally()
        self._sample: dict[int, _Page] = {}
        self._above: Found | None = None  # a table without rules at the end of the page before
        self._styles = Styles()
        self._is_only_contents = False
        self._logos: set[tuple[int, ...]] = set()

    def elements(self) -> Iterator[Element]:
        """Yield all elements; raises `ParseError` at the end if there was no text."""
        step = max(1, self._total // SAMPLE)
        for number in range(1, self._total + 1, step):
            if (page := self._read(number)) is not None:
                self._sample[number] = page
        sample = list(self._sample.values())
        try:
            bookmarks = read_bookmarks(self._document)
        except _PAGE_ERRORS:
            bookmarks = {}
        columns = (turned for page in sample for turned in page.across if turned.is_vertical)
        self._styles = survey((page.text.lines for page in chain(sample, columns)), bookmarks)
        self._is_only_contents = is_only_contents(page.text.lines for page in sample)
        self._logos = pictures.logos(page.shapes.pictures for page in sample)
        for number, page, around in self._windows():
            if page is None:
                yield PageBreak(page=number, total=self._total)
                self._tally.failed += 1
                continue
            recognised = scans.recognised(page.text) if page.styles is not None else ()
            yield PageBreak(page=number, total=self._total, recognised=recognised)
            try:
                elements = self._understand(page, around)
            except _PAGE_ERRORS as error:
                logger.warning("Page %d was left out: %s", number, type(error).__name__)
                self._tally.failed += 1
                continue
            yield from elements
            for turned in page.across:
                with suppress(*_PAGE_ERRORS):
                    yield from self._understand(turned, [])
        tally = self._tally
        readable = tally.characters and tally.pictured * 2 < self._total
        if not tally.later and not readable and tally.characters <= 8 * max(1, tally.pictured):
            if tally.garbled:
                raise ParseError("no_text.fonts")
            if tally.pictured or tally.characters:
                raise ParseError("no_text.scanned")
            if tally.failed == self._total:
                raise ParseError("broken.all_pages")
            raise ParseError("empty.pages")
        yield from sorted(self._tally.left_out, key=lambda notice: notice.key)

    def read_scan(self, page: _Page) -> list[Element]:
        """Return the elements of a single page whose words were read with OCR."""
        return self._understand(page, [])

    def _windows(self) -> Iterator[tuple[int, _Page | None, list[set[tuple[str, int]]]]]:
        """Yield the page number, the page (None if it can't be read) and the edge keys of the pages around it."""
        window: deque[tuple[int, _Page | None]] = deque()
        keys: deque[tuple[int, set[tuple[str, int]]]] = deque(maxlen=2 * AROUND + 1)
        for number in range(1, self._total + AROUND + 1):
            if number <= self._total:
                page = self._sample.pop(number, None)
                if page is None or page.scanned:
                    page = self._read(number, read_scan=self._context.ocr in ("auto", "always"))
                window.append((number, page))
                keys.append((number, page.keys if page is not None else set()))
            if number > AROUND and window:
                current, page = window.popleft()
                yield current, page, [other for n, other in keys if n != current and abs(n - current) <= AROUND]

    def _read(self, number: int, read_scan: bool = False) -> _Page | None:
        try:
            with _page_as_filled_in(self._document, number) as (page, marks):
                text = read_text(page, marks=marks)
                shapes = read_shapes(page, text.turn, text.width, text.height)
                across: list[_Page] = []
                for quarters in text.across:
                    turned = read_text(page, quarters)
                    if len(turned.lines) >= MIN_LINES_ACROSS:
                        drawn = Shapes(read_shapes(page, turned.turn, turned.width, turned.height).edges)
                        across.append(_Page(number, turned, drawn, set(), page.get_rotation()))
                scanned = self._context.ocr == "always" or scans.is_scan(text, shapes)
                styles = None
                if scanned and read_scan:
                    text, shapes, styles = scans.read(page, number, self._context)
                elif not scanned and (columns := columns_of(text.lines)):
                    vertical = read_text(page, (text.quarters + QUARTERS) % 4)
                    vertical.lines = turned_lines(columns, vertical.lines, text.width)
                    taken = set(map(id, columns))
                    text.lines = [line for line in text.lines if id(line) not in taken]
                    across = [turned for turned in across if turned.text.quarters != vertical.quarters]
                    drawn = Shapes(read_shapes(page, vertical.turn, vertical.width, vertical.height).edges)
                    across.append(_Page(number, vertical, drawn, set(), page.get_rotation(), is_vertical=True))
                keys = edge_keys(text.lines, text.height, number)
                return _Page(number, text, shapes, keys, page.get_rotation(), across, scanned, styles)
        except _PAGE_ERRORS as error:
            logger.warning("Page %d can't be read: %s", number, type(error).__name__)
            return None

    def _understand(self, page: _Page, around: Sequence[set[tuple[str, int]]]) -> list[Element]:
        edges, rows = self._running(page, around)
        contents = set(map(id, contents_lines(page.text.lines)))
        lines = [line for line in page.text.lines if id(line) not in contents]
        if self._is_only_contents:
            lines = [part for line in page.text.lines for part in without_leaders(line)]
        if page.scanned and page.styles is None and self._context.ocr == "later":
            self._tally.later += 1
            return [Scanned(page=page.number)]
        self._tally.pictured += bool(page.shapes.pictures)
        characters = sum(len(line.text) for line in page.text.lines)
        if page.text.unreadable > GARBLED:
            self._tally.garbled += characters
            return []
        self._tally.characters += characters
        # A table's first and last rows may repeat on other pages too; if all of it repeats, it is a head in a frame.
        tables = []
        for table in find_tables(page.shapes.edges, lines):
            within = {id(line) for line in lines if inside(line, table.box)}
            if 2 * len(within & edges) < len(within):
                tables.append(table)
                edges -= within
        # Rows of tables without rules may repeat too.
        for table in find_loose_tables(lines, self._above):
            within = {id(line) for line in lines if inside(line, table.box)}
            if 2 * len(within & edges) < len(within):
                rows_within = [row for row in rows if any(id(line) in within for line in row)]
                edges -= {id(line) for row in rows_within if len(row) > 1 for line in row}
        lines = [line for line in lines if id(line) not in edges]
        self._tally.known |= hyphenated(lines)
        lines = [line for line in lines if not any(inside(line, table.box) for table in tables)]
        loose = find_loose_tables(lines, self._above)
        self._above = loose[-1] if loose and not any(line.y0 > loose[-1].box[3] for line in lines) else None
        lines = [line for line in lines if not any(inside(line, table.box) for table in loose)]
        tables += loose
        width, height = page.text.width, page.text.height
        figures = pictures.figures(page.shapes.pictures, self._logos, width, height)
        if len(figures) > pictures.MAX_PER_PAGE:
            self._tally.left_out.add(pictures.CROWDED)
            del figures[pictures.MAX_PER_PAGE :]
        labels: dict[Box, str] = {}
        if any(pictures.FIGURE.match(line.text) for line in lines):
            # Drawings are kept only with a caption; the other lines within them are labels.
            taken = [table.box for table in tables] + figures
            single = [Block([Row([line])], line.text) for line in lines]
            for drawing in pictures.drawings(page.shapes.drawn, taken, width, height):
                caption = pictures.caption_of(drawing, single, pictures.FIGURE)
                if caption is not None:
                    figures.append(drawing)
                    first = caption.rows[0].lines[0]
                    inner = [line for line in lines if line is not first and inside(line, drawing)]
                    labels[drawing] = pictures.labels_of(inner)
                    lines = [line for line in lines if not any(line is label for label in inner)]
        return self._elements(page, lines, tables, figures, labels)

    def _running(self, page: _Page, around: Sequence[set[tuple[str, int]]]) -> tuple[set[int], list[list[Line]]]:
        """Return the ids of the lines that repeat on the pages around, and the rows of lines at the page's edges."""
        edges: set[int] = set()
        rows: list[list[Line]] = []
        place = {id(line): number for number, line in enumerate(page.text.lines)}
        sorted_lines = sorted(page.text.lines, key=lambda line: line.middle)
        middles = [line.middle for line in sorted_lines]
        for line in edge_lines(page.text.lines, page.text.height):
            start = bisect_right(middles, line.middle - line.size / 2)
            level = sorted_lines[start : bisect_left(middles, line.middle + line.size / 2)]
            beside = sorted((other for other in level if other is not line), key=lambda other: place[id(other)])
            if is_running(line, page.number, around, (page.styles or self._styles).body, beside):
                edges.add(id(line))
            rows.append([line, *beside])
        for row in rows:
            # More parts than a head's left, middle and right, few of which repeat on other pages, are a table's cells.
            if len(row) > HEAD_PIECES and 2 * sum(id(line) in edges for line in row) < len(row):
                edges -= set(map(id, row))
        return edges, rows

    def _elements(
        self,
        page: _Page,
        lines: list[Line],
        tables: Sequence[Found],
        figures: Sequence[Box],
        labels: dict[Box, str],
    ) -> list[Element]:
        """Return the text, tables and figures of a page in reading order, with captions added to tables and figures."""
        styles = page.styles or self._styles
        stand_ins: list[Line] = []  # placeholders for tables and pictures while the reading order is determined
        stands_for: dict[int, Box] = {}
        for box in [*(table.box for table in tables), *figures]:
            line = line_of(Word(*box, "a table or picture stands here", 10, False, False, False))
            stand_ins.append(line)
            stands_for[id(line)] = box
        placed: list[Block | Box] = []
        # Lines that end beyond this x run well into the right margin, which is assumed to be as wide as the left.
        limit = page.text.width - max(min((line.x0 for line in lines), default=0.0), 0.0) / 4
        for region in regions(lines + stand_ins):
            floats = sorted((stands_for[id(line)] for line in region if id(line) in stands_for), key=lambda box: box[1])
            rows = rows_of(line for line in region if id(line) not in stands_for)
            for block in blocks_of(rows, styles.body, self._tally.known, limit, runs_on=page.is_vertical):
                while floats and floats[0][1] <= block.box[1]:
                    placed.append(floats.pop(0))
                placed.append(block)
            placed += floats
        blocks = [item for item in placed if isinstance(item, Block)]
        captions: list[Block] = []
        floating: dict[Box, Table | Picture] = {}
        for table in tables:
            caption = pictures.caption_of(table.box, blocks, pictures.TABLE)
            if caption is not None:
                captions.append(caption)
            title = caption.text if caption is not None else table.title
            floating[table.box] = Table(page=page.number, columns=table.columns, rows=table.rows, caption=title)
        for box, picture in self._pictures(page, figures, blocks, captions):
            floating[box] = replace(picture, labels=labels.get(box, ""))
        elements: list[Element] = []
        announced = False
        for item in placed:
            if not isinstance(item, Block):
                elements += [floating[item]] if item in floating else []
            elif any(item is caption for caption in captions):
                continue
            elif item.mono and len(item.rows) > 1:
                elements.append(Code(page=page.number, text=code_text(item.rows)))
            elif (level := styles.level(item, page.number, announced)) is not None:
                elements.append(Heading(page=page.number, text=item.text.strip(), level=level))
                announced = False
            else:
                text = item.text.strip()
                elements.append(Paragraph(page=page.number, text=text))
                announced = text.endswith((":", "：")) or (announced and (item.bold or len(text) <= SHORT))
        return [element for element in elements if not isinstance(element, Paragraph | Code) or element.text.strip()]

    def _pictures(
        self, page: _Page, figures: Sequence[Box], blocks: Sequence[Block], captions: list[Block]
    ) -> Iterator[tuple[Box, Picture]]:
        if not figures:
            return
        with closing(self._document[page.number - 1]) as source:
            for box in sorted(figures, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]), reverse=True):
                if self._tally.saved >= pictures.MAX_PER_DOCUMENT:
                    self._tally.left_out.add(too_many_pictures(pictures.MAX_PER_DOCUMENT))
                    return
                name = f"page-{page.number}-{self._tally.saved + 1}.png"
                rotation = (90 * page.text.quarters - page.rotation) % 360
                size = (page.text.width, page.text.height)
                saved = pictures.save(source, rotation, box, size, self._context.output_dir / name)
                if saved is None:
                    continue
                self._tally.saved += 1
                free = [block for block in blocks if not any(block is caption for caption in captions)]
                caption = pictures.caption_of(box, free, pictures.FIGURE)
                if caption is not None:
                    captions.append(caption)
                alt = caption.text if caption is not None else ""
                yield box, Picture(page=page.number, path=name, alt=alt, width=saved[0], height=saved[1])
