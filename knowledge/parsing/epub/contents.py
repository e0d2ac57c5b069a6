"""A book's metadata: its files in reading order, its table of contents, its title and authors."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import unquote

from lxml import etree

from knowledge.parsing.errors import ParseError
from knowledge.parsing.html.document import source_of

_DUBLIN = "{http://purl.org/dc/elements/1.1/}"
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_HIDDEN_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_DEEPEST = 20  # levels of a table of contents
_LONGEST_LABEL = 300  # characters
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HAN = "零一二三四五六七八九"
_NUMBERED = re.compile(
    r"(?:chapter|chap\.|kapitel|chapitre|cap[ií]tulo|lesson|lecture)\s+(\d{1,3}|[IVXLC]{1,7}\b|[a-z]+)"
    r"|第\s*(\d{1,4}|[零〇一二两三四五六七八九十百]{1,7})\s*[章回话講讲课]"
    r"|(\d{1,3})(?:[.:、)\s—–-](?!\d)|$)|([IVXLC]{1,7})(?:[.:]\s|$)",
    re.I,
)
FRONT = re.compile(
    r"(?:cover|title ?page|copyright.*|(?:table of )?contents|dedication|imprint|colophon"
    r"|封面|扉页|版权.*|目\s*录)\W*$",
    re.I,
)


@dataclass(slots=True)
class Entry:
    """An entry of the table of contents, with its label, depth (from 0) and file."""

    label: str
    depth: int
    file: str
    number: int | None = None  # of the chapter that begins there, if any


@dataclass(slots=True)
class Contents:
    """A book's metadata; `files` are in reading order."""

    title: str = ""
    about: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The number of the last chapter."""
        return max((entry.number or 0 for entry in self.entries), default=0)


def read_contents(archive: zipfile.ZipFile) -> Contents:
    """Return the book's metadata; raises `ParseError` if it is locked or lists no files."""
    locks = _xml(archive, "META-INF/encryption.xml")
    for node in _named(locks, "EncryptedData") if locks is not None else ():
        method = next(_named(node, "EncryptionMethod"), None)
        if method is None or method.get("Algorithm") not in _HIDDEN_FONTS:
            raise ParseError("encrypted.book")
    root = _xml(archive, "META-INF/container.xml")
    package = "" if root is None else next((node.get("full-path", "") for node in _named(root, "rootfile")), "")
    book = _xml(archive, package)
    if book is None:
        raise ParseError("broken.no_main_part", kind="EPUB")
    base = posixpath.dirname(package)
    items = {
        node.get("id", ""): (_path(base, node.get("href", "")), node.get("media-type", ""), node.get("properties", ""))
        for node in _named(book, "item")
    }
    contents = Contents(title=next(_texts(book, "title"), ""))
    contents.about = [", ".join(filter(None, [contents.title, *_texts(book, "creator")])), *_texts(book, "description")]
    nav = next((path for path, _, properties in items.values() if "nav" in properties.split()), "")
    spine = next(_named(book, "spine"), None)
    ncx = items.get("" if spine is None else spine.get("toc", ""), ("", "", ""))[0]
    for reference in _named(book, "itemref"):
        path, media_type, _ = items.get(reference.get("idref", ""), ("", "", ""))
        if media_type in _PAGES and path != nav and path not in contents.files:
            contents.files.append(path)
    contents.entries = list(_from_nav(archive, nav)) or list(_from_ncx(archive, ncx))
    by_name = {posixpath.basename(file): file for file in contents.files}
    for entry in contents.entries:
        if entry.file not in contents.files:  # its paths are relative to another folder
            entry.file = by_name.get(posixpath.basename(entry.file), entry.file)
    _number([entry for entry in contents.entries if entry.label != contents.title])
    return contents


def read(archive: zipfile.ZipFile, path: str) -> bytes:
    """Return a file of the book, or b"" if it is missing."""
    try:
        return archive.read(path) if path else b""
    except KeyError:
        return b""


