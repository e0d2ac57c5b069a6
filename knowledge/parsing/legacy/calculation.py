"""Calculates workbooks whose formulas have no values, as programs write them that can't calculate."""

from collections.abc import Iterator
from pathlib import Path

from knowledge.parsing.elements import Notice
from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import libreoffice
from knowledge.parsing.legacy.conversion import convert


def calculated(path: Path, extension: str, folder: Path, again: bool = False) -> Path | None:
    """Return a copy of a workbook with the values of its formulas, or None if LibreOffice is missing or can't read it.

    `again` means that the values which it has are wrong.
    """
    if not libreoffice.has("calc"):
        return None
    try:
        return convert(path, extension, extension, folder, calculate=again)
    except ParseError:
        return None


def left_out(cells: int) -> Iterator[Notice]:
    """Yield a notice if so many cells have formulas without values."""
    if cells:
        yield Notice(key="left_out.formulas", params={"cells": cells, "package": libreoffice.package("calc")})
