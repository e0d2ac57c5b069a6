"""Pictures and charts over a sheet's cells."""

import posixpath
import zipfile
from collections.abc import Iterator

from lxml import etree

from knowledge.parsing.charts import read_chart
from knowledge.parsing.elements import Element
from knowledge.parsing.ooxml import A, C, R, parse_xml
from knowledge.parsing.pictures import PictureStore

_XDR = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"


def drawings_of(package: zipfile.ZipFile, sheet: str, pictures: PictureStore, page: int) -> Iterator[Element]:
    """Yield the pictures of a sheet and its charts' data as tables."""
    for kind, drawing in _relations(package, sheet).values():
        root = _xml(package, drawing) if kind.endswith("/drawing") else None
        if root is None:
            continue
        related = _relations(package, drawing)
        for item in root.iter(f"{_XDR}pic"):
            properties = next(item.iter(f"{_XDR}cNvPr"), None)
            alt = properties.get("descr", "") if properties is not None else ""
            for blip in item.iter(f"{A}blip"):
                _, target = related.get(blip.get(f"{R}embed", ""), ("", ""))
                yield from pictures.save(_read(package, target), alt, page)
        for item in root.iter(f"{C}chart"):
            _, target = related.get(item.get(f"{R}id", ""), ("", ""))
            yield from read_chart(_read(package, target), page)


def _relations(package: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return a part's relations within the file, as types and paths by id."""
    folder, name = posixpath.split(part)
    root = _xml(package, f"{folder}/_rels/{name}.rels")
    found: dict[str, tuple[str, str]] = {}
    for item in root if root is not None else ():
        if item.get("TargetMode") != "External":
            path = posixpath.normpath(posixpath.join("/" + folder, item.get("Target", "")))
            found[item.get("Id", "")] = (item.get("Type", ""), path.lstrip("/"))
    return found


def _xml(package: zipfile.ZipFile, part: str) -> etree._Element | None:
    data = _read(package, part)
    return parse_xml(data) if data else None


def _read(package: zipfile.ZipFile, part: str) -> bytes:
    try:
        return package.read(part) if part else b""
    except KeyError:
        return b""
