"""Numbers and repetitions without end: what is too much is read as it is or left out, and is no error."""

from pathlib import Path

import pytest
from markdown_it.parser_inline import ParserInline

from knowledge.parsing.docx.numerals import numeral
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
