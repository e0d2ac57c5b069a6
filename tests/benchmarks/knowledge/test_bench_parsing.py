"""What `bench parsing` counts, on a file whose text is known."""

from itertools import pairwise
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from reportlab.pdfgen.canvas import Canvas

from tests.benchmarks.knowledge import parsing
from tests.knowledge.pdf_files import grid, make_pdf, prose, text


def test_a_file_is_read_beside_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 60, "Report", size=20)
        prose(canvas, 72, 100, 80)
        grid(canvas, 72, 200, [["Name", "Ports"], ["Alpha", "24"]])

    make_pdf(tmp_path / "report.pdf", draw)
    (tmp_path / "report.csv").write_text("Name,Ports\nAlpha,24\n")
    call_command("bench", "parsing", str(tmp_path))
    shown = capsys.readouterr().out
    (ours,) = (line.split("|")[2:9] for line in shown.splitlines() if line.startswith("| ours"))
    assert [cell.strip() for cell in ours] == ["1.0000", "1.0000", "0.00", "0.00", "1.0000", "1.0000", "1.0000"]
    assert "Passages of mere headings: 0 of" in shown


def test_what_is_lost_glued_and_split_is_counted() -> None:
    words = ["there", "are", "two", "formats", "of", "files", "here"]
    reference = parsing.Reference([words], set(pairwise(words)), set())
    score = parsing._score(parsing.Reading([["there", "are", "twoformats", "fi", "les", "here"]]), reference, None)
    assert (score.expected, score.words, score.matched) == (7, 6, 3)
    assert score.glued == {"two|formats": 1} and score.split == {"fi les": 1}


def test_a_folder_without_pdfs_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no PDF"):
        call_command("bench", "parsing", str(tmp_path))
