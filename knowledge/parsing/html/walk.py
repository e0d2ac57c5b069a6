"""Walks an HTML tree and collects elements: inline text becomes paragraphs, which blocks end."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from lxml import etree

from knowledge.parsing.decoding import clean, raised
from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Picture
from knowledge.parsing.html.tables import read_table, rows_of
from knowledge.parsing.limits import number_in
from knowledge.parsing.pictures import PictureStore

_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "details", "dd", "div", "dl", "dt", "fieldset"}
    | {"figcaption", "figure", "footer", "form", "header", "hgroup", "html", "li", "main", "menu", "ol", "p", "section"}
    | {"summary", "ul", "caption", "tbody", "thead", "tfoot", "tr", "td", "th"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACE = re.compile(r"[ \t\n\f\r]+")
_ADMONITION = re.compile(
    r"(?:note|tip|hint|warning|caution|important|danger|attention|注意|提示|警告|说明|重要|小贴士)[:：!]?$", re.I
)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:)-?\s*([\w+#-]+)")
_DEEPEST = 150  # levels; anything nested deeper is read as plain text
_TERM_TEXT = 350  # characters: longer definitions make their term a heading
_MOST_TERMS = 4  # of one definition
_LONGEST_TERM = 150  # characters
_DATA_URI = re.compile(r"data:image/(?:png|jpe?g|gif|webp|bmp)(?:;[\w=-]+)*?(;base64)?,", re.I)

FindPicture = Callable[[str], bytes]


class HtmlWalker:
    """Collects the elements of a tree in reading order."""

    def __init__(self, pictures: PictureStore, title: str = "", find_picture: FindPicture | None = None) -> None:
        self.pictures, self.find_picture = pictures, find_picture
        self.title = _tidy(_SPACE.sub(" ", title))
        self.elements: list[Element] = []
        self._inline: list[str] = []
        self._marker = ""  # of the current list item, until it has text
        self._prefix = ""  # an admonition's title or a term, for the next paragraph
        self._lists: list[int] = []  # for each open list the next number, 0 for bullets
        self._path: list[Heading] = []
        self._restore: Heading | None = None  # the section that continues after a list of terms

    def start(self, main: etree._Element) -> None:
        """Add the page's title as a heading if the page has none."""
        if self.title and next(main.iter("h1", "h2"), None) is None:
            self._emit(Heading(text=self.title, level=1))

    def finish(self) -> list[Element]:
        """Return the collected elements."""
        self._end_paragraph()
        return self.elements

    def walk(self, node: etree._Element, depth: int = 0) -> None:
        """Collect a node's content, without its tail."""
        tag = node.tag
        if not isinstance(tag, str):
            return
        if depth > _DEEPEST:
            self._inline += [text for text in node.itertext() if isinstance(text, str)]
        elif tag in _HEADINGS:
            self._end_paragraph()
            text = inline_text(node)
            if _ADMONITION.match(text):
                self._prefix = text.rstrip(":：!") + ("：" if text[0] > "⺀" else ": ")
            elif text:
                # The page's title is above all other headings, even if they have the same level.
                first = not self._path and self.title.startswith(text)
                self._emit(Heading(text=text, level=1 if first else _HEADINGS[tag]))
        elif tag == "pre":
            self._end_paragraph()
            text = "".join(text for text in node.itertext() if isinstance(text, str)).strip("\n").rstrip()
            if text.strip():
                names = " ".join([node.get("class", ""), *(child.get("class", "") for child in node.iter("code"))])
                found = _LANGUAGE.search(names)
                self._emit(Code(text=text, language=found.group(1) if found else ""))
        elif tag == "table":
            self._table(node, depth)
        elif tag in ("ul", "ol", "menu"):
            self._end_paragraph()
            self._lists.append(number_in(node.get("start"), 1) if node.tag == "ol" else 0)
            self._children(node, depth)
            self._end_paragraph()
            self._lists.pop()
        elif tag == "dl":
            self._terms(node, depth)
        elif tag == "li":
            self._end_paragraph()
            number = self._lists[-1] if self._lists else 0
            if number:
                self._lists[-1] += 1
            indent = "  " * max(0, len(self._lists) - 1)
            self._marker = indent + (f"{number}. " if number else "- ")
            self._children(node, depth)
            self._end_paragraph()
            self._marker = ""
        elif tag in _BLOCKS:
            self._end_paragraph()
            self._children(node, depth)
            self._end_paragraph()
        else:
            self._inline_node(node, depth)

    def _children(self, node: etree._Element, depth: int) -> None:
        self._text(node.text)
        for child in node:
            self.walk(child, depth + 1)
            self._text(child.tail)

    def _text(self, text: str | None) -> None:
        if text:
            self._inline.append(_SPACE.sub(" ", text))

    def _inline_node(self, node: etree._Element, depth: int) -> None:
        if node.tag == "br":
            self._inline.append("\n")
        elif node.tag == "hr":
            self._end_paragraph()
        elif node.tag == "img":
            self._image(node)
        elif node.tag == "sup" and _is_reference(node):
            return
        elif node.tag == "sup" and not len(node):
            self._text(raised(node.text or "", self._inline))
        else:
            self._children(node, depth)

    # Blocks

    def _terms(self, node: etree._Element, depth: int) -> None:
        """Collect a list of terms: long definitions become sections under the terms, short ones "term: definition"."""
        self._end_paragraph()
        before = list(self._path)
        groups = {node, *node.findall("div")}
        definitions = [child for child in node.iter("dd") if child.getparent() in groups]
        length = sum(len(inline_text(child)) for child in definitions)
        as_sections = bool(before) and bool(definitions) and length / len(definitions) > _TERM_TEXT
        terms: list[str] = []
        for child in node.iter("dt", "dd"):
            if next(child.iterancestors("dl"), None) is not node:
                continue
            if child.tag == "dt":
                terms.append(inline_text(child).replace("\n", ", "))
                if len(terms) > _MOST_TERMS:  # an index, not terms that share a definition
                    self._emit_paragraph(terms.pop(0))
                continue
            term = ", ".join(filter(None, terms))
            if as_sections and 0 < len(term) <= _LONGEST_TERM:
                self._emit(Heading(text=term, level=before[-1].level + 1))
            elif term:
                self._prefix = term + ("：" if term[-1] > "⺀" else ": ")
            terms = []
            self._children(child, depth + 1)
            self._end_paragraph()
            self._prefix = ""
        if terms:
            self._emit_paragraph(", ".join(filter(None, terms)))
        if as_sections:
            self._restore = before[-1]

    def _table(self, node: etree._Element, depth: int) -> None:
        self._end_paragraph()
        rows = rows_of(node)
        # Some tables are only layout: those with a single cell or column, declared as such, or with headings or tables.
        if node.get("role") in ("presentation", "none") or node.find(".//table") is not None:
            is_layout = True
        elif next(node.iter("h1", "h2", "h3", "h4", "pre"), None) is not None:
            is_layout = next(node.iter("th"), None) is None
        else:
            is_layout = sum(map(len, rows)) <= 1 or (max(map(len, rows)) == 1 and next(node.iter("th"), None) is None)
        if is_layout:
            for cell in (cell for row in rows for cell in row):
                self._children(cell, depth + 2)
                self._end_paragraph()
            return
        for element in read_table(node, inline_text):
            self._emit(element)
        for image in node.iter("img"):
            self._image(image)

    def _image(self, node: etree._Element) -> None:
        """Store a picture that is embedded in the page, or in the file that contains it."""
        source = node.get("src", "")
        if found := _DATA_URI.match(source):
            rest = unquote_to_bytes(source[found.end() :])
            try:
                data = b64decode(rest) if found.group(1) else rest
            except (Base64Error, ValueError):
                return
        elif self.find_picture is not None:
            data = self.find_picture(source)
        else:
            return
        alt = _SPACE.sub(" ", node.get("alt", "")).strip()
        figure = next(node.iterancestors("figure"), None)
        caption = figure.find(".//figcaption") if figure is not None and not alt else None
        for element in self.pictures.save(data, alt if caption is None else inline_text(caption)) if data else ():
            self._end_paragraph()
            self._emit(element)

    # Collecting

    def _end_paragraph(self) -> None:
        text, self._inline = _tidy("".join(self._inline)), []
        if text:
            self._emit_paragraph(text)

    def _emit_paragraph(self, text: str) -> None:
        text = f"{self._marker}{self._prefix}{text}"
        self._marker = self._prefix = ""
        self._emit(Paragraph(text=text))

    def _emit(self, element: Element) -> None:
        if isinstance(element, Heading):
            self._restore = None
            self._path = [*(item for item in self._path if item.level < element.level), element]
        elif self._restore is not None:
            section, self._restore = self._restore, None
            self._emit(section)
        if self._prefix and not isinstance(element, Picture | Paragraph):
            self.elements.append(Paragraph(text=self._prefix.strip()))
            self._prefix = ""
        self.elements.append(element)


