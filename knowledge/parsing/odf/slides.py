"""OpenDocument presentations (odp): each slide a page under its title, its shapes in reading order, then its notes."""

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from knowledge.parsing.elements import Element, Heading, Notice, PageBreak, Paragraph, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.odf.blocks import Blocks
from knowledge.parsing.odf.package import DRAW, OFFICE, PRESENTATION, SVG, Package, telling_why, words_of
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.text import looks_like_title

_FURNITURE = {"date-time", "footer", "header", "page-number"}
_ROW_CM = 0.85  # shapes whose tops are nearer than this stand side by side
_ITEM = re.compile(r"\s*(?:-|\w{1,4}[.)]) ")
_LENGTH = re.compile(r"(-?[\d.]+)(cm|mm|in|pt|px)?")
_CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "px": 2.54 / 96}


@telling_why
def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a presentation's elements slide by slide; raises `ParseError` when protected, broken or empty."""
    with Package(path, context, "OpenDocument (.odp)") as package:
        root = package.part("content.xml")
        assert root is not None
        package.styles.read(root)
        slides = list(root.iterfind(f"{OFFICE}body/{OFFICE}presentation/{DRAW}page"))
        if len(slides) > context.max_pages:
            raise ParseError("too_many_pages.slides", slides=len(slides), most=context.max_pages)
        pictures = PictureStore(context.output_dir)
        found = False
        title = ""
        for number, slide in enumerate(slides, 1):
            yield PageBreak(page=number, total=len(slides))
            blocks = Blocks(package, pictures, number)
            titles = [shape for shape in slide if shape.get(f"{PRESENTATION}class") == "title" and _is_filled(shape)]
            heading = " ".join(words_of(titles[0]).split()) if titles else ""
            if number == 1:
                title = heading
            rest = [
                element
                for shape in _in_reading_order(slide)
                if shape not in titles[:1]
                for element in blocks.block(shape)
            ]
            for notes in slide.iterfind(f"{PRESENTATION}notes/{DRAW}frame"):
                if notes.get(f"{PRESENTATION}class") == "notes" and _is_filled(notes):
                    rest += blocks.block(notes)
            if heading:
                yield Heading(page=number, text=heading, level=1)
            elif rest:
                first = rest[0]
                named = len(rest) > 1 and isinstance(first, Paragraph) and not _ITEM.match(first.text)
                if named and isinstance(first, Paragraph) and looks_like_title(first.text):
                    rest[0] = Heading(page=number, text=first.text, level=1)
                else:
                    yield Heading(page=number, text=f"Slide {number}", level=1)
            found = found or bool(heading) or any(not isinstance(element, Notice) for element in rest)
            yield from rest
        if not found:
            raise ParseError("no_text.slides")
        yield Title(text=title)
        yield package.title()


def _is_filled(shape: etree._Element) -> bool:
    return shape.get(f"{PRESENTATION}placeholder") != "true" and bool(words_of(shape).strip())


def _in_reading_order(slide: etree._Element) -> list[etree._Element]:
    """Return a slide's shapes from top to bottom, those side by side from left to right."""
    shapes = [
        shape
        for shape in slide
        if isinstance(shape.tag, str)
        and shape.tag.startswith(DRAW)
        and shape.get(f"{PRESENTATION}class") not in _FURNITURE
        and shape.get(f"{PRESENTATION}placeholder") != "true"
    ]
    placed: list[tuple[float, float, int, etree._Element]] = []
    row_top = None
    for number, shape in sorted(enumerate(shapes), key=lambda item: (_place(item[1], "y"), item[0])):
        top = _place(shape, "y")
        if row_top is None or top - row_top > _ROW_CM:
            row_top = top
        placed.append((row_top, _place(shape, "x"), number, shape))
    return [shape for *_, shape in sorted(placed, key=lambda item: item[:3])]


def _place(shape: etree._Element, side: str) -> float:
    found = _LENGTH.match(shape.get(f"{SVG}{side}", ""))
    return float(found[1]) * _CENTIMETRES.get(found[2], 1.0) if found else 0.0
