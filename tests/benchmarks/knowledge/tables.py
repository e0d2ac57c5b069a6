"""`bench parsing FOLDER`, if the folder contains `labels.jsonl`: how many cells are read under their right header.

Each line of `labels.jsonl` describes some cells of a table. They are looked up by the texts that identify their row:

    {"file": "stock.xlsx", "language": "en", "cells": [{"row": ["Lund"], "header": ["2022", "Plan"], "value": "40"}]}

`header` has the levels above the cell from the top, and is empty in a table without a header.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.parsing.elements import Table
from knowledge.parsing.errors import ParseError
from tests.benchmarks.knowledge.parsing import elements_of
from tests.benchmarks.retrieval.measuring import table

LABELS = "labels.jsonl"
MOST_WRONG = 60  # cells shown
ROUNDED = 0.006  # relative difference between a number and what a sheet shows of it

_NUMBER = re.compile(r"[-+(]?[^\d\s.-]{0,3}(-?\d[\d,]*(?:\.\d*)?(?:e[-+]?\d+)?)\D{0,6}$", re.IGNORECASE)


@dataclass
class Tally:
    """Counts of cells and tables: all, found under their right header, and tables of which all cells are."""

    cells: int = 0
    right: int = 0
    tables: int = 0
    whole: int = 0


def run(folder: Path, say: Callable[[str], None]) -> None:
    """Measure the labelled tables of a folder and print the shares by format and language, and what is wrong."""
    labels = [json.loads(line) for line in (folder / LABELS).read_text(encoding="utf-8").splitlines() if line.strip()]
    read: dict[str, list[Table]] = {}
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    wrong: list[str] = []
    for label in labels:
        name = label["file"]
        if name not in read:
            try:
                elements, _seconds = elements_of(folder / name, 0)
            except ParseError as error:
                wrong.append(f"- {name}: {error.key}")
                elements = []
            read = {name: [element for element in elements if isinstance(element, Table)]}  # labels are by file
        lost = [cell for cell in label["cells"] if not is_found(cell, read[name])]
        for key in ("all", name.rpartition(".")[2], label["language"]):
            tallies[key].tables += 1
            tallies[key].whole += not lost
            tallies[key].cells += len(label["cells"])
            tallies[key].right += len(label["cells"]) - len(lost)
        if lost:
            cell = lost[0]
            shown = f"{' · '.join(cell['row'])} | {' / '.join(cell['header'])} | {cell['value']}"
            wrong.append(f"- {name}: {len(lost)} of {len(label['cells'])}, such as {' '.join(shown.split())[:200]}")
    rows = [
        [key, str(tally.cells), f"{tally.right / tally.cells:.4f}", f"{tally.whole} of {tally.tables}"]
        for key, tally in tallies.items()
    ]
    say(table(["", "cells", "under their right header", "headers found"], rows))
    say("")
    for line in wrong[:MOST_WRONG]:
        say(line)


def is_found(cell: dict[str, Any], tables: Iterable[Table]) -> bool:
    """Return whether a row of the tables with the cell's texts has its value under its header."""
    header = _squeezed(" / ".join(cell["header"]))
    names = [(_squeezed(name), _number(name)) for name in cell["row"]]
    value = _squeezed(cell["value"]), _number(cell["value"])
    for found in tables:
        columns = [_squeezed(column) for column in found.columns] or [""] * max(map(len, found.rows), default=0)
        places = [place for place, column in enumerate(columns) if column == header]
        for row in found.rows if places else ():
            if any(_is_alike(row[place], *value) for place in places) and all(_has(row, *name) for name in names):
                return True
    return False


def _has(row: Sequence[str], text: str, number: float | None) -> bool:
    return any(_is_alike(cell, text, number) for cell in row)


def _is_alike(cell: str, text: str, number: float | None) -> bool:
    """Return whether a cell shows a text, or a number in whatever format."""
    squeezed = _squeezed(cell)
    if squeezed == text:
        return True
    shown = _number(cell) if number is not None and squeezed else None
    if shown is None or number is None:
        return False
    decimals = len(squeezed.partition(".")[2].rstrip("%")) if "." in squeezed else 0
    return any(
        abs(shown - number * factor) <= max(ROUNDED * abs(shown), 0.5000001 * 10.0**-decimals) for factor in (1, 100)
    )


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split()).lower()


def _number(text: str) -> float | None:
    squeezed = _squeezed(text)
    if squeezed in {"-", "–", "—"}:
        return 0.0  # in accounts
    match = _NUMBER.match(squeezed)
    return float(match.group(1).replace(",", "")) if match else None
