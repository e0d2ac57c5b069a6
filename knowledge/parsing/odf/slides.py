"""OpenDocument presentations (odp): each slide is a page with its title, shapes in reading order, and notes."""

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from knowledge.parsing.elements import Element, Notice, PageBreak, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import HIDDEN, HIDDEN_LEFT_OUT, HIDDEN_READ, STRUCK_OUT
from knowledge.parsing.odf.blocks import Blocks
from knowledge.parsing.odf.package import DRAW, OFFICE, PRESENTATION, SVG, Package, reporting_broken, words_of
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.pptx.slides import in_reading_order, under_heading
from knowledge.parsing.registry import ParseContext

_FURNITURE = {"date-time", "footer", "header", "page-number"}
_ROW_CM = 0.85  # shapes whose tops are closer than this are side by side
_ITEM = re.compile(r"\s*(?:-|\w{1,4}[.)]) ")
_LENGTH = re.compile(r"(-?[\d.]+)(cm|mm|in|pt|px)?")
_CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "px": 2.54 / 96}


@reporting_broken
def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a presentation's elements slide by slide; raises `ParseError` if it is protected, broken or empty."""
    with Package(path, context, "OpenDocument (.odp)") as package:
        root = package.part("content.xml")
        assert root is not None
        package.styles.read(root)
        slides = list(root.iterfind(f"{OFFICE}body/{OFFICE}presentation/{DRAW}page"))
        if len(slides) > context.max_pages:
            raise ParseError("too_many_pages.slides", slides=len(slides), most=context.max_pages)
        pictures = PictureStore(context.output_dir)
        found = has_hidden = has_struck = False
        title = ""
        for number, slide in enumerate(slides, 1):
            yield PageBreak(page=number, total=len(slides))
            is_hidden = slide.get(f"{DRAW}style-name") in package.styles.hidden_slides
            has_hidden = has_hidden or is_hidden
            if is_hidden and not context.hidden:
                continue
            blocks = Blocks(package, pictures, number)
            titles = [shape for shape in slide if shape.get(f"{PRESENTATION}class") == "title" and _is_filled(shape)]
            heading = " ".join(words_of(titles[0]).split()) if titles else ""
            if number == 1:
                title = heading
            if is_hidden:
                heading = f"{heading or f'Slide {number}'} {HIDDEN}"
            shapes = in_reading_order(filter(_is_read, slide), _place, _ROW_CM)
            rest = [element for shape in shapes if shape not in titles[:1] for element in blocks.block(shape)]
            for notes in slide.iterfind(f"{PRESENTATION}notes/{DRAW}frame"):
                if notes.get(f"{PRESENTATION}class") == "notes" and _is_filled(notes):
                    rest += blocks.block(notes)
            has_struck = has_struck or blocks.has_struck
            found = found or bool(heading) or any(not isinstance(element, Notice) for element in rest)
            yield from under_heading(number, heading, rest, _ITEM)
        if has_hidden:
            yield HIDDEN_READ if context.hidden else HIDDEN_LEFT_OUT
        if has_struck:
            yield STRUCK_OUT
        if not found:
            raise ParseError("no_text.slides")
        yield Title(text=title)
        yield package.title()


def _is_filled(shape: etree._Element) -> bool:
    return shape.get(f"{PRESENTATION}placeholder") != "true" and bool(words_of(shape).strip())


def _is_read(shape: etree._Element) -> bool:
    return (
        isinstance(shape.tag, str)
        and shape.tag.startswith(DRAW)
        and shape.get(f"{PRESENTATION}class") not in _FURNITURE
        and shape.get(f"{PRESENTATION}placeholder") != "true"
    )


def _place(shape: etree._Element) -> tuple[float, float]:
    found = (_LENGTH.match(shape.get(f"{SVG}{side}", "")) for side in "yx")
    top, left = (float(length[1]) * _CENTIMETRES.get(length[2], 1.0) if length else 0.0 for length in found)
    return top, left
