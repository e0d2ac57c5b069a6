"""Detects pages of a PDF that are pictures of text, and reads them with OCR."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import pypdfium2 as pdfium
from PIL import Image

from knowledge.parsing.elements import RecognisedLine
from knowledge.parsing.images import ocr
from knowledge.parsing.images.kept import Recognised, recognise
from knowledge.parsing.pdf.shapes import Edge, Shapes
from knowledge.parsing.pdf.style import Styles
from knowledge.parsing.pdf.text import LINE_GAP, Line, PageText, Word, is_cjk_join
from knowledge.parsing.registry import ParseContext

FEW = 30  # characters; a page with fewer has only something like a number or a stamp
PICTURED = 0.4  # least share of a scanned page that pictures cover
DRAWN = 150  # least number of shapes on a page whose letters are outlines
UNREADABLE = 0.5  # least share of unmapped characters
EM = 0.8  # font size, as a share of the height of a line's box in a picture
ALIKE = (0.7, 1.45)  # times the usual size: the range of box heights of a single font size


def is_scan(text: PageText, shapes: Shapes) -> bool:
    """Return whether a page's words are in a picture, in outlines, or in fonts without a character mapping."""
    characters = sum(len(line.text) for line in text.lines)
    if characters >= FEW:
        return text.unreadable > UNREADABLE
    area = text.width * text.height
    # The sum, since many scanners write a page as strips.
    covered = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in {item.box for item in shapes.pictures})
    return covered >= PICTURED * area or len(shapes.drawn) >= DRAWN


def read(page: pdfium.PdfPage, number: int, context: ParseContext) -> tuple[PageText, Shapes, Styles]:
    """Return the words and ruling lines of the picture of page `number`, in points, and its font sizes."""
    scale = ocr.LONGEST_SIDE / max(page.get_size())

    def rendered() -> Image.Image:
        bitmap = page.render(scale=scale)
        try:
            picture: Image.Image = bitmap.to_pil().copy()
            return picture
        finally:
            bitmap.close()

    return laid_out(recognise(number, rendered, context), scale)


def laid_out(picture: Recognised, scale: float) -> tuple[PageText, Shapes, Styles]:
    """Return the same for any picture; `scale` is in pixels per point."""
    found = picture.lines
    heights = [median(piece.box[3] - piece.box[1] for piece in line) for line in found]
    letters = [sum(len(piece.text) for piece in line) for line in found]
    usual = median(
        [height for height, count in zip(heights, letters, strict=True) for _ in range(count)] or [12 * scale]
    )
    # A heading's lines have the same size, although their letters make the boxes higher or lower.
    for index, (line, below) in enumerate(pairwise(found)):
        gap = min(piece.box[1] for piece in below) - max(piece.box[3] for piece in line)
        alike = ALIKE[0] < heights[index + 1] / heights[index] < ALIKE[1]
        if min(heights[index : index + 2]) >= ALIKE[1] * usual and alike and abs(gap) < heights[index]:
            heights[index + 1] = heights[index]
    lines = [
        line for pieces, height in zip(found, heights, strict=True) for line in _lines(pieces, height, usual, scale)
    ]
    edges = [Edge(rule.horizontal, rule.at / scale, rule.start / scale, rule.end / scale) for rule in picture.rules]
    body = round(EM * usual / scale, 1)
    larger = sorted({line.size for line in lines if line.size > body}, reverse=True)
    width, height = picture.width / scale, picture.height / scale
    return PageText(width, height, lines, lambda *box: box), Shapes(edges), Styles(body, larger)


def recognised(text: PageText) -> tuple[RecognisedLine, ...]:
    """Return the recognised lines of a page, with their boxes in fractions of the page."""
    across, down = text.width or 1, text.height or 1

    def share(value: float, whole: float) -> float:
        return round(min(max(value / whole, 0), 1), 4)

    return tuple(
        (line.text, share(line.x0, across), share(line.y0, down), share(line.x1, across), share(line.y1, down))
        for line in text.lines
    )


def _lines(pieces: Sequence[ocr.Piece], height: float, usual: float, scale: float) -> list[Line]:
    """Split a recognised line at wide gaps, since it may span the cells of a table."""
    size = round(EM * (usual if ALIKE[0] < height / usual < ALIKE[1] else height) / scale, 1)
    lines: list[Line] = []
    for piece in pieces:
        x0, y0, x1, y1 = (value / scale for value in piece.box)
        last = lines[-1].words[-1] if lines else None
        if last is None or x0 - last.x1 > LINE_GAP * size:
            lines.append(Line())
        elif not piece.spaced and not is_cjk_join(last.text, piece.text):
            # Latin letters and digits within Chinese are recognised one by one.
            last.text, last.x1 = last.text + piece.text, x1
            lines[-1].add(lines[-1].words.pop())
            continue
        lines[-1].add(Word(x0, y0, x1, y1, piece.text, size, False, False, piece.spaced))
    return lines
