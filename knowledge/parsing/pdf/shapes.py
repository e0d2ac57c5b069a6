"""The shapes on a PDF page: ruling lines, pictures and drawings, with coordinates as in `pdf.text`."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from knowledge.parsing.pdf.text import Box, Turn

MAX_OBJECTS = 30_000  # drawn objects read per page; maps and plots have more, tables don't
MAX_SEGMENTS = 400  # segments of a path that may contain ruling lines; drawings have more
MAX_DEPTH = 4  # forms within forms
THIN = 2.5  # points; a filled shape thinner than this is a line
SHORT = 4.0  # points; shorter lines are not ruling lines


@dataclass(frozen=True, slots=True)
class Edge:
    """A ruling line: `at` is its y (horizontal) or x (vertical), from `start` to `end` along the other axis; points."""

    horizontal: bool
    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A picture's box on the page, in points, and its size in pixels."""

    box: Box
    width: int
    height: int


@dataclass(slots=True)
class Shapes:
    """The shapes on a page."""

    edges: list[Edge] = field(default_factory=list)
    pictures: list[Placed] = field(default_factory=list)
    drawn: list[Box] = field(default_factory=list)  # the boxes of all paths


def read_shapes(page: pdfium.PdfPage, turn: Turn, width: float, height: float) -> Shapes:
    """Return the page's shapes; `turn`, `width` and `height` come from `pdf.text.read_text`."""
    shapes = Shapes()
    for item, kind, matrix in _objects(page.raw):
        bounds = [ctypes.c_float() for _ in range(4)]
        if not raw.FPDFPageObj_GetBounds(item, *bounds):
            continue
        box = turn(*matrix.on_rect(*(value.value for value in bounds)))
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            across, down = ctypes.c_uint(), ctypes.c_uint()
            if raw.FPDFImageObj_GetImagePixelSize(item, across, down):
                shapes.pictures.append(Placed(box, across.value, down.value))
        elif not _is_invisible(item):
            x0, y0, x1, y1 = box
            wide, high = x1 - x0, y1 - y0
            if wide > 0.97 * width and high > 0.97 * height:
                continue
            shapes.drawn.append(box)
            if high <= THIN and wide >= SHORT:
                shapes.edges.append(Edge(True, (y0 + y1) / 2, x0, x1))
            elif wide <= THIN and high >= SHORT:
                shapes.edges.append(Edge(False, (x0 + x1) / 2, y0, y1))
            elif max(wide, high) >= SHORT and raw.FPDFPath_CountSegments(item) <= MAX_SEGMENTS:
                shapes.edges += _segments(item, _matrix(item).multiply(matrix), turn)
    return shapes


def _objects(page: Any) -> Iterator[tuple[Any, int, pdfium.PdfMatrix]]:
    """Yield paths and pictures with the matrix of the form objects around them."""
    budget = [MAX_OBJECTS]
    wanted = (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE)

    def walk(count: int, get: Any, container: Any, outer: Any, depth: int) -> Iterator[tuple[Any, int, Any]]:
        for index in range(count):
            budget[0] -= 1
            if budget[0] < 0:
                return
            item = get(container, index)
            kind = raw.FPDFPageObj_GetType(item)
            if kind in wanted:
                yield item, kind, outer
            elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH:
                inner = _matrix(item).multiply(outer)
                yield from walk(raw.FPDFFormObj_CountObjects(item), raw.FPDFFormObj_GetObject, item, inner, depth + 1)

    return walk(raw.FPDFPage_CountObjects(page), raw.FPDFPage_GetObject, page, pdfium.PdfMatrix(), 0)


def _matrix(item: Any) -> pdfium.PdfMatrix:
    matrix = raw.FS_MATRIX()
    return pdfium.PdfMatrix.from_raw(matrix) if raw.FPDFPageObj_GetMatrix(item, matrix) else pdfium.PdfMatrix()


def _is_invisible(item: Any) -> bool:
    """Return whether a path is neither stroked nor filled, or only filled with white."""
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(item, mode, stroke) or stroke.value:
        return False
    if mode.value == raw.FPDF_FILLMODE_NONE:
        return True
    colour = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(item, *colour):
        return False
    red, green, blue, alpha = (value.value for value in colour)
    return alpha == 0 or min(red, green, blue) >= 253


def _segments(item: Any, matrix: pdfium.PdfMatrix, turn: Turn) -> Iterator[Edge]:
    """Yield the vertical and horizontal segments of a path."""
    last: tuple[float, float] | None = None
    x, y = ctypes.c_float(), ctypes.c_float()
    start: tuple[float, float] | None = None
    for index in range(raw.FPDFPath_CountSegments(item)):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        kind = raw.FPDFPathSegment_GetType(segment)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = matrix.on_point(x.value, y.value)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == raw.FPDF_SEGMENT_LINETO and last is not None:
            yield from _edge(last, point, turn)
        last = point
        if raw.FPDFPathSegment_GetClose(segment) and start is not None:
            yield from _edge(point, start, turn)


def _edge(start: tuple[float, float], end: tuple[float, float], turn: Turn) -> Iterator[Edge]:
    x0, y0, x1, y1 = turn(min(start[0], end[0]), min(start[1], end[1]), max(start[0], end[0]), max(start[1], end[1]))
    if y1 - y0 < 0.7 and x1 - x0 >= SHORT:
        yield Edge(True, (y0 + y1) / 2, x0, x1)
    elif x1 - x0 < 0.7 and y1 - y0 >= SHORT:
        yield Edge(False, (x0 + x1) / 2, y0, y1)
