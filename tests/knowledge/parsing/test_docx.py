"""Word documents, created with python-docx and some XML."""

from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Pt

from knowledge.parsing import pictures
from knowledge.parsing.docx.numerals import numeral
from knowledge.parsing.docx.styles import Numbering
from knowledge.parsing.elements import Code, Picture
from knowledge.parsing.errors import ParseError
from tests.knowledge.reading import make_archive, outline, png, read, refused, with_part


def saved(document: Document, folder: Path) -> Path:
    path = folder / "a.docx"
    document.save(str(path))
    return path


def lines(document: Document, folder: Path) -> list[str]:
    return outline(read(saved(document, folder)))


def test_headings_lists_and_text_in_order(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Report", 0)
    document.add_heading("Findings", 1)
    document.add_paragraph("All is well.")
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("inner", style="List Bullet 2")
    document.add_paragraph("first", style="List Number")
    document.add_paragraph("second", style="List Number")

    assert lines(document, tmp_path) == [
        "# Report",
        "## Findings",
        "All is well.",
        "- one",
        "- inner",
        "1. first",
        "2. second",
    ]


def test_headings_by_chinese_style_name_outline_level_and_inheritance(tmp_path: Path) -> None:
    document = docx.Document()
    document.styles.add_style("标题 3", WD_STYLE_TYPE.PARAGRAPH)
    based = document.styles.add_style("Own", WD_STYLE_TYPE.PARAGRAPH)
    based.base_style = document.styles["Heading 2"]
    document.add_paragraph("按样式", style="标题 3")
    document.add_paragraph("By its base", style="Own")
    by_outline = document.add_paragraph("按大纲")
    by_outline._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="0"/>'))
    document.add_paragraph("正文。")

    assert lines(document, tmp_path) == ["### 按样式", "## By its base", "# 按大纲", "正文。"]


def test_bold_lines_are_headings_without_heading_styles(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph().add_run("一、背景").bold = True
    document.add_paragraph("这是正文。")
    document.add_paragraph().add_run("Results").bold = True
    document.add_paragraph().add_run("This bold text is a sentence.").bold = True

    assert lines(document, tmp_path) == ["## 一、背景", "这是正文。", "## Results", "This bold text is a sentence."]


def test_bold_lines_are_text_if_styles_are_used(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Real", 1)
    document.add_paragraph().add_run("Bold").bold = True

    assert lines(document, tmp_path) == ["# Real", "Bold"]


def test_tables_with_merged_and_nested_cells(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=4, cols=3)
    for row, texts in enumerate((("Item", "Gene", "Method"), ("A", "x", "PCR"), ("B", "y", ""), ("Note", "", ""))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(1, 2).merge(table.cell(2, 2))
    table.cell(3, 0).merge(table.cell(3, 1))
    inner = table.cell(3, 2).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "side"

    assert lines(document, tmp_path) == ["table: Item,Gene,Method | A,x,PCR | B,y,PCR | Note,,in | side"]


def test_a_table_of_one_cell_is_a_frame_around_text(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_table(rows=1, cols=1).cell(0, 0).text = "Boxed text."

    assert lines(document, tmp_path) == ["Boxed text."]


def test_pictures_with_alternative_text_and_caption(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_picture(BytesIO(png(80, 50)))
    document.element.body.find(f".//{qn('wp:docPr')}").set("descr", "A teal box")
    document.add_paragraph("The box by night", style="Caption")
    document.add_picture(BytesIO(png(8, 8)))
    document.add_paragraph("After.")

    found = read(saved(document, tmp_path))
    assert outline(found) == ["picture: A teal box\nThe box by night", "After."]
    assert isinstance(found[0], Picture)
    assert (found[0].width, found[0].height) == (80, 50)
    assert (tmp_path / "pictures" / found[0].path).is_file()


def test_pictures_left_out_are_reported_and_are_no_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MOST_PICTURES", 0)
    document = docx.Document()
    document.add_picture(BytesIO(png()))
    assert refused(saved(document, tmp_path)) == "no_text"
    document.add_paragraph("After.")
    notice = "notice: The file contains more than 0 pictures; the rest were left out."
    assert lines(document, tmp_path) == [notice, "After."]


def test_a_caption_over_a_table_is_the_tables(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Sizes of boxes", style="Caption")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip((c for row in table.rows for c in row.cells), "AB12", strict=True):
        cell.text = text

    assert lines(document, tmp_path) == ["table: Sizes of boxes: A,B | 1,2"]


def test_text_boxes_appear_once_and_hidden_and_deleted_text_never(tmp_path: Path) -> None:
    document = docx.Document()
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = "<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent>"
    paragraph = document.add_paragraph("Outside.")
    paragraph._p.append(
        parse_xml(
            f'<w:r {nsdecls("w")} {mc}><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>{box}</w:drawing>'
            f"</mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        )
    )
    paragraph._p.append(parse_xml(f"<w:r {nsdecls('w')}><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"))
    paragraph._p.append(parse_xml(f"<w:del {nsdecls('w')}><w:r><w:delText>gone</w:delText></w:r></w:del>"))
    paragraph._p.append(parse_xml(f"<w:ins {nsdecls('w')}><w:r><w:t> Added.</w:t></w:r></w:ins>"))

    assert lines(document, tmp_path) == ["Outside. Added.", "In the box."]


def test_letters_in_symbol_fonts_are_read_as_symbols(tmp_path: Path) -> None:
    document = docx.Document()
    for font, code in (("Symbol", "F0B3"), ("Wingdings", "F0E0"), ("Wingdings", "F0FE"), ("Arial", "0041")):
        document.add_paragraph("It is ")._p.append(
            parse_xml(
                f'<w:r {nsdecls("w")}><w:sym w:font="{font}" w:char="{code}"/><w:t xml:space="preserve"> 5</w:t></w:r>'
            )
        )
    run = document.add_paragraph("The angle ").add_run("\uf062 = b")
    run.font.name = "Symbol"

    assert lines(document, tmp_path) == ["It is ≥ 5", "It is → 5", "It is ☑ 5", "It is A 5", "The angle β = β"]


def test_formulas_and_powers_keep_their_meaning(tmp_path: Path) -> None:
    document = docx.Document()
    half = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    document.add_paragraph("Take ")._p.append(parse_xml(f"<m:oMath {math}>{half}</m:oMath>"))
    document.add_paragraph()._p.append(parse_xml(f"<m:oMathPara {math}><m:oMath>{half}</m:oMath></m:oMathPara>"))
    for words in (("10", "-", "6", " m"), ("10", "1", "2"), ("5 m", "2"), ("the 1", "st", " of May")):
        paragraph = document.add_paragraph(words[0])
        for word in words[1:]:
            paragraph.add_run(word).font.superscript = not word.startswith(" ")

    half = r"\(\frac{1}{2}\)"
    assert lines(document, tmp_path) == [f"Take {half}", half, "10^-6 m", "10^12", "5 m^2", "the 1st of May"]


def test_legacy_form_fields_have_their_state(tmp_path: Path) -> None:
    document = docx.Document()
    fields = {
        "water": '<w:checkBox><w:default w:val="0"/></w:checkBox>',
        "a shed": '<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>',
        "a gate": '<w:checkBox><w:default w:val="1"/></w:checkBox>',
        "a path": '<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>',
        "colour": '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Red"/><w:listEntry w:val="Blue"/></w:ddList>',
        "size": '<w:ddList><w:default w:val="7"/><w:listEntry w:val="Large"/></w:ddList>',
    }
    for label, field in fields.items():
        begin = f'<w:fldChar w:fldCharType="begin"><w:ffData>{field}</w:ffData></w:fldChar>'
        end = f'<w:instrText>FORM</w:instrText><w:fldChar w:fldCharType="end"/><w:t xml:space="preserve"> {label}</w:t>'
        document.add_paragraph()._p.append(parse_xml(f"<w:r {nsdecls('w')}>{begin}{end}</w:r>"))

    assert lines(document, tmp_path) == ["☐ water", "☑ a shed", "☑ a gate", "☐ a path", "Blue colour", "size"]


def test_footnotes_follow_their_paragraph(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("A claim.")._p.append(
        parse_xml(f'<w:r {nsdecls("w")}><w:footnoteReference w:id="2"/></w:r>')
    )
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t xml:space="preserve"> Its source.</w:t></w:r></w:p></w:footnote>'
        "</w:footnotes>"
    )
    part = Part(PackURI("/word/footnotes.xml"), "application/xml", notes.encode(), document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)

    assert lines(document, tmp_path) == ["A claim.[1]", "[1] Its source."]


def test_code_style_lines_are_one_block(tmp_path: Path) -> None:
    document = docx.Document()
    document.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH).font.size = Pt(9)
    document.add_paragraph("if x:", style="Source Code")
    document.add_paragraph("    y()", style="Source Code")

    assert read(saved(document, tmp_path)) == [Code(text="if x:\n    y()")]


def test_links_keep_their_address(tmp_path: Path) -> None:
    document = docx.Document()
    relation = document.part.relate_to("https://example.org/", "http://x/hyperlink", is_external=True)
    document.add_paragraph("See ")._p.append(
        parse_xml(f'<w:hyperlink {nsdecls("w", "r")} r:id="{relation}"><w:r><w:t>this</w:t></w:r></w:hyperlink>')
    )

    assert lines(document, tmp_path) == ["See this (https://example.org/)"]


def test_numbering_counts_levels_as_word_shows_them() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for level, form, text in ((0, "chineseCounting", "第%1章"), (1, "decimal", "%1.%2"), (2, "lowerRoman", "(%3)"))
    )
    root = parse_xml(
        f'<w:numbering {nsdecls("w")}><w:abstractNum w:abstractNumId="5">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num></w:numbering>'
    )
    numbering = Numbering(root)

    shown = [numbering.next("1", level) for level in (0, 1, 1, 2, 2, 0, 1)]
    assert shown == ["第一章", "一.1", "一.2", "(i)", "(ii)", "第二章", "二.1"]
    assert numbering.next("9", 0) == "-"


@pytest.mark.parametrize(
    ("number", "form", "shown"),
    [
        (28, "lowerLetter", "bb"),
        (1994, "upperRoman", "MCMXCIV"),
        (12, "chineseCounting", "十二"),
        (105, "chineseCounting", "一百零五"),
        (3, "decimalEnclosedCircle", "③"),
        (7, "unknown", "7"),
    ],
)
def test_numerals(number: int, form: str, shown: str) -> None:
    assert numeral(number, form) == shown


def test_bad_files_are_refused_with_their_reason(tmp_path: Path) -> None:
    good = saved(docx.Document(), tmp_path)
    assert refused(good) == "no_text"

    bad = tmp_path / "bad.docx"
    bad.write_bytes(b"")
    assert refused(bad) == "broken"
    bad.write_bytes(good.read_bytes()[:3000])
    assert refused(bad) == "broken"
    bad.write_bytes(b"plain text")
    assert refused(bad) == "broken"
    assert refused(make_archive(bad, {"xl/workbook.xml": b"<a/>"})) == "broken"
    assert refused(with_part(good, bad, "word/document.xml", b"<w:document")) == "broken"
    laughs = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    assert refused(with_part(good, bad, "word/document.xml", laughs)) == "broken"
    assert refused(with_part(good, bad, "word/media/bomb.bin", bytes(60_000_000))) == "too_large"


def test_a_document_nested_too_deeply_says_so(tmp_path: Path) -> None:
    good = saved(docx.Document(), tmp_path)
    nested = f"<w:document {nsdecls('w')}>{'<w:sdt>' * 3000}{'</w:sdt>' * 3000}</w:document>".encode()
    with pytest.raises(ParseError, match=r"broken\.too_deep"):
        read(with_part(good, tmp_path / "bad.docx", "word/document.xml", nested))


def test_omissions_in_tables_are_reported(tmp_path: Path) -> None:
    document = docx.Document()
    cell = document.add_table(1, 2).cell(0, 0)
    for number in range(12):
        cell.text = f"Level {number}"
        cell = cell.add_table(1, 2).cell(0, 0)
    cell.text = "The innermost."
    columns = "".join(f"<w:tc><w:p><w:r><w:t>c{number}</w:t></w:r></w:p></w:tc>" for number in range(1100))
    document.element.body.append(parse_xml(f"<w:tbl {nsdecls('w')}><w:tr>{columns}</w:tr></w:tbl>"))

    found = lines(document, tmp_path)
    assert "The innermost." not in "".join(found)
    assert [line for line in found if line.startswith("notice")] == [
        "notice: Parts of the file are nested too deeply to be read; they were left out.",
        "notice: A table has 1,100 columns; only the first 1,000 were read.",
    ]


def test_text_that_is_nested_deeply_within_a_line_is_kept(tmp_path: Path) -> None:
    document = docx.Document()
    inner = "<w:r><w:t>deep</w:t></w:r>"
    for _ in range(100):
        inner = f"<w:smartTag>{inner}</w:smartTag>"
    document.element.body.insert(0, parse_xml(f"<w:p {nsdecls('w')}>{inner}</w:p>"))
    assert lines(document, tmp_path) == ["deep"]
