"""Turns the control words of rich text into blocks: paragraphs with their style, rows of cells, pictures, notes."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from striprtf.striprtf import charset_map, destinations, specialchars

from knowledge.parsing.decoding import as_shown, is_of_symbols, raised
from knowledge.parsing.errors import ParseError

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.S
)
_CONTENTS = re.compile(r"(?:toc|contents|目录)\s*\d")
_FONT_NAME_END = re.compile(r";.*", re.S)
_WIDE = {"cp932", "cp936", "cp949", "cp950"}
_DEEPEST = 5000  # groups within groups
NEAR = 40  # twips; edges of cells that are closer are the same
# Destinations with content of the document; all others that are known, or marked with \*, are left out.
_ENTERED = frozenset(
    {"upr", "ud", "shppict", "shpinst", "shptxt", "result", "object", "shp", "shpgrp", "mmath", "momath", "mr"}
)
_KEPT = frozenset({"fonttbl", "stylesheet", "title", "pict", "listtext", "pntext", "footnote"})
_BREAKS = frozenset({"par", "sect", "page", "column"})
_PICTURES = frozenset({"pngblip", "jpegblip"})
_DEFINED = frozenset({"f", "fcharset", "s", "cs", "ts", "ds", "outlinelevel"})  # of fonts and styles
_LEFT_OUT = destinations - _ENTERED - _KEPT - {"info"}


@dataclass(slots=True)
class CellProperties:
    """A cell's declaration before its row's text: its right edge (twips), and whether it is merged with a neighbour."""

    edge: int
    joins_left: bool = False
    joins_above: bool = False


@dataclass(slots=True)
class Row:
    """A row of a table."""

    cells: list[str]
    properties: list[CellProperties]
    is_header: bool


@dataclass(slots=True)
class Text:
    """A paragraph: `level` is the heading level from 1, or 0 for running text; `marker` is that of a list item."""

    text: str
    level: int = 0
    marker: str = ""
    indent: int = 0
    is_bold: bool = False
    is_title: bool = False


Block = Text | Row | bytes  # bytes: a picture


@dataclass(slots=True)
class _Group:
    """The state that control words change until the end of their group."""

    destination: str = ""
    font: int = -1
    skipped: int = 1  # replacement characters after \u for older programs
    is_hidden: bool = False
    is_struck_out: bool = False
    is_bold: bool = False
    is_raised: bool = False
    is_asian: bool = False  # whether formatting applies to East Asian characters


@dataclass(slots=True)
class _Style:
    name: str = ""
    level: int = 0


@dataclass(slots=True)
class _Paragraph:
    style: int = 0
    level: int = 0
    in_table: bool = False
    indent: int = 0
    marker: str = ""


class Reader:
    """Reads a file; `title` is the one in its properties."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.title = ""
        self.codepage = "cp1252"
        self.fonts: dict[int, str] = {}  # encodings
        self.symbols: dict[int, str] = {}  # names of symbol fonts
        self.styles: dict[int, _Style] = {}
        self.group = _Group()
        self.stack: list[_Group] = []
        self.paragraph = _Paragraph()
        self.text: list[str] = []  # of the paragraph or cell
        self.collected: list[str] = []  # of another destination
        self.bytes = bytearray()  # characters of a code page that have not been decoded yet
        self.bold = self.plain = 0  # characters of the paragraph
        self.cells: list[str] = []
        self.properties: list[CellProperties] = []
        self.pending = CellProperties(0)
        self.is_header = False
        self.picture = ""
        self.binary = b""
        self.waiting: list[Block] = []  # blocks that follow the current paragraph
        self.default_font = -1
        self.skip = 0
        self.starred = False
        self.has_struck = False

    def blocks(self) -> Iterator[Block]:
        """Yield the document's blocks in reading order; raises `ParseError` if groups are nested too deeply."""
        place, end = 0, len(self.source)
        while place < end:
            found = _TOKEN.match(self.source, place)
            if found is None:
                break
            place = found.end()
            word, argument, code, symbol, brace, run = found.groups()
            if run is not None:
                self._run(run)
                continue
            if code is not None:
                if self.skip:
                    self.skip -= 1
                elif not self._is_left_out():
                    self.bytes.append(int(code, 16))
                continue
            self._decode()
            if brace == "{":
                self.stack.append(replace(self.group))
                self.starred = False
                self.skip = 0
                if len(self.stack) > _DEEPEST:
                    raise ParseError("broken.too_deep")
            elif brace == "}":
                self.skip = 0
                self._close()
                if not self.stack:
                    break
            elif word:
                value = int(argument) if argument else None
                if word == "bin":
                    length = max(0, value or 0)
                    if self.group.destination == "pict":
                        self.binary += self.source[place : place + length].encode("latin-1", "replace")
                    place += length
                else:
                    yield from self._word(word, value)
                    self.starred = False
            elif symbol == "*":
                self.starred = True
            elif symbol is not None and symbol in specialchars:
                self._put("" if symbol == "-" else specialchars[symbol].replace("\xa0", " "))
        self._decode()
        yield from self._end_paragraph()

    # Text

    def _is_left_out(self) -> bool:
        is_hidden = self.group.is_hidden or self.group.is_struck_out
        return self.group.destination == "-" or (is_hidden and not self.group.destination)

    def _run(self, run: str) -> None:
        if self.skip:
            run, self.skip = run[self.skip :], max(0, self.skip - len(run))
        if not run or self._is_left_out():
            return
        if run.isascii():
            self._decode()
            self._put(run)
        else:  # unescaped characters of a code page
            self.bytes += run.encode("latin-1", "replace")

    def _decode(self) -> None:
        if not self.bytes:
            return
        data, self.bytes = bytes(self.bytes), bytearray()
        encoding = self.fonts.get(self.group.font, self.codepage)
        if self.codepage in _WIDE and encoding == "cp1252" and len(data) > 1:
            encoding = self.codepage  # a font of Latin letters doesn't show two bytes above 127 in such a file
        try:
            self._put(data.decode(encoding, "replace"))
        except LookupError:  # such as Johab, or those of old Macs
            self._put(data.decode(self.codepage, "replace"))

    def _put(self, text: str) -> None:
        if self._is_left_out():
            return
        if font := self.symbols.get(self.group.font):
            text = as_shown(text, font)
        if self.group.destination:
            self.collected.append(text)
            return
        self.text.append(raised(text, self.text) if self.group.is_raised else text)
        letters = len(text.strip())
        self.plain += letters
        self.bold += letters if self.group.is_bold else 0

    # Groups

    def _close(self) -> None:
        closed = self.group
        self.group = self.stack.pop() if self.stack else _Group()
        if not closed.destination or closed.destination == self.group.destination:
            if closed.destination in ("fonttbl", "stylesheet"):
                self._take_entry(closed)
            return
        text = "".join(self.collected)
        match closed.destination:
            case "title":
                self.title = text.strip() or self.title
            case "listtext" | "pntext":
                self.paragraph.marker = text.strip()
            case "footnote":
                if text.strip():
                    self.waiting.append(Text(text.strip()))
            case "fonttbl" | "stylesheet":
                self._take_entry(closed)
            case "pict" if self.picture in _PICTURES:
                digits = re.sub(r"[^0-9a-fA-F]", "", text)
                self.waiting.append(self.binary or bytes.fromhex(digits[: len(digits) // 2 * 2]))
        if closed.destination != "-":
            self.collected = []

    def _take_entry(self, closed: _Group) -> None:
        """Add a font or a style at the end of its definition; the collected text is its name."""
        name = _FONT_NAME_END.sub("", "".join(self.collected)).strip()
        self.collected = []
        if closed.destination == "fonttbl" and is_of_symbols(name):
            self.symbols[closed.font] = name
        if closed.destination == "stylesheet" and name:
            self.styles[self.paragraph.style] = _Style(name.lower(), self.paragraph.level)
            self.paragraph = _Paragraph()

    # Control words

    def _word(self, word: str, value: int | None) -> Iterator[Block]:
        name = word.lower()
        if name in _KEPT and not self._is_left_out():
            self.group.destination = name
            self.collected = []
            if name == "pict":
                self.picture, self.binary = "", b""
        elif name in _LEFT_OUT or (self.starred and name not in _ENTERED and name not in ("cs", "ts")):
            self.group.destination = "-"
        elif self.group.destination == "-":
            return
        elif name == "u" and value is not None:
            self._put(chr(value % 0x10000))
            self.skip = self.group.skipped
        elif self.group.destination in ("fonttbl", "stylesheet") and name in _DEFINED:
            self._define(name, value or 0)
        elif self.group.destination == "pict":
            self.picture = name if name in _PICTURES else self.picture
        elif action := _FORMATS.get(name):
            action(self, value)
        elif name in _BREAKS:
            if self.group.destination:
                self.collected.append("\n")
            elif self.paragraph.in_table:
                self.text.append("\n")
            else:
                yield from self._end_paragraph()
        elif name == "cell":
            text = self._taken()
            marker, self.paragraph.marker = self.paragraph.marker, ""
            self.cells.append(f"{marker} {text}".strip() if marker and marker.isascii() and marker.isalnum() else text)
            self.bold = self.plain = 0
        elif name == "row":
            if self.cells:
                yield Row(self.cells, list(self.properties), self.is_header)
            self.cells = []
            waiting, self.waiting = self.waiting, []
            yield from waiting
        elif name == "nestcell":
            self.text.append(" | ")
        elif word in specialchars:
            self._put(specialchars[word])

    def _define(self, name: str, value: int) -> None:
        if name == "f":
            self.group.font = value
        elif name == "fcharset":
            # The codes of a symbol font are no characters of a code page, where some are halves of one.
            self.fonts[self.group.font] = "latin-1" if value == 2 else charset_map.get(value, self.codepage)
            if value == 1:
                self.fonts[self.group.font] = self.codepage
        elif name in ("s", "cs", "ts", "ds"):
            self.paragraph.style = value if name == "s" else -1  # a style that no paragraph has
        else:
            self.paragraph.level = value + 1 if 0 <= value < 9 else 0

    def _end_paragraph(self) -> Iterator[Block]:
        paragraph, style = self.paragraph, self.styles.get(self.paragraph.style, _Style())
        text = self._taken()
        if text and not _CONTENTS.match(style.name):
            heading = re.match(r"(?:heading|标题|überschrift|titre)\s*(\d)", style.name)
            level = paragraph.level or style.level or (int(heading[1]) if heading else 0)
            yield Text(
                text,
                level=level,
                marker=paragraph.marker,
                indent=paragraph.indent,
                is_bold=self.bold >= self.plain * 0.9,
                is_title=style.name in ("title", "标题"),
            )
        self.bold = self.plain = 0
        paragraph.marker = ""
        waiting, self.waiting = self.waiting, []
        yield from waiting

    def _taken(self) -> str:
        text, self.text = "".join(self.text), []
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return "\n".join(line for line in (" ".join(line.split()) for line in text.split("\n")) if line)


# Code pages that Python knows by other names.
_MACINTOSH = {
    10000: "mac_roman", 10001: "shift_jis", 10002: "big5", 10003: "euc_kr", 10006: "mac_greek", 10007: "mac_cyrillic",
    10008: "gb2312", 10029: "mac_latin2", 10079: "mac_iceland", 10081: "mac_turkish",
}  # fmt: skip


def _set_codepage(reader: Reader, value: int | None) -> None:
    reader.codepage = _MACINTOSH.get(value or 0) or f"cp{value}"
    try:
        codecs.lookup(reader.codepage)
    except LookupError:
        reader.codepage = "utf-8" if value == 65001 else "cp1252"


def _reset_paragraph(reader: Reader, value: int | None) -> None:
    reader.paragraph = _Paragraph(marker=reader.paragraph.marker)


def _reset_characters(reader: Reader, value: int | None) -> None:
    reader.group.is_bold = reader.group.is_hidden = reader.group.is_raised = reader.group.is_struck_out = False
    reader.group.font = reader.default_font


def _begin_row(reader: Reader, value: int | None) -> None:
    reader.properties, reader.pending, reader.is_header = [], CellProperties(0), False


def _end_properties(reader: Reader, value: int | None) -> None:
    reader.properties.append(replace(reader.pending, edge=value or 0))
    reader.pending = CellProperties(0)


def _on(target: str, attribute: str) -> Callable[[Reader, int | None], None]:
    """Return an action that turns an attribute on, or off if the word's number is 0."""

    def act(reader: Reader, value: int | None) -> None:
        setattr(getattr(reader, target) if target else reader, attribute, value != 0)

    return act


def _number(target: str, attribute: str, add: int = 0) -> Callable[[Reader, int | None], None]:
    """Return an action that sets an attribute to the word's number."""

    def act(reader: Reader, value: int | None) -> None:
        setattr(getattr(reader, target) if target else reader, attribute, max(0, (value or 0) + add))

    return act


def _strike(reader: Reader, value: int | None) -> None:
    reader.group.is_struck_out = value != 0
    reader.has_struck = reader.has_struck or (value != 0 and not reader.group.destination)


def _set_asian_bold(reader: Reader, value: int | None) -> None:
    reader.group.is_bold = reader.group.is_bold or (reader.group.is_asian and value != 0)


def _set_level(reader: Reader, value: int | None) -> None:
    reader.paragraph.level = value + 1 if value is not None and 0 <= value < 9 else 0


_FORMATS: dict[str, Callable[[Reader, int | None], None]] = {
    "ansicpg": _set_codepage,
    "deff": _number("", "default_font"),
    "f": _number("group", "font"),
    "uc": _number("group", "skipped"),
    "b": _on("group", "is_bold"),
    "dbch": _on("group", "is_asian"),
    "ab": _set_asian_bold,
    "v": _on("group", "is_hidden"),
    "deleted": _on("group", "is_hidden"),
    "strike": _strike,
    "striked": _strike,
    "super": _on("group", "is_raised"),
    "nosupersub": lambda reader, value: setattr(reader.group, "is_raised", False),
    "htmlrtf": _on("group", "is_hidden"),
    "plain": _reset_characters,
    "pard": _reset_paragraph,
    "s": _number("paragraph", "style"),
    "outlinelevel": _set_level,
    "ilvl": _number("paragraph", "indent"),
    "intbl": _on("paragraph", "in_table"),
    "trowd": _begin_row,
    "cellx": _end_properties,
    "clmrg": _on("pending", "joins_left"),
    "clvmrg": _on("pending", "joins_above"),
    "trhdr": _on("", "is_header"),
}
