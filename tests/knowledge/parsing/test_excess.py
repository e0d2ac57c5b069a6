"""Numbers and repetitions without end: what is too much is read as it is or left out, and is no error."""

import zipfile
from pathlib import Path

import pytest
from markdown_it.parser_inline import ParserInline
from openpyxl import Workbook
from openpyxl.formatting.rule import FormulaRule, Rule
from openpyxl.worksheet.merge import MergeCells

from knowledge.parsing.docx.numerals import numeral
from knowledge.parsing.elements import Paragraph, Table
from knowledge.parsing.registry import ParseContext, format_of
from knowledge.parsing.tables import layout
from knowledge.parsing.tables.layout import Cell

# Numbers in the structure of a file: too long for Python to convert, huge, or of digits that it does not take for any.
NUMBERS = ("9" * 100_000, "999999999999", "²")


@pytest.mark.parametrize("number", NUMBERS, ids=["long", "large", "superscript"])
@pytest.mark.parametrize(
    ("name", "pattern", "shown"),
    [
        ("list.html", "<ol start='{}'><li>tea</ol>", "1. tea"),
        ("cell.html", "<table><tr><td>a<td>b<tr><td colspan='{0}' rowspan='{0}'>tea<td>x</table>", "tea"),
        ("record.json", '{{"amount": {}, "power": 1e999999999}}', "amount"),
        ("rows.csv", "a,b\n{},tea\n1e999999999,2\n", "tea"),
        ("item.md", "{}. tea\n\n# One\n", "tea"),
        ("group.rtf", "{{\\rtf1 \\fs{0} \\li{0} tea\\par}}", "tea"),
    ],
    ids=["html list", "html cell", "json", "csv", "markdown", "rtf"],
)
def test_endless_numbers_are_no_errors(tmp_path: Path, name: str, pattern: str, shown: str, number: str) -> None:
    if name == "record.json" and number == "²":
        number = "1"
    path = tmp_path / name
    path.write_text(pattern.format(number), encoding="utf-8")
    found = list(format_of(name).load()(path, ParseContext(tmp_path / "out", name)))
    assert shown in "".join(map(str, found))
    assert all(len(str(element)) < 300_000 for element in found)


def test_cells_that_span_a_table_fill_no_more_than_it_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_MOST_FILLED", 5000)
    rows = [[Cell("a", 500, 5000), Cell("b")] for _ in range(100)]
    lines, _across, _width = layout.grid(rows)
    assert [line[:3] for line in lines[:2] + lines[-1:]] == [["a", "a", "a"], ["a", "a", "a"], ["a", "b", ""]]
    assert sum(1 for line in lines for text in line if text) < 7000


@pytest.mark.parametrize("text", ["*a **b _c ", "[", "`a ", "~~a ", "<b "])
def test_markdown_with_more_marks_than_text_is_read_as_it_is(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Tea\n\n*Green* tea.\n\n" + text * 3000, encoding="utf-8")
    parsed: list[str] = []
    parse = ParserInline.parse
    monkeypatch.setattr(ParserInline, "parse", lambda self, src, *rest: (parsed.append(src), parse(self, src, *rest)))
    found = list(format_of("a.md").load()(path, ParseContext(tmp_path / "out", "a.md")))
    assert "Green tea." in str(found) and text * 10 in "".join(getattr(one, "text", "") for one in found)
    assert sum(map(len, parsed)) < 25_000


def test_the_letters_of_a_list_end_as_in_word() -> None:
    assert numeral(780, "upperLetter") == "Z" * 30 and numeral(781, "lowerLetter") == "781"


def test_text_without_marks_is_read_like_text_with_them(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("Green tea (5 %).\n\n|a b|_c_|\n|-|-|\n|1,5|*x*|\n\n2\\. a &amp; b\n", encoding="utf-8")
    found = list(format_of("a.md").load()(path, ParseContext(tmp_path / "out", "a.md")))
    assert [one.text for one in found if isinstance(one, Paragraph)] == ["Green tea (5 %).", "2. a & b"]
    assert [(one.columns, one.rows) for one in found if isinstance(one, Table)] == [(("a b", "c"), (("1,5", "x"),))]


def test_numbers_that_excel_does_not_have_are_read_as_text(tmp_path: Path) -> None:
    numbers = ["9" * 5000, "1e999999999", "-1e-999999999", "0." + "3" * 5000, "NaN", "12", "-7", "12345678901234567890"]
    book = Workbook()
    for row in range(1, len(numbers) + 1):
        book.active.cell(row, 1, f"n{row}")
        book.active.cell(row, 2, 1000 + row)
    book.save(tmp_path / "plain.xlsx")
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(path, "w") as changed:
        for part in plain.namelist():
            content = plain.read(part).decode()
            if part.endswith("sheet1.xml"):
                for row, number in enumerate(numbers, 1):
                    content = content.replace(f"<v>{1000 + row}</v>", f"<v>{number}</v>")
            changed.writestr(part, content)
    found = format_of("a.xlsx").load()(path, ParseContext(tmp_path / "out", "a.xlsx"))
    rows = dict(row for one in found if isinstance(one, Table) for row in (one.columns, *one.rows) if len(row) == 2)
    assert [rows[f"n{row}"] for row in (1, 2, 5, 6, 7)] == ["9" * 5000, "1e999999999", "NaN", "12", "-7"]
    assert rows["n4"].startswith("0.333") and len(rows["n4"]) < 20


def test_only_the_cells_of_a_sheet_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Workbook()
    for row in (["Tea", "Price"], ["green", 3]):
        book.active.append(row)
    book.active.conditional_formatting.add("A1:B2", FormulaRule(["A1>1"]))
    book.active.merge_cells("A4:B4")
    book.save(tmp_path / "a.xlsx")
    for part in (MergeCells, Rule):
        monkeypatch.setattr(part, "from_tree", lambda *given: pytest.fail("It is of no use."))
    found = list(format_of("a.xlsx").load()(tmp_path / "a.xlsx", ParseContext(tmp_path / "out", "a.xlsx")))
    assert [(one.columns, one.rows) for one in found if isinstance(one, Table)] == [
        (("Tea", "Price"), (("green", "3"),))
    ]
