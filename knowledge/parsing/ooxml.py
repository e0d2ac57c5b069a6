"""Helpers of the Office parsers: opening packages safely, and reading pictures."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import check_archive, check_office_parts

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

_SCAN = 1 << 20  # bytes
_LONGEST_TAG = 1000  # bytes
_LONGEST_RELATIONS = 20 * 1024 * 1024  # bytes of a part that lists them
# Content types of the main part of files with macros, templates and slide shows, and those of plain files.
_MAIN_TYPE = re.compile(
    rb"application/vnd\.(?:ms-(?:word|powerpoint)\.\w+\.macroEnabled\w*"
    rb"|openxmlformats-officedocument\.\w+\.(?:template|slideshow))\.main\+xml"
)
_PLAIN_WORD = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_PLAIN_SLIDES = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"

# Exceptions that python-docx, python-pptx and openpyxl raise for broken packages.
BROKEN = (
    zipfile.BadZipFile,
    etree.XMLSyntaxError,
    SyntaxError,
    KeyError,
    ValueError,
    IndexError,
    AttributeError,
    TypeError,
    LookupError,
    EOFError,
    OSError,
    NotImplementedError,
    AssertionError,
)


def check_package(path: Path, main_part: str, kind: str) -> None:
    """Raise `ParseError` unless the file is a valid package with a part whose name starts with `main_part`."""
    try:
        with zipfile.ZipFile(path) as package:
            check_archive(package)
            check_office_parts(package)
            names = package.namelist()
    except BROKEN as error:
        raise broken(error) from error
    if not any(name.lstrip("/").startswith(main_part) for name in names):
        raise ParseError("broken.no_main_part", kind=kind)


def blocks_of(package: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield a part of a package in blocks that don't split a tag, unless it is very long."""
    with package.open(part) as file:
        rest = b""
        while block := file.read(_SCAN):
            block = rest + block
            cut = block.rfind(b"<")
            cut = cut if cut > 0 and len(block) - cut < _LONGEST_TAG else len(block)
            yield block[:cut]
            rest = block[cut:]
        yield rest


def whole(path: Path, folder: Path) -> Path:
    """Return the file, or a repaired copy in `folder`.

    Libraries fail on relations to missing parts, which programs other than Office write, and on files with macros,
    templates and slide shows.
    """
    with zipfile.ZipFile(path) as package:
        names = {name.lower() for name in package.namelist()}
        repaired: dict[str, bytes] = {}
        types = package.read("[Content_Types].xml") if "[content_types].xml" in names else b""
        plain = _MAIN_TYPE.sub(lambda found: _PLAIN_WORD if b"word" in found[0] else _PLAIN_SLIDES, types)
        if plain != types:
            repaired["[Content_Types].xml"] = plain
        for entry in package.infolist():
            if not entry.filename.endswith(".rels") or entry.file_size > _LONGEST_RELATIONS:
                continue
            root = etree.fromstring(package.read(entry), etree.XMLParser(resolve_entities=False, no_network=True))
            base = posixpath.dirname(posixpath.dirname(entry.filename))
            for relation in list(root):
                target = posixpath.normpath(posixpath.join("/", base, relation.get("Target", "")))
                if relation.get("TargetMode") != "External" and target.lstrip("/").lower() not in names:
                    root.remove(relation)
                    repaired[entry.filename] = etree.tostring(root)
        if not repaired:
            return path
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / "whole.package"
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target_package:
            for entry in package.infolist():
                target_package.writestr(entry.filename, repaired.get(entry.filename) or package.read(entry))
    return copy


def broken(error: BaseException) -> ParseError:
    """Return the `ParseError` for a library's error; raise it from `error`, which is logged."""
    if isinstance(error, etree.XMLSyntaxError) and "depth" in str(error):
        return ParseError("broken.too_deep")
    return ParseError("broken.office")


def parse_xml(data: bytes) -> etree._Element:
    """Return the root of a part, without resolving entities."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))


def blob(part: Any, relation: str | None) -> bytes:
    """Return the bytes of a part's related picture, or b"" if it is missing or outside the file."""
    found = part.rels.get(relation)
    data = b"" if found is None or found.is_external else getattr(found.target_part, "blob", b"")
    return data if isinstance(data, bytes) else b""
