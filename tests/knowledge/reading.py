"""Helpers for testing parsers: write a small file and read its elements."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from knowledge.explanations import explain
from knowledge.parsing.elements import Code, Element, Heading, Notice, PageBreak, Paragraph, Picture, Table, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import ParseContext, format_of


def read(path: Path, **limits: int) -> list[Element]:
    """Return the elements of a file, read by the parser of its extension, without its title."""
    context = ParseContext(path.parent / "pictures", path.name, **limits)
    found = format_of(path.name).load()(path, context)
    return [element for element in found if not isinstance(element, Title)]


def read_bytes(folder: Path, name: str, data: bytes | str, **limits: int) -> list[Element]:
    """Write a file and return its elements."""
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read(path, **limits)


def refused(path: Path, **limits: int) -> str:
    """Return the code of the error with which a file is refused."""
    with pytest.raises(ParseError) as caught:
        read(path, **limits)
    return caught.value.code


def message_of(about: ParseError | Notice) -> str:
    """Return the message of an error or a notice."""
    return explain(about.key, **about.params)


def outline(elements: list[Element]) -> list[str]:
    """Return elements as short lines: "# heading", "text", "code: …", "table: a,b | 1,2", "picture: alt"."""
    return [_line(element) for element in elements if not isinstance(element, PageBreak)]


def _line(element: Element) -> str:
    if isinstance(element, Heading):
        return f"{'#' * element.level} {element.text}"
    if isinstance(element, Paragraph):
        return element.text
    if isinstance(element, Code):
        return f"code: {element.text}"
    if isinstance(element, Table):
        caption = f"{element.caption}: " if element.caption else ""
        return "table: " + caption + " | ".join(",".join(row) for row in (element.columns, *element.rows))
    if isinstance(element, Notice):
        return f"notice: {message_of(element)}"
    assert isinstance(element, Picture)
    return f"picture: {element.alt}"


def png(width: int = 60, height: int = 40, colour: str = "teal") -> bytes:
    """Return the bytes of a PNG."""
    target = BytesIO()
    Image.new("RGB", (width, height), colour).save(target, "PNG")
    return target.getvalue()


def make_archive(path: Path, parts: dict[str, bytes]) -> Path:
    """Write a compressed archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return path


def with_part(source: Path, target: Path, part: str, data: bytes) -> Path:
    """Copy an archive with one part replaced."""
    with zipfile.ZipFile(source) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    return make_archive(target, parts | {part: data})
