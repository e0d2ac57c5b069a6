"""Opens OpenDocument files safely: their parts, pictures, and styles of paragraphs and lists."""

import posixpath
import zipfile
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path

from lxml import etree

from knowledge.parsing.docx.numerals import numeral
from knowledge.parsing.elements import Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import MAX_XML, check_archive, number_in
from knowledge.parsing.ooxml import BROKEN, broken
from knowledge.parsing.registry import ParseContext, Parser

_NAMESPACE = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
OFFICE, TEXT, TABLE, DRAW, STYLE, PRESENTATION, CHART = (
    f"{{{_NAMESPACE.format(name)}}}"
    for name in ("office", "text", "table", "drawing", "style", "presentation", "chart")
)
SVG = f"{{{_NAMESPACE.format('svg-compatible')}}}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
XLINK = "{http://www.w3.org/1999/xlink}"
_DUBLIN = "{http://purl.org/dc/elements/1.1/}"
_MOST_PICTURE = 64 * 1024**2  # bytes
_MOST_PARENTS = 20  # of a style
_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_FORMS |= {"一, 二, 三, ...": "chineseCounting", "壹, 贰, 叁, ...": "decimal", "①, ②, ③, ...": "decimalEnclosedCircle"}


@dataclass(frozen=True, slots=True)
class ListLevel:
    """The markers of a list level: a bullet, or numbers in a format with a prefix and a suffix."""

    is_numbered: bool
    form: str = "decimal"
    prefix: str = ""
    suffix: str = ""
    start: int = 1

    def marker(self, number: int) -> str:
        """Return the marker of an item by its number."""
        return f"{self.prefix}{numeral(number, self.form)}{self.suffix}" if self.is_numbered else "-"


@dataclass(slots=True)
class _Style:
    shown_name: str
    parent: str
    list_style: str
    level: int


@dataclass(slots=True)
class Styles:
    """The document's styles, including automatic ones."""

    paragraphs: dict[str, _Style] = field(default_factory=dict)
    raised: set[str] = field(default_factory=set)  # character styles for superscripts
    hidden_slides: set[str] = field(default_factory=set)  # styles of slides
    struck_out: set[str] = field(default_factory=set)  # character and cell styles
    struck_paragraphs: set[str] = field(default_factory=set)  # paragraph styles
    fonts: dict[str, str] = field(default_factory=dict)  # font names by character style
    lists: dict[str, dict[int, ListLevel]] = field(default_factory=dict)

    def read(self, root: etree._Element) -> None:
        """Add the styles of a part."""
        for node in root.iter(f"{STYLE}style"):
            for properties in node.iterfind(f"{STYLE}drawing-page-properties"):
                if properties.get(f"{PRESENTATION}visibility") == "hidden":
                    self.hidden_slides.add(node.get(f"{STYLE}name", ""))
            if node.get(f"{STYLE}family") == "paragraph":
                level = node.get(f"{STYLE}default-outline-level", "")
                name = node.get(f"{STYLE}name", "")
                self.paragraphs[name] = _Style(
                    (node.get(f"{STYLE}display-name") or name).replace("_20_", " "),
                    node.get(f"{STYLE}parent-style-name", ""),
                    node.get(f"{STYLE}list-style-name", ""),
                    number_in(level, 0),
                )
            for properties in node.iterfind(f"{STYLE}text-properties"):
                family, name = node.get(f"{STYLE}family"), node.get(f"{STYLE}name", "")
                if is_struck_out(properties):
                    (self.struck_paragraphs if family == "paragraph" else self.struck_out).add(name)
                if family != "text":
                    continue
                if properties.get(f"{STYLE}text-position", "").startswith("super"):
                    self.raised.add(name)
                self.fonts[name] = properties.get(f"{STYLE}font-name", "")
        for node in root.iter(f"{TEXT}list-style", f"{TEXT}outline-style"):
            levels: dict[int, ListLevel] = {}
            for child in node:
                number = number_in(child.get(f"{TEXT}level"), 0)
                form = child.get(f"{STYLE}num-format", "")
                if isinstance(child.tag, str) and number:
                    levels[number] = ListLevel(
                        is_numbered=bool(form) and not child.tag.endswith("level-style-bullet"),
                        form=_FORMS.get(form, "decimal"),
                        prefix=child.get(f"{STYLE}num-prefix", ""),
                        suffix=child.get(f"{STYLE}num-suffix", "").strip(),
                        start=number_in(child.get(f"{TEXT}start-value"), 1),
                    )
            self.lists[node.get(f"{STYLE}name", "")] = levels

    def names(self, style: str) -> list[str]:
        """Return the display names of a paragraph style and its parents."""
        names: list[str] = []
        while style in self.paragraphs and len(names) < _MOST_PARENTS:
            names.append(self.paragraphs[style].shown_name)
            style = self.paragraphs[style].parent
        return names

    def level(self, style: str) -> int:
        """Return the heading level of a style, 0 for running text."""
        for _ in range(_MOST_PARENTS):
            found = self.paragraphs.get(style)
            if found is None or found.level:
                return found.level if found else 0
            style = found.parent
        return 0


class Package:
    """The parts of a file; a context manager."""

    def __init__(self, path: Path, context: ParseContext, kind: str) -> None:
        self.context = context
        self.archive = zipfile.ZipFile(path)
        check_archive(self.archive)
        self.names = set(self.archive.namelist())
        manifest = self.part("META-INF/manifest.xml")
        if manifest is not None and any(str(node.tag).endswith("}encryption-data") for node in manifest.iter()):
            raise ParseError("encrypted.open_document")
        if "content.xml" not in self.names:
            raise ParseError("broken.no_main_part", kind=kind)
        self.styles = Styles()
        if (root := self.part("styles.xml")) is not None:
            self.styles.read(root)

    def __enter__(self) -> "Package":
        return self

    def __exit__(self, *error: object) -> None:
        self.archive.close()

    def part(self, name: str) -> etree._Element | None:
        """Return a part's root, or None if it is missing."""
        if name not in self.names:
            return None
        if self.archive.getinfo(name).file_size > MAX_XML:
            raise ParseError("too_large.office", kind="OpenDocument")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        return etree.fromstring(self.archive.read(name), parser)

    def picture(self, node: etree._Element) -> bytes:
        """Return the bytes of an embedded image, or b"" for a linked one."""
        name = posixpath.normpath(node.get(f"{XLINK}href", "")).lstrip("./")
        if name not in self.names or self.archive.getinfo(name).file_size > _MOST_PICTURE:
            return b""
        return self.archive.read(name)

    def title(self) -> Title:
        """Return the title in the file's properties."""
        root = self.part("meta.xml")
        found = None if root is None else next(root.iter(f"{_DUBLIN}title"), None)
        return Title(text="" if found is None else words_of(found), shown=False)


def is_struck_out(properties: etree._Element) -> bool:
    """Return whether a style's properties strike text out."""
    return properties.get(f"{STYLE}text-line-through-style", "none") != "none"


def words_of(node: etree._Element) -> str:
    """Return all text in a node."""
    return "".join(text for text in node.itertext() if isinstance(text, str))


def reporting_broken(parse: Parser) -> Parser:
    """Make a parser raise `ParseError` for broken files."""

    @wraps(parse)
    def wrapper(path, context):  # type: ignore[no-untyped-def]
        try:
            yield from parse(path, context)
        except (*BROKEN, zipfile.LargeZipFile) as error:
            raise broken(error) from error

    return wrapper
