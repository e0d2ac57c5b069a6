"""The counts of `bench parsing`, on a file with known text."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from reportlab.pdfgen.canvas import Canvas

from knowledge.parsing.elements import Table
from tests.benchmarks.knowledge import parsing, tables
from tests.knowledge.pdf_files import grid, make_pdf, prose, text


def test_parsers_are_compared_on_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 60, "Report", size=20)
        prose(canvas, 72, 100, 80)
        grid(canvas, 72, 200, [["Name", "Ports"], ["Alpha", "24"]])

    make_pdf(tmp_path / "report.pdf", draw)
    (tmp_path / "report.csv").write_text("Name,Ports\nAlpha,24\n")
    call_command("bench", "parsing", str(tmp_path))
    shown = capsys.readouterr().out
    (ours,) = (line.split("|")[2:10] for line in shown.splitlines() if line.startswith("| ours"))
    assert [cell.strip() for cell in ours] == ["1.0000"] * 2 + ["0.00"] * 3 + ["1.0000"] * 3
    assert "Passages that are only headings: 0 of" in shown


def test_lost_joined_and_split_words_are_counted() -> None:
    words = ["there", "are", "two", "formats", "of", "files", "here"]
    reference = parsing.Reference([words], set(pairwise(words)), set())
    score = parsing._score(parsing.Reading([["there", "are", "twoformats", "fi", "les", "here"]]), reference, None)
    assert (score.expected, score.words, score.matched) == (7, 6, 3)
    assert score.glued == {"two|formats": 1} and score.split == {"fi les": 1}


def test_words_joined_or_split_alike_are_right() -> None:
    words = ["let", "R", "n", "hold", "x2", "con", "tains", "12", "34"]
    reference = parsing.Reference([words], set(pairwise(words)), {"con"})
    score = parsing._score(parsing.Reading([["let", "Rn", "hold", "x", "2", "contains", "1234"]]), reference, None)
    assert (score.expected, score.words, score.matched) == (7, 6, 5)  # a number is no formula


def test_words_of_ignored_lines_are_neither_right_nor_wrong() -> None:
    reference = parsing.Reference([["one", "two"]], {("one", "two")}, set(), Counter(["Handbook", "7"]))
    score = parsing._score(parsing.Reading([["Handbook", "one", "two", "three"]]), reference, None)
    assert (score.words, score.matched, score.aside) == (3, 2, 1)


def test_cells_are_counted_independently_of_merging_and_titles() -> None:
    joined = [["Depths", None], ["Lake", "Depth"], ["Upper", "12"], [None, "30"]]
    repeated = [["Lake", "Depth"], ["Upper", "12"], ["Upper", "30"]]
    again = [["Lake", "Depth"], ["Lower", "7"]]
    frame = [["A warning in a box"], ["and a second one"]]
    assert list(parsing._cells([joined, again])) == ["Lake", "Depth", "Upper", "12", "30", "Lower", "7"]
    assert list(parsing._cells([repeated, frame, again])) == list(parsing._cells([joined, again]))


def test_levels_of_a_header_are_rows() -> None:
    element = Table(columns=("Lake", "Depth / spring", "Depth / autumn"), rows=(("Upper", "12", "9"),))
    cells = ["Lake", "Depth", "spring", "autumn", "Upper", "12", "9"]
    assert list(parsing._cells(parsing._grids([element]))) == cells


def test_unprinted_cells_are_ignored(tmp_path: Path) -> None:
    make_pdf(tmp_path / "report.pdf", lambda canvas: grid(canvas, 72, 200, [["Name", "Ports"], ["Alpha", "24"]]))
    twin = tmp_path / "report.csv"
    twin.write_text("Name,Ports,Hidden\nAlpha,24,secret\n")
    assert parsing._twin_cells(twin, tmp_path / "report.pdf") == {"Name": 1, "Ports": 1, "Alpha": 1, "24": 1}


def test_a_folder_without_pdfs_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no PDF"):
        call_command("bench", "parsing", str(tmp_path))


def test_cells_are_looked_up_under_their_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stock.csv").write_text("Site,2023,2024\nLund,40,1500\nOslo,51,61\n")
    right = {"row": ["Lund"], "header": ["2024"], "value": "1500"}
    wrong = {"row": ["Oslo"], "header": ["2024"], "value": "51"}
    labels = [{"file": "stock.csv", "language": "en", "cells": [right]}]
    labels.append({"file": "stock.csv", "language": "en", "cells": [right, wrong]})
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    call_command("bench", "parsing", str(tmp_path))
    shown = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.splitlines() if line.startswith("|")]
    assert ["csv", "3", "0.6667", "1 of 2"] in rows and "Oslo | 2024 | 51" in shown


@pytest.mark.parametrize(
    ("value", "is_found"), [("0.853", True), ("85.3", True), ("86", False), ("0.86", False), ("text", False)]
)
def test_numbers_are_compared_in_whatever_format(value: str, is_found: bool) -> None:
    table = Table(columns=("City", "Share / men"), rows=(("Lund", "85.3%"),))
    cell = {"row": ["Lund"], "header": ["Share", "men"], "value": value}
    assert tables.is_found(cell, [table]) == is_found
