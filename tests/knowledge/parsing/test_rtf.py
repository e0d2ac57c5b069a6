"""Rich text: its structure from control words, code pages, and limits."""

from pathlib import Path

import pytest

from knowledge.parsing.elements import Element, Picture, Title
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.rtf.document import parse
from tests.knowledge.reading import outline, png, read_bytes, refused

_HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fnil\fcharset134 SimSun;}"
    r"{\f2\fcharset2 Symbol;}}{\colortbl;\red0\green0\blue0;}"
    r"{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2\outlinelevel1 Deep;}"
    r"{\s3 Title;}{\s4 toc 1;}{\*\cs10 Default;}}{\*\generator Own;}{\header left out}"
)


def _read(folder: Path, body: str, head: str = _HEAD) -> list[Element]:
    return read_bytes(folder, "a.rtf", (head + body + "}").encode("latin-1"))


def test_headings_lists_and_text(tmp_path: Path) -> None:
    body = (
        r"\pard\s3 Handbook\par\pard\s4 Pumps 1\par\pard\s1\b Pumps\b0\par\pard\s0 The pump"
        + "\n"
        + r" is {\b blue}.\line Next line\par"
        r"{\listtext\'b7\tab}\ilvl0 Check the oil\par\pard{\listtext 2.\tab}\ilvl1 Then start\par"
        r"\pard\s2 Oil\par\pard{\v hidden}shown{\deleted gone}{\footnote A note.} {\field{\*\fldinst HYPERLINK x}"
        r"{\fldrslt a link}}\par"
    )
    assert outline(_read(tmp_path, body)) == [
        "# Handbook", "## Pumps", "The pump is blue.\nNext line", "- Check the oil", "  2. Then start", "### Oil",
        "shown a link", "A note.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"\f1 \'b1\'c3\'ca\'c7\'c0\'b6\'c9\'ab", "泵是蓝色"),  # the font's code page
        (r"\uc1\u27893?\u-30655?x", "泵衡x".replace("衡", chr(65536 - 30655))),
        (r"\uc0\u27893 y", "泵y"),
        (r"\uc2\u-10179\'3f\'3f\u-8704\'3f\'3f!", "😀!"),
        (r"caf\'e9 \ldblquote ok\rdblquote\~\emdash", "café “ok” —"),
        ("caf\xe9", "café"),
        (r"{\*\unknown left out}a{\pict\wmetafile8 00ff}b", "ab"),
        (r"a{\*\bin5 }}}}}b", "ab"),
        (r"10{\super 6}\super 2\nosupersub 3 the 1{\super st}", "10^623 the 1st"),
        (r"{\f2 b} \f2\'b3\f0  5\f2\u-3922?\f0 b", "β ≥ 5→b"),
    ],
)
def test_characters(tmp_path: Path, body: str, text: str) -> None:
    assert outline(_read(tmp_path, rf"\pard {body}\par")) == [text]


def test_chinese_in_a_file_of_a_chinese_code_page(tmp_path: Path) -> None:
    head = r"{\rtf1\ansi\ansicpg936{\fonttbl{\f0\fcharset0 Arial;}}"
    found = _read(tmp_path, r"\pard\f0 \'b1\'c3\'ca\'c7 blue\par", head)
    assert outline(found) == ["泵是 blue"]


@pytest.mark.parametrize(("codepage", "text"), [(10000, "Café"), (10007, "CafО"), (99999, "CafŽ")])
def test_code_pages_of_the_macintosh_and_unknown_ones(tmp_path: Path, codepage: int, text: str) -> None:
    assert outline(_read(tmp_path, r"\pard Caf\'8e\par", rf"{{\rtf1\ansi\ansicpg{codepage}")) == [text]


def test_tables_with_spans(tmp_path: Path) -> None:
    body = (
        r"\trowd\trhdr\cellx1000\cellx2000\cellx3000\pard\intbl Part\cell Size\cell Note\cell\row"
        r"\trowd\clvmgf\cellx1000\cellx3000\pard\intbl Pump\cell wide\par cell\cell\row"
        r"\trowd\clvmrg\cellx1000\cellx2010\cellx3000\pard\intbl\cell 2\cell x\cell\row"
        r"\pard After.\par"
    )
    assert outline(_read(tmp_path, body)) == ["table: Part,Size,Note | Pump,wide\ncell, | Pump,2,x", "After."]


def test_pictures_and_the_title_of_the_properties(tmp_path: Path) -> None:
    body = rf"{{\info{{\title Pump manual}}}}\pard See {{\*\shppict{{\pict\pngblip {png().hex()}}}}}here\par"
    (tmp_path / "a.rtf").write_text(_HEAD + body + "}")
    found = list(parse(tmp_path / "a.rtf", ParseContext(tmp_path / "out", "a.rtf")))
    assert isinstance(found[1], Picture) and (tmp_path / "out" / found[1].path).read_bytes() == png()
    assert found[-1] == Title(text="Pump manual", shown=False)


def test_bold_lines_are_headings_if_there_are_no_others(tmp_path: Path) -> None:
    head = r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}"
    assert outline(_read(tmp_path, r"\pard{\b Pumps}\par\pard They are {\b blue}.\par", head)) == [
        "## Pumps",
        "They are blue.",
    ]


def test_bounds(tmp_path: Path) -> None:
    (tmp_path / "deep.rtf").write_text(r"{\rtf1 " + "{" * 200_000)
    assert refused(tmp_path / "deep.rtf") == "broken"
    (tmp_path / "empty.rtf").write_text(r"{\rtf1\ansi\pard\par}")
    assert refused(tmp_path / "empty.rtf") == "no_text"
    (tmp_path / "other.rtf").write_text("no rich text")
    assert refused(tmp_path / "other.rtf") == "broken"


@pytest.mark.parametrize("codepage", [936, 932, 1252])
def test_bullets_of_a_symbol_font(tmp_path: Path, codepage: int) -> None:
    fonts = (
        r"{\fonttbl{\f0\fcharset0 Arial;}{\f3\fcharset2 Symbol;}{\f4\fcharset2 Wingdings;}{\f5\fcharset2 Webdings;}}"
    )
    items = "".join(
        rf"\pard{{\listtext\f{font} {code}\tab}}\f0 Item {font}\par"
        for font, code in ((3, r"\'b7"), (4, r"\'a7"), (5, "n"))
    )
    text = rf"{{\rtf1\ansi\ansicpg{codepage}{fonts}{items}\pard\f3 \'b3\f0  5\par}}"
    lines = outline(read_bytes(tmp_path, "a.rtf", text))
    assert lines[:2] == ["- Item 3", "- Item 4"] and lines[-1] == "≥ 5"
    assert "\ufffd" not in "".join(lines)
