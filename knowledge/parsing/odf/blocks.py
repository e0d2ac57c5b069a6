"""Walks the blocks of OpenDocument text: paragraphs, headings, lists, tables, frames and notes, in reading order."""

from collections.abc import Iterator

from lxml import etree

from knowledge.parsing.decoding import as_shown, clean, is_of_symbols, raised
from knowledge.parsing.elements import Code, Element, Heading, Notice, Paragraph, Picture, Table
from knowledge.parsing.limits import MAX_COLUMNS, TOO_DEEP, number_in
from knowledge.parsing.odf.package import (
    CHART,
    DRAW,
    MATHML,
    OFFICE,
    SVG,
    TABLE,
    TEXT,
    XLINK,
    ListLevel,
    Package,
    words_of,
)
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.tables.layout import Cell, table_of
from ragsite.markup import tex

_DEEPEST = 30  # blocks within blocks
_MOST_ROWS = 5000  # repetitions of a row in a text's table
_LONG_CELL = 200  # characters; one column of longer cells is a layout, not a table
_LEFT_OUT = frozenset(
    {
        f"{TEXT}{name}"
        for name in ("tracked-changes", "table-of-content", "illustration-index", "table-index", "user-index")
    }
    | {
        f"{TEXT}{name}"
        for name in ("object-index", "sequence-decls", "variable-decls", "user-field-decls", "hidden-text")
    }
    | {f"{TEXT}{name}" for name in ("hidden-paragraph", "ruby-text", "bookmark-start", "alphabetical-index-mark")}
    | {f"{OFFICE}{name}" for name in ("annotation", "forms", "event-listeners")}
)
_SHAPES = frozenset(
    f"{DRAW}{name}" for name in ("custom-shape", "rect", "ellipse", "polygon", "path", "connector", "line")
)
_HOLDERS = frozenset(
    {f"{TEXT}{name}" for name in ("section", "index-body", "alphabetical-index", "bibliography", "numbered-paragraph")}
    | {f"{DRAW}g", f"{DRAW}a"}
)
_CODE = ("Preformatted Text", "HTML Preformatted", "Source Code", "Code")
_BULLET = ListLevel(is_numbered=False)


