"""Rendered pages, and the boxes of passages on them."""

import io
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from knowledge.parsing.errors import ParseError
from knowledge.parsing.pdf.render import find_boxes, fold, matches, render_page


@pytest.fixture
def path(tmp_path: Path) -> Path:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.drawString(100, A4[1] - 200, "The quick brown fox jumps over the lazy dog and then it runs a-")
    canvas.drawString(100, A4[1] - 215, "way into the deep forest, where nobody can find it.")
    canvas.drawString(100, 100, "Something else altogether stands here.")
    canvas.showPage()
    canvas.setPageRotation(90)
    canvas.drawString(100, 400, "A page that is shown turned by a quarter.")
    canvas.showPage()
    canvas.save()
    return tmp_path / "a.pdf"


def test_a_page_is_rendered_with_the_requested_width(path: Path) -> None:
    image = Image.open(io.BytesIO(render_page(path, 1, 400)))
    assert image.format == "PNG"
    assert abs(image.width - 400) <= 1
    assert abs(image.height / image.width - A4[1] / A4[0]) < 0.01
    assert image.convert("L").getextrema()[0] < 100


def test_a_missing_page(path: Path) -> None:
    with pytest.raises(IndexError):
        render_page(path, 3, 400)
    with pytest.raises(IndexError):
        find_boxes(path, 0, "fox")


def test_a_file_that_is_not_a_pdf(tmp_path: Path) -> None:
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(ParseError) as caught:
        render_page(tmp_path / "b.pdf", 1, 400)
    assert caught.value.code == "broken"


def test_a_passage_over_two_lines_has_two_boxes(path: Path) -> None:
    boxes = find_boxes(path, 1, "jumps over the lazy dog and then it runs away into the deep forest")
    assert len(boxes) == 2
    upper, lower = boxes
    assert 0.22 < upper[1] < upper[3] < 0.25
    assert upper[0] > 0.3  # "The quick brown fox" is not part of it
    assert abs(lower[0] - 100 / A4[0]) < 0.01
    assert upper[3] <= lower[3]


def test_boxes_follow_the_rotation_of_the_page(path: Path) -> None:
    (box,) = find_boxes(path, 2, "A page that is shown turned by a quarter.")
    assert box[3] - box[1] > 2 * (box[2] - box[0])
    image = Image.open(io.BytesIO(render_page(path, 2, 800))).convert("L")
    crop = image.crop(tuple(round(v * s) for v, s in zip(box, image.size * 2, strict=True)))  # type: ignore[arg-type]
    assert crop.getextrema()[0] < 100


def test_text_that_is_not_on_the_page_has_no_boxes(path: Path) -> None:
    assert find_boxes(path, 1, "An entirely different sentence of another document") == []
    assert find_boxes(path, 1, "") == []


def test_words_that_match_by_chance_are_not_the_passage() -> None:
    passage = "the second paragraph tells at length of the see description of the builtin and of what it is good for"
    page = fold(f"See the description of the builtin below. Between: {'other words ' * 9}{passage}")
    found = matches(page, list(range(len(page))), passage)
    assert "".join(page[i] for i in found) == fold(passage)
    # Nor if there are only such words.
    assert matches(page[:120], list(range(120)), passage) == []


def test_a_table_with_cells_in_another_order_is_found() -> None:
    cells = ["Arabica beans", "roasted light", "93 degrees hot", "Robusta beans", "roasted dark", "95 degrees hot"]
    page = fold(" ".join(cells[::2] + cells[1::2]))
    found = matches(page, list(range(len(page))), " | ".join(cells))
    assert len(found) > 0.7 * len(page)


def test_matching_survives_other_text_in_between() -> None:
    page = "leftcolumnonepartFOOTERleftcolumntwopart".lower()
    found = matches(page, list(range(len(page))), "left column one part, left column two part")
    assert "".join(page[i] for i in found) == page.replace("footer", "")
