"""Hidden sheets, rows, columns and slides are left out, or read and marked, and the document says so."""

from pathlib import Path

import pptx
import pytest
from openpyxl import Workbook

from knowledge.parsing.elements import Notice
from tests.knowledge.parsing.test_odf import make
from tests.knowledge.reading import outline, read


def lines(path: Path, hidden: bool) -> tuple[list[str], list[str]]:
    found = read(path, hidden=hidden)
    return outline([e for e in found if not isinstance(e, Notice)]), [e.key for e in found if isinstance(e, Notice)]


def test_in_a_workbook(tmp_path: Path) -> None:
    book = Workbook()
    prices = book.active
    assert prices is not None
    prices.title = "价格"
    for row in (["货品", "成本", "价格"], ["手推车", 41, 69], ["铁锹", 12, 35], ["旧耙", 9, 15], ["水壶", 3, 8]):
        prices.append(row)
    prices.row_dimensions[4].hidden = True
    prices.column_dimensions["B"].hidden = True
    draft = book.create_sheet("Draft")
    draft.append(["Item", "Price"])
    draft.append(["Barrow", 99])
    draft.sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")

    assert lines(tmp_path / "a.xlsx", hidden=False) == (
        ["# 价格", "table: 货品,价格 | 手推车,69 | 铁锹,35 | 水壶,8"],
        ["left_out.hidden"],
    )
    assert lines(tmp_path / "a.xlsx", hidden=True) == (
        [
            "# 价格",
            "table: 货品,成本,价格 | 手推车,41,69 | 铁锹,12,35 | 旧耙 (hidden),9,15 | 水壶,3,8",
            "# Draft (hidden)",
            "table: Item,Price | Barrow,99",
        ],
        ["read.hidden"],
    )


def test_nothing_is_said_of_hidden_rows_without_text(tmp_path: Path) -> None:
    book = Workbook()
    assert book.active is not None
    book.active.append(["Item", "Price"])
    book.active.append(["Barrow", 99])
    book.active.row_dimensions[9].hidden = True
    book.active.column_dimensions["G"].hidden = True
    book.save(tmp_path / "a.xlsx")
    assert lines(tmp_path / "a.xlsx", hidden=False)[1] == []


def test_in_a_presentation(tmp_path: Path) -> None:
    show = pptx.Presentation()
    for title in ("Pilot: 3 February", "Pilot: 12 May"):
        show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = title
    show.slides[0]._element.set("show", "0")
    show.save(str(tmp_path / "a.pptx"))
    assert lines(tmp_path / "a.pptx", hidden=False) == (["# Pilot: 12 May"], ["left_out.hidden"])
    assert lines(tmp_path / "a.pptx", hidden=True) == (
        ["# Pilot: 3 February (hidden)", "# Pilot: 12 May"],
        ["read.hidden"],
    )


HIDDEN_SLIDE = (
    '<style:style style:name="D1" style:family="drawing-page">'
    '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
)
HIDDEN_SHEET = (
    '<style:style style:name="T1" style:family="table"><style:table-properties table:display="false"/></style:style>'
)


def slide(style: str, title: str) -> str:
    text = f"<draw:text-box><text:p>{title}</text:p></draw:text-box>"
    return (
        f'<draw:page draw:style-name="{style}"><draw:frame presentation:class="title">{text}</draw:frame></draw:page>'
    )


def sheet(style: str, name: str, *rows: tuple[str, str]) -> str:
    """Return a sheet of one column; each row has a text and attributes."""
    body = "".join(
        f"<table:table-row {attributes}>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in text.split(","))
        + "</table:table-row>"
        for text, attributes in rows
    )
    return f'<table:table table:name="{name}" table:style-name="{style}">{body}</table:table>'


@pytest.mark.parametrize("hidden", [True, False])
def test_in_open_documents(tmp_path: Path, hidden: bool) -> None:
    body = slide("D1", "试点：二月三日") + slide("D0", "试点：五月十二日")
    talk = make(tmp_path / "a.odp", body, automatic=HIDDEN_SLIDE)
    rows = (("Item,Price", ""), ("Barrow,69", ""), ("Rake,15", 'table:visibility="collapse"'))
    body = sheet("T1", "Draft", ("Item,Price", ""), ("Barrow,99", "")) + sheet("T0", "Prices", *rows)
    book = make(tmp_path / "a.ods", body, automatic=HIDDEN_SHEET)
    if hidden:
        assert lines(talk, hidden) == (["# 试点：二月三日 (hidden)", "# 试点：五月十二日"], ["read.hidden"])
        assert lines(book, hidden) == (
            [
                "# Draft (hidden)",
                "table: Item,Price | Barrow,99",
                "# Prices",
                "table: Item,Price | Barrow,69 | Rake (hidden),15",
            ],
            ["read.hidden"],
        )
    else:
        assert lines(talk, hidden) == (["# 试点：五月十二日"], ["left_out.hidden"])
        assert lines(book, hidden) == (["# Prices", "table: Item,Price | Barrow,69"], ["left_out.hidden"])