class Blocks:
    """Reads blocks, and numbers notes and list items in order."""

    def __init__(self, package: Package, pictures: PictureStore, page: int | None = None) -> None:
        self.package, self.pictures, self.page = package, pictures, page
        self.titled = self.has_struck = False
        self._waiting: list[Element] = []  # elements anchored in the current paragraph
        self._counts: dict[str, dict[int, int]] = {}  # of list styles, by level

    def read(self, parent: etree._Element, depth: int = 0) -> Iterator[Element]:
        """Yield the elements of a node's children."""
        if depth > _DEEPEST:
            yield TOO_DEEP
            return
        for node in parent:
            yield from self.block(node, depth)

    def block(self, node: etree._Element, depth: int = 0) -> Iterator[Element]:
        """Yield the elements of a block."""
        tag = node.tag
        if not isinstance(tag, str) or tag in _LEFT_OUT or node.get(f"{TEXT}display") == "none":
            return
        if tag in (f"{TEXT}p", f"{TEXT}h") and node.get(f"{TEXT}style-name") in self.package.styles.struck_paragraphs:
            self.has_struck = self.has_struck or bool(words_of(node).strip())
        elif tag in (f"{TEXT}p", f"{TEXT}h"):
            yield from self._paragraph(node, "", "")
        elif tag == f"{TEXT}list":
            yield from self._list(node, "", 1, depth)
        elif tag == f"{TABLE}table":
            yield from self.table(node, depth)
        elif tag == f"{DRAW}frame":
            yield from self.frame(node, depth)
        elif tag in _SHAPES or tag in _HOLDERS:
            yield from self.read(node, depth + 1)

    # Paragraphs and lists

    def text(self, node: etree._Element, depth: int = 0) -> str:
        """Return a paragraph's text; elements anchored in it are yielded after it."""
        parts: list[str] = []
        self._inline(node, parts, depth)
        lines = (" ".join(line.split()) for line in clean("".join(parts)).split("\n"))
        return "\n".join(lines).strip("\n")

    def _inline(self, node: etree._Element, parts: list[str], depth: int) -> None:
        styles = self.package.styles
        parts.append(node.text or "")
        for child in node:
            tag = child.tag
            if tag == f"{TEXT}s":
                parts.append(" " * min(number_in(child.get(f"{TEXT}c"), 1), 200))
            elif tag == f"{TEXT}tab":
                parts.append("\t")
            elif tag == f"{TEXT}line-break":
                parts.append("\n")
            elif tag == f"{TEXT}note":
                citation = child.find(f"{TEXT}note-citation")
                mark = "" if citation is None else words_of(citation)
                parts.append(f" [{mark}]")
                body = child.find(f"{TEXT}note-body")
                texts = [self.text(inner, depth + 1) for inner in body.iter(f"{TEXT}p")] if body is not None else []
                self._waiting.append(Paragraph(page=self.page, text=f"[{mark}] " + "\n".join(filter(None, texts))))
            elif tag == f"{DRAW}frame" and (formula := self._formula(child)):
                parts.append(formula)
            elif tag == f"{DRAW}frame" or tag in _SHAPES or tag == f"{DRAW}g":
                before, self._waiting = self._waiting, []
                inside = list(self.block(child, depth + 1))
                self._waiting = [*before, *inside]
            elif isinstance(tag, str) and tag not in _LEFT_OUT and depth < _DEEPEST * 5:
                start = len(parts)
                self._inline(child, parts, depth + 1)
                style = child.get(f"{TEXT}style-name", "") if tag == f"{TEXT}span" else ""
                if style in styles.struck_out:
                    self.has_struck = self.has_struck or bool("".join(parts[start:]).strip())
                    del parts[start:]
                if style in styles.raised or is_of_symbols(styles.fonts.get(style, "")):
                    text = as_shown("".join(parts[start:]), styles.fonts.get(style, ""))
                    parts[start:] = [raised(text, parts[:start]) if style in styles.raised else text]
            parts.append(child.tail or "")

    def _formula(self, frame: etree._Element) -> str:
        """Return the formula in a frame, or ""."""
        root = self._object(frame)
        return tex.of_mathml(root) if root is not None and root.tag == f"{MATHML}math" else ""

    def _object(self, frame: etree._Element) -> etree._Element | None:
        """Return the root of an object embedded in a frame, such as a chart or a formula, or None."""
        embedded = frame.find(f"{DRAW}object")
        if embedded is None:
            return None
        return self.package.part(f"{embedded.get(f'{XLINK}href', '').lstrip('./')}/content.xml")

    def _paragraph(self, node: etree._Element, marker: str, indent: str) -> Iterator[Element]:
        style = node.get(f"{TEXT}style-name", "")
        styles = self.package.styles
        names = styles.names(style)
        if any(name in _CODE for name in names):
            parts: list[str] = []
            self._inline(node, parts, 0)
            yield Code(page=self.page, text=clean("".join(parts)).rstrip())
            text = ""
        else:
            text = self.text(node)
        if text:
            if node.tag == f"{TEXT}h":
                level = number_in(node.get(f"{TEXT}outline-level"), 1)
            else:
                level = styles.level(style)
            if not self.titled and any(name in ("Title", "标题", "主标题") for name in names):
                self.titled, level = True, 1
            elif level and self.titled:
                level += 1
            if level:
                number = "" if marker == "-" else marker
                yield Heading(page=self.page, text=" ".join(f"{number} {text}".split()), level=level)
            else:
                yield Paragraph(page=self.page, text=f"{indent}{marker} {text}" if marker else text)
        waiting, self._waiting = self._waiting, []
        yield from waiting

    def _list(self, node: etree._Element, style: str, level: int, depth: int) -> Iterator[Element]:
        if depth > _DEEPEST:
            yield TOO_DEEP
            return
        style = node.get(f"{TEXT}style-name") or style
        form = self.package.styles.lists.get(style, {}).get(level, _BULLET)
        continues = node.get(f"{TEXT}continue-numbering") == "true" or node.get(f"{TEXT}continue-list") is not None
        if level == 1 and not continues:
            self._counts.pop(style, None)
        counts = self._counts.setdefault(style, {})
        for item in node:
            if item.tag not in (f"{TEXT}list-item", f"{TEXT}list-header"):
                continue
            marker = ""
            if item.tag == f"{TEXT}list-item" and next(item.iterchildren(f"{TEXT}p", f"{TEXT}h"), None) is not None:
                number = number_in(item.get(f"{TEXT}start-value"), counts.get(level, form.start - 1) + 1)
                for deeper in [place for place in counts if place > level]:
                    del counts[deeper]
                counts[level] = number
                marker = form.marker(number)
            for child in item:
                if child.tag == f"{TEXT}list":
                    yield from self._list(child, style, level + 1, depth + 1)
                elif child.tag in (f"{TEXT}p", f"{TEXT}h"):
                    yield from self._paragraph(child, marker, "  " * min(level - 1, 8))
                    marker = ""
                else:
                    yield from self.block(child, depth + 1)

    # Frames and tables

    def frame(self, node: etree._Element, depth: int) -> Iterator[Element]:
        """Yield the content of a frame: text, a table, a chart's data, or a picture."""
        box = node.find(f"{DRAW}text-box")
        if box is not None:
            yield from self.read(box, depth + 1)
            return
        table = node.find(f"{TABLE}table")
        if table is not None:
            yield from self.table(table, depth)
            return
        root = self._object(node)
        data = None if root is None else next(root.iter(f"{TABLE}table"), None)
        if root is not None and data is not None:
            title = next(root.iter(f"{CHART}title"), None)
            words = "" if title is None else " ".join(words_of(title).split())
            yield from self.table(data, depth, caption=words)
            return
        alt = " ".join(words_of(child) for child in node if child.tag in (f"{SVG}title", f"{SVG}desc"))
        for image in node.iterchildren(f"{DRAW}image"):
            if data_bytes := self.package.picture(image):
                saved = list(self.pictures.save(data_bytes, alt, self.page))
                yield from saved
                if saved:
                    return

    def table(self, node: etree._Element, depth: int, caption: str = "") -> Iterator[Element]:
        """Yield a table, or the running text in one that is only a frame around it."""
        nodes = list(_rows(node))
        only = [cell for row, _ in nodes for cell in _cells(row) if cell.tag == f"{TABLE}table-cell"]
        length = sum(len(words_of(cell)) for cell in only)
        is_column = bool(nodes) and max(len(_cells(row)) for row, _ in nodes) == 1
        if depth < _DEEPEST and (len(only) <= 1 or (is_column and length > _LONG_CELL * len(only))):
            for cell in only:
                yield from self.read(cell, depth + 1)
            return
        others: list[Element] = []
        lines: list[list[Cell]] = []
        header = 0
        for row, is_header in nodes:
            line: list[Cell] = []
            for cell in _cells(row):
                if cell.tag != f"{TABLE}table-cell":
                    continue
                text = self._cell(cell, others, depth)
                repeated = number_of(cell, "number-columns-repeated")
                for _ in range(min(repeated, MAX_COLUMNS) if text or repeated < MAX_COLUMNS else 1):
                    line.append(
                        Cell(text, number_of(cell, "number-columns-spanned"), number_of(cell, "number-rows-spanned"))
                    )
            for _ in range(min(number_of(row, "number-rows-repeated"), _MOST_ROWS) if any(c.text for c in line) else 1):
                lines.append(line)
                header += is_header
        yield from table_of(lines, header_rows=header or None, caption=caption, page=self.page)
        yield from others

    def _cell(self, cell: etree._Element, others: list[Element], depth: int) -> str:
        lines: list[str] = []
        for element in self.read(cell, depth + 1):
            if isinstance(element, Picture | Notice):
                others.append(element)
            elif isinstance(element, Table):
                lines += [" | ".join(texts) for texts in (element.columns, *element.rows) if any(texts)]
            elif isinstance(element, Heading | Paragraph | Code):
                lines.append(element.text)
        return "\n".join(lines)


def number_of(node: etree._Element, name: str) -> int:
    """Return how many times a cell or row is repeated, or how many columns or rows it spans."""
    value = number_in(node.get(f"{TABLE}{name}"), 1)
    return max(1, value) if value < 10_000_000 else 1


def _rows(table: etree._Element) -> Iterator[tuple[etree._Element, bool]]:
    """Yield a table's own rows, each with whether it is a header row."""
    for child in table:
        if child.tag == f"{TABLE}table-row":
            yield child, False
        elif child.tag == f"{TABLE}table-header-rows":
            yield from ((row, True) for row, _ in _rows(child))
        elif child.tag in (f"{TABLE}table-rows", f"{TABLE}table-row-group"):
            yield from _rows(child)


def _cells(row: etree._Element) -> list[etree._Element]:
    return [cell for cell in row if cell.tag in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")]
