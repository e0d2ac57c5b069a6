"""Excel workbooks, created with openpyxl."""

import re
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.drawing.image import Image
from openpyxl.styles import Font
from openpyxl.utils.datetime import MAC_EPOCH

from knowledge.parsing import ooxml
from knowledge.parsing.elements import PageBreak, Picture, Table
from knowledge.parsing.legacy import calculation
from knowledge.parsing.xlsx import workbook
from tests.knowledge.reading import make_archive, outline, png, read, refused, with_part


def book(*sheets: list[list[object]]) -> Workbook:
    made = Workbook()
    for number, rows in enumerate(sheets):
        sheet = made.active if number == 0 else made.create_sheet(f"Sheet{number + 1}")
        assert sheet is not None
        sheet.title = f"Data {number + 1}"
        for row in rows:
            sheet.append(row)
    return made


def saved(made: Workbook, folder: Path) -> Path:
    path = folder / "a.xlsx"
    made.save(path)
    return path


def test_each_sheet_is_a_page_under_its_name(tmp_path: Path) -> None:
    found = read(saved(book([["Name", "Age"], ["Ann", 3]], [["Town", "Size"], ["Oslo", 7]]), tmp_path))

    assert outline(found) == ["# Data 1", "table: Name,Age | Ann,3", "# Data 2", "table: Town,Size | Oslo,7"]
    assert [(item.page, item.total) for item in found if isinstance(item, PageBreak)] == [(1, 2), (2, 2)]
    assert [item.page for item in found] == [1, 1, 1, 2, 2, 2]


def test_ticks_are_letters_of_wingdings(tmp_path: Path) -> None:
    made = book([["Model", "Fan", "Radio"], ["LS-2408", "ü", "û"], ["Über", "ü", "P"]])
    for cell, font in (("B2", "Wingdings"), ("C2", "Wingdings"), ("C3", "Wingdings 2")):
        made.active[cell].font = Font(name=font)

    assert outline(read(saved(made, tmp_path))) == [
        "# Data 1",
        "table: Model,Fan,Radio | LS-2408,✓,✗ | Über,ü,✓",
    ]


def test_missing_styles_are_ignored(tmp_path: Path) -> None:
    path = saved(book([["Name", "Age"], ["Ann", 3]]), tmp_path)
    with zipfile.ZipFile(path) as package:
        sheet = package.read("xl/worksheets/sheet1.xml").replace(b'<c r="', b'<c s="999" r="')
    changed = with_part(path, tmp_path / "b.xlsx", "xl/worksheets/sheet1.xml", sheet)

    assert outline(read(changed)) == ["# Data 1", "table: Name,Age | Ann,3"]


def test_empty_rows_separate_tables_and_a_single_cell_above_is_the_caption(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Sales by region"],
        ["Region", "Sum"],
        ["North", 5],
        [],
        [None, "City", "Sum"],
        [None, "Oslo", 1],
        [None, "Rome", 2],
        [],
        ["Costs"],
        [],
        ["Kind", "Sum"],
        ["Rent", 9],
        [],
        ["A note."],
    ]

    assert outline(read(saved(book(rows), tmp_path)))[1:] == [
        "table: Sales by region: Region,Sum | North,5",
        "table: City,Sum | Oslo,1 | Rome,2",
        "table: Costs: Kind,Sum | Rent,9",
        "A note.",
    ]


def test_merged_cells_and_two_header_rows(tmp_path: Path) -> None:
    made = book(
        [["Region", "Year", None], [None, "a", "b"], ["North", 1, 2], [None, 3, 4]],
    )
    for area in ("A1:A2", "B1:C1", "A3:A4"):
        made.active.merge_cells(area)  # type: ignore[union-attr]

    assert outline(read(saved(made, tmp_path)))[1:] == ["table: Region,Year / a,Year / b | North,1,2 | North,3,4"]


def test_a_merged_title_is_the_caption(tmp_path: Path) -> None:
    made = book([["各项存款", None], ["项目", "金额"], ["住户", 3], ["企业", 4]])
    made.active.merge_cells("A1:B1")  # type: ignore[union-attr]

    assert outline(read(saved(made, tmp_path)))[1:] == ["table: 各项存款: 项目,金额 | 住户,3 | 企业,4"]


