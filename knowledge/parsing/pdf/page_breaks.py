"""Joins sentences and tables that continue on the next page. Pure, over a stream of elements."""

import re
from collections.abc import Iterator
from dataclasses import replace

from knowledge.parsing.elements import Element, Heading, PageBreak, Paragraph, Table
from knowledge.parsing.pdf.layout import join_lines
from knowledge.parsing.pdf.text import is_cjk_join

_SENTENCE_END = re.compile(r"[.!?](?=['\"”’)\]]*\s)|[。！？；](?=[”’」』)）]*)")
_OPEN_END = re.compile(r"[\w,;，、\-–)）\x02]$")
MIN_TORN = 40  # characters; shorter paragraphs at the end of a page are complete


def stitched(elements: Iterator[Element]) -> Iterator[Element]:
    """Yield the elements with sentences completed on the page where they start, and tables' headers repeated.

    Only the rest of the sentence is moved, so that the page numbers of the following text stay right.
    """
    before: Element | None = None  # the last element of the previous page
    breaks: list[Element] = []
    for element in elements:
        if isinstance(element, PageBreak):
            breaks.append(element)
            continue
        kept: Element | None = element  # the part of the element that stays on its page
        if breaks and isinstance(before, Paragraph) and isinstance(element, Paragraph):
            torn = len(before.text) >= MIN_TORN and _OPEN_END.search(before.text)
            if torn and (element.text[:1].islower() or is_cjk_join(before.text, element.text)):
                found = _SENTENCE_END.search(element.text)
                cut = found.end() if found else len(element.text)
                rest = element.text[cut:].strip()
                before = replace(before, text=join_lines([before.text, element.text[:cut]]))
                kept = replace(element, text=rest) if rest else None
        elif breaks and isinstance(before, Table) and isinstance(element, Table):
            # A table continued from the previous page gets that one's header and caption.
            width = len(before.columns)
            if width and element.rows and len(element.rows[0]) == width and not element.caption:
                kept = replace(element, caption=before.caption)
                if element.columns != before.columns:
                    rows = (element.columns, *element.rows) if element.columns else element.rows
                    kept = replace(kept, columns=before.columns, rows=rows)
        yield from [before] if before is not None else []
        yield from breaks
        before, breaks = kept, []
    yield from [before] if before is not None else []
    yield from breaks


def levelled(elements: Iterator[Element]) -> Iterator[Element]:
    """Yield the elements with heading levels that descend one at a time, whatever the font sizes are."""
    open_levels: list[int] = []
    for element in elements:
        if isinstance(element, Heading):
            while open_levels and open_levels[-1] >= element.level:
                open_levels.pop()
            open_levels.append(element.level)
            yield replace(element, level=len(open_levels))
        else:
            yield element