def inline_text(node: etree._Element) -> str:
    """Return a node's text, with line breaks between blocks."""
    parts: list[str] = []
    _gather(node, parts, 0)
    return _tidy("".join(parts))


def _gather(node: etree._Element, parts: list[str], depth: int) -> None:
    if depth > _DEEPEST:
        parts.extend(text for text in node.itertext() if isinstance(text, str))
        return
    block = node.tag in _BLOCKS or node.tag in ("br", "pre", "table")
    if block:
        parts.append("\n")
    if node.tag == "li":
        parts.append("- ")
    if node.text:
        text = node.text if node.tag == "pre" else _SPACE.sub(" ", node.text)
        parts.append(raised(text, parts) if node.tag == "sup" and not len(node) else text)
    for child in node:
        if isinstance(child.tag, str) and not (child.tag == "sup" and _is_reference(child)):
            _gather(child, parts, depth + 1)
        if child.tail:
            parts.append(_SPACE.sub(" ", child.tail))
    if block and node.tag != "br":
        parts.append("\n")


def _tidy(text: str) -> str:
    lines = (re.sub(" {2,}", " ", line).strip() for line in clean(text).split("\n"))
    return "\n".join(line for line in lines if line)


def _is_reference(node: etree._Element) -> bool:
    """Return whether superscript text is a footnote's number such as [3]."""
    return re.fullmatch(r"\s*\[[\w\s]{1,12}\]\s*", "".join(map(str, node.itertext()))) is not None