# How values are shown by their formats: test_number_formats.py.


def test_formats_and_dates_come_from_the_cells(tmp_path: Path) -> None:
    made = book([["Day", "Share"], [datetime(2024, 1, 2), 0.5]])
    made.active["B2"].number_format = "0%"  # type: ignore[index]

    assert outline(read(saved(made, tmp_path)))[1:] == ["table: Day,Share | 2024-01-02,50%"]


def test_formulas_show_their_last_value(tmp_path: Path) -> None:
    path = saved(book([["a", "b"], [1, "=A2+1"]]), tmp_path)
    import zipfile

    with zipfile.ZipFile(path) as package:
        sheet = package.read("xl/worksheets/sheet1.xml").replace(b"<v />", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>")
    again = with_part(
        path, tmp_path / "b.xlsx", "xl/worksheets/sheet1.xml", sheet.replace(b"</f><v/>", b"</f><v>2</v>")
    )

    assert outline(read(again))[1:] == ["table: a,b | 1,2"]


def _uncalculated(formula: str, folder: Path, value: str = "", workbook: bytes = b"") -> Path:
    """Return a workbook whose formulas have this value in XML, as programs write it that don't calculate."""
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><f>{formula}</f>{value}</c></row>' for n in (1, 2)
    )
    path = sheet_of(rows, folder)
    if workbook:
        with zipfile.ZipFile(path) as package:
            changed = re.sub(rb"<calcPr[^>]*>", workbook, package.read("xl/workbook.xml"))
        path = with_part(path, folder / "again.xlsx", "xl/workbook.xml", changed)
    return path


@pytest.mark.parametrize("value", ["", "<v/>", "<v></v>", "<v />"])
def test_formulas_without_values_are_calculated(tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def calculated(path: Path, extension: str, folder: Path, again: bool) -> Path:
        asked.append((path.name, extension, again))
        return saved(book([["n", "twice"], [2, 4]]), tmp_path)

    monkeypatch.setattr(calculation, "calculated", calculated)
    assert outline(read(_uncalculated("A1*2", tmp_path, value))) == ["# Data 1", "table: n,twice | 2,4"]
    assert asked == [("made.xlsx", "xlsx", False)]


def test_zeros_are_no_values_if_the_file_asks_to_be_calculated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(calculation, "calculated", lambda *arguments: asked.append(arguments[-1]))
    opening, plain = b'<calcPr calcId="1" fullCalcOnLoad="1"/>', b'<calcPr calcId="1"/>'
    found = read(_uncalculated("A1*2", tmp_path, "<v>0</v>", opening))
    assert outline(found)[-1].startswith("notice: 2 cells have formulas that were never calculated")
    for path in (
        _uncalculated("A1*2", tmp_path, "<v>0</v>", plain),
        _uncalculated("A1*2", tmp_path, "<v>7</v>", opening),
        _uncalculated("A1*2", tmp_path, "<v>7</v>"),
    ):
        assert not any("formulas" in line for line in outline(read(path)))
    assert asked == [True]


def test_the_empty_text_that_a_formula_returns_is_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calculation, "calculated", lambda *arguments: pytest.fail("was calculated"))
    cell = '<row r="1"><c r="A1" t="str"><f>IF(1,"","x")</f><v></v></c><c r="B1"><v>1</v></c></row>'
    assert outline(read(sheet_of(cell, tmp_path))) == ["# Data 1", "1"]


def test_dates_counted_from_1904(tmp_path: Path) -> None:
    made = book([["Day", "Time"], [datetime(2024, 2, 5), datetime(2024, 2, 5, 14, 30)]])
    made.epoch = MAC_EPOCH
    made.active["A2"].number_format = 'd"日"mmm'
    made.active["B2"].number_format = "yyyy-mm-dd hh:mm"
    path = saved(made, tmp_path)
    with zipfile.ZipFile(path) as package:
        assert b'date1904="1"' in package.read("xl/workbook.xml")
        assert b"<v>43865</v>" in package.read("xl/worksheets/sheet1.xml")
    assert outline(read(path)) == ["# Data 1", "table: Day,Time | 5日Feb,2024-02-05 14:30"]


