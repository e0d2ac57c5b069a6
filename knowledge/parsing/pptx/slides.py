"""Helpers of the presentation parsers: the reading order of a slide's shapes, and its heading."""

from collections.abc import Callable, Iterable, Iterator
from re import Pattern
from typing import TypeVar

from knowledge.parsing.elements import Element, Heading, Paragraph
from knowledge.parsing.text import looks_like_title

Shape = TypeVar("Shape")


def in_reading_order(shapes: Iterable[Shape], place: Callable[[Shape], tuple[float, float]], row: float) -> list[Shape]:
    """Return shapes from top to bottom, those side by side from left to right, and otherwise in their own order.

    `place` returns a shape's top and left; shapes are side by side if their tops are no further apart than `row`.
    """
    placed: list[tuple[float, float, int, Shape]] = []
    row_top = float("-inf")
    for number, shape in sorted(enumerate(shapes), key=lambda item: place(item[1])[0]):
        top, left = place(shape)
        row_top = top if top - row_top > row else row_top
        placed.append((row_top, left, number, shape))
    return [shape for *_, shape in sorted(placed, key=lambda item: item[:3])]


def under_heading(page: int, title: str, elements: list[Element], item: Pattern[str]) -> Iterator[Element]:
    """Yield a slide's elements under its title; without one, under their first line or else the slide's number.

    A line that begins like an `item` of a list is not used as a title.
    """
    if title:
        yield Heading(page=page, text=title, level=1)
    elif elements:
        first, *others = elements
        if others and isinstance(first, Paragraph) and looks_like_title(first.text) and not item.match(first.text):
            yield Heading(page=page, text=first.text, level=1)
            elements = others
        else:
            yield Heading(page=page, text=f"Slide {page}", level=1)
    yield from elements
