"""Tables without lines whose cells are partly empty."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.knowledge.pdf_files import HEIGHT, chinese, make_pdf, text
from tests.knowledge.reading import outline, read

Rows = Sequence[Sequence[str]]


def rows_at(
    canvas: Canvas, top: float, rows: Rows, *, bold: bool = False, right: bool = False, step: float = 18
) -> None:
    """Draw rows in columns of 80 points; with `right`, all but the first are right-aligned."""
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            x, y = 60 + 80 * column, top + step * number
            if cell > "\u2e80":
                chinese(canvas, x, y, cell)
            elif right and column:
                canvas.drawRightString(x + 60, HEIGHT - y, cell)
            elif cell:
                text(canvas, x, y, cell, "Helvetica-Bold" if bold and not number else "Helvetica")


def shown(rows: Rows) -> str:
    return "table: " + " | ".join(map(",".join, rows))


STOCK = [
    ["Article", "Shelf", "Expected", "Counted", "State"],
    ["A-884", "K-12", "450", "", ""],
    ["", "L-07", "", "289", "short"],
    ["A-920", "", "780", "778", "ok"],
    ["A-456", "M-22", "", "156", "critical"],
    ["", "", "180", "", ""],
    ["A-772", "K-08", "920", "", ""],
]
DEPOTS = [
    ["Depot", "Rented", "Returned", "Lost", "Net"],
    ["Harbour", "1240", "", "", "42"],
    ["Airport", "", "", "8", "87"],
    ["Station", "430", "", "12", ""],
    ["Quay", "", "65", "", ""],
]
COUNTED = [
    ["物料", "仓位", "账面", "实盘", "备注"],
    ["螺丝", "甲一", "450", "", ""],
    ["", "甲二", "", "289", "短缺"],
    ["轴承", "", "780", "", ""],
    ["垫片", "乙三", "", "156", ""],
    ["油封", "", "", "", "待查"],
]


@pytest.mark.parametrize(("rows", "right"), [(STOCK, False), (DEPOTS, True), (COUNTED, False)])
def test_empty_cells_keep_their_columns(tmp_path: Path, rows: Rows, right: bool) -> None:
    make_pdf(tmp_path / "a.pdf", lambda canvas: rows_at(canvas, 200, rows, right=right))
    assert outline(read(tmp_path / "a.pdf")) == [shown(rows)]


def test_a_header_of_two_lines_is_joined(tmp_path: Path) -> None:
    head = [["", "Units", "Units", "", ""], ["Region", "sold", "left", "Price", "Remark"]]
    body = [
        ["North", "120", "", "4.50", ""],
        ["South", "", "31", "", "late"],
        ["West", "98", "12", "4.20", ""],
        ["Centre", "77", "", "", ""],
    ]

    def draw(canvas: Canvas) -> None:
        rows_at(canvas, 200, head, step=12)
        rows_at(canvas, 230, body)

    make_pdf(tmp_path / "a.pdf", draw)
    assert outline(read(tmp_path / "a.pdf")) == [
        shown([["Region", "Units sold", "Units left", "Price", "Remark"], *body])
    ]


@pytest.mark.parametrize("repeated", [True, False])
def test_a_table_goes_on_at_the_top_of_the_next_page(tmp_path: Path, repeated: bool) -> None:
    def row(letter: str, n: int) -> list[str]:
        cells = f"{letter}-{100 + n}", f"K-{n:02}", str(400 + n), str(n), "short"
        filled = True, n % 3 > 0, n % 2 > 0, n % 4 != 1, n % 5 == 0
        return [cell * is_filled for cell, is_filled in zip(cells, filled, strict=True)]

    parts = [[row(letter, number) for number in range(35)] for letter in "AB"]

    def first(canvas: Canvas) -> None:
        text(canvas, 60, 40, "Stock list 2024", size=9)
        rows_at(canvas, 90, [STOCK[0], *parts[0]], bold=True)

    def second(canvas: Canvas) -> None:
        text(canvas, 60, 40, "Stock list 2024", size=9)
        rows_at(canvas, 90, [*[STOCK[0]] * repeated, *parts[1]], bold=repeated)

    make_pdf(tmp_path / "a.pdf", first, second)
    assert outline(read(tmp_path / "a.pdf")) == [shown([STOCK[0], *part]) for part in parts]


def test_lines_of_few_words_are_no_table(tmp_path: Path) -> None:
    lines = [
        ["Ann", "wrote", "", "", "home"],
        ["", "", "and", "", ""],
        ["went", "", "", "out", ""],
        ["", "early", "", "", ""],
        ["", "", "that", "day", ""],
    ]
    make_pdf(tmp_path / "a.pdf", lambda canvas: rows_at(canvas, 200, lines))
    assert not any(line.startswith("table") for line in outline(read(tmp_path / "a.pdf")))