def test_charts_become_tables_and_pictures_are_stored(tmp_path: Path) -> None:
    made = book([["Kind", "Count"], ["x", 1], ["y", 2]])
    sheet = made.active
    assert sheet is not None
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)  # type: ignore[arg-type]
    sheet.add_chart(chart, "E1")  # type: ignore[union-attr]
    sheet.add_image(Image(BytesIO(png())), "E20")  # type: ignore[union-attr]

    found = read(saved(made, tmp_path))
    assert [type(item) for item in found[2:]] == [Table, Picture]  # openpyxl caches no values for the chart


def test_long_sheets_are_split_into_parts_with_the_same_header(tmp_path: Path) -> None:
    found = read(saved(book([["id", "name"], *[[n, f"n{n}"] for n in range(1100)]]), tmp_path))

    tables = [item for item in found if isinstance(item, Table)]
    assert {table.columns for table in tables} == {("id", "name")}
    assert [row[0] for table in tables for row in table.rows] == [str(n) for n in range(1100)]


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    assert refused(saved(book([[n, n] for n in range(30)]), tmp_path), max_rows=20) == "too_many_rows"


def test_a_sheet_that_declares_endless_rows_is_read_by_its_content(tmp_path: Path) -> None:
    made = book([["a", "b"], [1, 2]])
    made.active["XFD1048576"] = "last"  # type: ignore[index]

    assert outline(read(saved(made, tmp_path)))[1:2] == ["table: a,b | 1,2"]


def test_cells_are_counted_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = book([[n, None, None, f"n{n}"] for n in range(300)])
    for row in made.active.iter_rows():  # type: ignore[union-attr]
        for cell in row:
            cell.number_format = "0.00"  # so that empty ones are written too
    path = saved(made, tmp_path)
    monkeypatch.setattr(ooxml, "_SCAN", 999)  # tags may be split anywhere
    monkeypatch.setattr(workbook, "_MOST_CELLS", 1200)
    assert len(read(path)) > 1

    def build(*args: object, **kwargs: object) -> None:
        raise AssertionError("a workbook was built")

    monkeypatch.setattr("openpyxl.load_workbook", build)
    monkeypatch.setattr(workbook, "_MOST_CELLS", 1199)
    assert refused(path) == "too_many_rows"


def test_wide_rows_are_counted_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_MOST_CELLS", 5000)
    rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 8))
    assert refused(sheet_of(rows, tmp_path)) == "too_many_rows"


def test_a_row_beyond_excels_limit_is_refused(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="900000000"><c r="A900000000"><v>1</v></c></row>'
    assert refused(sheet_of(rows, tmp_path)) == "broken"


def test_omitted_columns_are_reported(tmp_path: Path) -> None:
    found = read(saved(book([[f"c{n}" for n in range(1200)], list(range(1200))]), tmp_path))

    assert outline(found)[-1] == "notice: A table has 1,200 columns; only the first 1,000 were read."
    assert {len(row) for item in found if isinstance(item, Table) for row in item.rows} == {1000}


def sheet_of(rows: str, folder: Path) -> Path:
    """Return a workbook with a single sheet of these rows in XML."""
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{namespace}"><sheetData>{rows}</sheetData></worksheet>'
    return with_part(saved(book([[1]]), folder), folder / "made.xlsx", "xl/worksheets/sheet1.xml", sheet.encode())


def test_bad_files_are_refused_with_their_reason(tmp_path: Path) -> None:
    good = saved(book([["a", "b"], [1, 2]]), tmp_path)
    bad = tmp_path / "bad.xlsx"
    bad.write_bytes(b"")
    assert refused(bad) == "broken"
    bad.write_bytes(good.read_bytes()[:2000])
    assert refused(bad) == "broken"
    assert refused(make_archive(bad, {"word/document.xml": b"<a/>"})) == "broken"
    assert refused(with_part(good, bad, "xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row>")) == "broken"
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha">]><x>&a;</x>'
    assert refused(with_part(good, bad, "xl/workbook.xml", laughs)) == "broken"
    assert refused(saved(Workbook(), tmp_path)) == "no_text"
