"""Word's styles and numbering: which paragraphs are headings, and the markers of list items."""

import re
from typing import Any, NamedTuple

from docx.oxml.ns import qn
from lxml import etree

from knowledge.parsing.docx.numerals import numeral
from knowledge.parsing.limits import number_in

_HEADING_NAME = re.compile(r"(?:heading|标题|標題|überschrift|titre|título|titolo|見出し|제목|заголовок)\s*(\d)$", re.I)
_KINDS = {
    "title": re.compile(r"(?:title|标题|標題|titel|titre|título|표제|表題)$"),
    "toc": re.compile(r"(?:toc|目录|目錄|table of figures|index)\s*\d*$"),
    "caption": re.compile(r"(?:caption|题注|題注|图题|表题)$"),
    "code": re.compile(r"(?:source code|code|html preformatted|plain ?text code|代码|macro text|preformatted text)\b"),
}
_PLACE = re.compile(r"%(\d)")


class Style(NamedTuple):
    """The properties of a paragraph style, including those inherited."""

    kind: str  # "title", "toc" (a table of contents), "caption", "code" or ""
    outline: int | None  # the heading level, from 1
    numbering: tuple[str, int] | None  # the list, and the level within it, from 0


class Styles:
    """The document's paragraph styles, with inheritance."""

    def __init__(self, root: etree._Element | None) -> None:
        styles = root.iter(qn("w:style")) if root is not None else ()
        self._styles = {style.get(qn("w:styleId"), ""): style for style in styles}
        self._known: dict[str, Style] = {}

    def of(self, identifier: str) -> Style:
        """Return the style with an identifier, or an empty style if it is unknown."""
        if identifier in self._known:
            return self._known[identifier]
        name, outline, numbering = "", None, None
        current = identifier
        seen: set[str] = set()
        while current in self._styles and current not in seen:
            seen.add(current)
            style = self._styles[current]
            own_name = value(style.find(qn("w:name"))).lower().strip()
            name = name or own_name
            properties = style.find(qn("w:pPr"))
            if outline is None:
                found = _HEADING_NAME.match(own_name)
                outline = int(found.group(1)) if found else outline_level(properties)
            numbering = numbering or list_place(properties)
            current = value(style.find(qn("w:basedOn")))
        kind = next((kind for kind, pattern in _KINDS.items() if pattern.match(name)), "")
        self._known[identifier] = Style(kind, outline if outline and outline <= 9 else None, numbering)
        return self._known[identifier]


class Numbering:
    """Counts the document's numbered lists and headings as Word shows them."""

    def __init__(self, root: etree._Element | None) -> None:
        self._levels: dict[str, dict[int, etree._Element]] = {}
        self._abstract: dict[str, str] = {}
        self._counts: dict[tuple[str, int], int] = {}
        if root is None:
            return
        for abstract in root.iter(qn("w:abstractNum")):
            levels = {_number(level.get(qn("w:ilvl"))): level for level in abstract.iter(qn("w:lvl"))}
            self._levels[abstract.get(qn("w:abstractNumId"), "")] = levels
        for item in root.iter(qn("w:num")):
            self._abstract[item.get(qn("w:numId"), "")] = value(item.find(qn("w:abstractNumId")))

    def next(self, list_id: str, level: int) -> str:
        """Count an item and return its marker: "-" for a bullet, "" for none."""
        abstract = self._abstract.get(list_id)
        levels = self._levels.get(abstract or "", {})
        definition = levels.get(level)
        if abstract is None or definition is None:
            return "-"
        form = value(definition.find(qn("w:numFmt")))
        start = _number(value(definition.find(qn("w:start"))) or "1")
        self._counts[abstract, level] = self._counts.get((abstract, level), start - 1) + 1
        for key in [key for key in self._counts if key[0] == abstract and key[1] > level]:
            del self._counts[key]
        if form in ("none", "bullet"):
            return "-" if form == "bullet" else ""

        def shown(match: re.Match[str]) -> str:
            place = int(match.group(1)) - 1
            other = levels.get(place)
            form = value(other.find(qn("w:numFmt"))) if other is not None else "decimal"
            return numeral(self._counts.get((abstract, place), 1), form)

        return _PLACE.sub(shown, value(definition.find(qn("w:lvlText")))).strip()


def value(node: Any) -> str:
    """Return a node's `w:val`, or ""."""
    return "" if node is None else str(node.get(qn("w:val"), ""))


def list_place(properties: etree._Element | None) -> tuple[str, int] | None:
    """Return the list's id and the level within it from paragraph properties; ("0", 0) means no list."""
    place = properties.find(qn("w:numPr")) if properties is not None else None
    if place is None or place.find(qn("w:numId")) is None:
        return None
    return value(place.find(qn("w:numId"))), _number(value(place.find(qn("w:ilvl"))))


def outline_level(properties: etree._Element | None) -> int | None:
    """Return the heading level from paragraph properties, from 1; 10 means running text."""
    node = properties.find(qn("w:outlineLvl")) if properties is not None else None
    return None if node is None else _number(value(node)) + 1


def _number(text: str | None) -> int:
    return number_in(text, 0) if text and len(text) < 7 else 0