def _xml(archive: zipfile.ZipFile, path: str) -> etree._Element | None:
    data = read(archive, path)
    if not data:
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root: etree._Element | None = etree.fromstring(data, parser)
    return root


def _named(root: etree._Element, name: str) -> Iterator[etree._Element]:
    yield from root.iter(f"{{*}}{name}")


def _texts(book: etree._Element, name: str) -> Iterator[str]:
    for node in book.iter(f"{_DUBLIN}{name}"):
        text = re.sub(r"<[^>]{0,500}>", " ", "".join(text for text in node.itertext() if isinstance(text, str)))
        if text.strip():
            yield " ".join(text.split())


def _path(base: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(base, unquote(href.partition("#")[0]))).lstrip("/")


def _from_nav(archive: zipfile.ZipFile, path: str) -> Iterator[Entry]:
    """Yield the entries of an EPUB 3 book: nested lists on a page."""
    data = read(archive, path)
    if not data:
        return
    parser = etree.HTMLParser(encoding="utf-8", no_network=True)
    root: etree._Element | None = etree.fromstring(source_of(data).encode(), parser)
    navs = [] if root is None else list(root.iter("nav"))
    toc = next((nav for nav in navs if "toc" in nav.get("epub:type", nav.get("{*}type", ""))), next(iter(navs), None))
    for link in toc.iter("a") if toc is not None else ():
        depth = sum(1 for parent in link.iterancestors() if parent.tag == "ol") - 1
        yield from _entry(link, depth, _path(posixpath.dirname(path), link.get("href", "")))


def _from_ncx(archive: zipfile.ZipFile, path: str) -> Iterator[Entry]:
    """Yield the entries of an EPUB 2 book."""
    root = _xml(archive, path)
    for point in _named(root, "navPoint") if root is not None else ():
        depth = sum(1 for parent in point.iterancestors("{*}navPoint"))
        label, content = point.find("{*}navLabel"), point.find("{*}content")
        if label is not None and content is not None:
            yield from _entry(label, depth, _path(posixpath.dirname(path), content.get("src", "")))


def _entry(node: etree._Element, depth: int, file: str) -> Iterator[Entry]:
    label = " ".join("".join(text for text in node.itertext() if isinstance(text, str)).split())
    if label and depth <= _DEEPEST:
        yield Entry(label[:_LONGEST_LABEL], max(depth, 0), file)


def _number(entries: list[Entry]) -> None:
    """Set the chapters' numbers to those in their titles, or to none if these start again in each part.

    Without numbers in titles, the chapters are counted, except for the front matter.
    """
    numbered = [(entry, number) for entry in entries if (number := number_of(entry.label)) is not None]
    numbers = [number for _, number in numbered]
    if numbers and all(before < after for before, after in pairwise(numbers)):
        for entry, number in numbered:
            entry.number = number
    elif not numbers:
        chapters = [entry for entry in entries if entry.depth == 0 and not FRONT.match(entry.label)]
        for number, entry in enumerate(chapters, 1):
            entry.number = number


def number_of(label: str) -> int | None:
    """Return the number in a chapter's title, such as "Chapter IV", "3. Oil" or "第十二章", or None."""
    found = _NUMBERED.match(label.strip())
    if found is None:
        return None
    text = next(group for group in found.groups() if group)
    if text.isdecimal():
        return int(text)
    if text.upper() in ("C", "L"):  # an appendix
        return None
    if set(text.upper()) <= set(_ROMAN):
        values = [_ROMAN[letter] for letter in text.upper()]
        return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
    if text.lower() in _WORDS:
        return _WORDS.index(text.lower())
    if text.isascii():
        return None
    total = digit = 0
    for character in text.replace("〇", "零").replace("两", "二"):
        if character in _HAN:
            digit = _HAN.index(character)
        else:
            total += (digit or 1) * {"十": 10, "百": 100}.get(character, 0)
            digit = 0
    return total + digit
