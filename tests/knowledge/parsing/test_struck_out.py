"""Text that is struck out is not read, in any format."""

from pathlib import Path

import docx
import pptx
import pytest
from docx.document import Document
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font

from knowledge.parsing.elements import Notice
from tests.knowledge.parsing.test_odf import make
from tests.knowledge.reading import outline, read, read_bytes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "The pool opens at ~~7:00~~ 9:00 on weekdays.\n"),
        ("a.md", "The pool opens at <del>7:00</del> 9:00 on weekdays.\n"),
        ("a.html", "<p>The pool opens at <s>7:00</s> 9:00 on weekdays.</p>"),
        ("a.html", "<p>The pool opens at <del>7<b>:00</b></del> 9:00 on weekdays.</p>"),
        (
            "a.html",
            '<p>The pool opens at <span style="text-decoration: line-through">7:00</span> 9:00 on weekdays.</p>',
        ),
        ("a.rtf", r"{\rtf1\ansi The pool opens at {\strike 7:00} 9:00 on weekdays.\par}"),
        ("a.rtf", r"{\rtf1\ansi The pool opens at \strike 7:00\strike0  9:00 on weekdays.\par}"),
    ],
)
def test_in_texts(tmp_path: Path, name: str, text: str) -> None:
    element, notice = read_bytes(tmp_path, name, text)
    assert " ".join(outline([element])[0].split()) == "The pool opens at 9:00 on weekdays."
    assert isinstance(notice, Notice) and notice.key == "left_out.struck"


def test_in_a_table_of_a_page(tmp_path: Path) -> None:
    html = "<table><tr><th>货品</th><th>价格</th></tr><tr><td>手推车</td><td><del>89元</del> 69元</td></tr></table>"
    table, notice = read_bytes(tmp_path, "a.html", html)
    assert outline([table]) == ["table: 货品,价格 | 手推车,69元"]
    assert isinstance(notice, Notice) and notice.key == "left_out.struck"


def test_in_a_document(tmp_path: Path) -> None:
    document: Document = docx.Document()
    paragraph = document.add_paragraph("手推车 ")
    for text, how in (("89元", "strike"), ("79元", "double_strike"), (" 69元", "")):
        run = paragraph.add_run(text)
        if how:
            setattr(run.font, how, True)
    document.save(str(tmp_path / "a.docx"))
    line, notice = read(tmp_path / "a.docx")
    assert " ".join(outline([line])[0].split()) == "手推车 69元"
    assert isinstance(notice, Notice) and notice.key == "left_out.struck"


def test_on_a_slide(tmp_path: Path) -> None:
    show = pptx.Presentation()
    frame = show.slides.add_slide(show.slide_layouts[5]).shapes.title.text_frame
    for text, strike in (("Price: ", ""), ("€89", "sngStrike"), ("€69", "noStrike")):
        run = frame.paragraphs[0].add_run()
        run.text = text
        if strike:
            run._r.get_or_add_rPr().set("strike", strike)
    show.save(str(tmp_path / "a.pptx"))
    line, notice = read(tmp_path / "a.pptx")[1:]
    assert outline([line]) == ["# Price: €69"]
    assert isinstance(notice, Notice) and notice.key == "left_out.struck"


def test_in_an_open_document(tmp_path: Path) -> None:
    style = (
        '<style:style style:name="S" style:family="text">'
        '<style:text-properties style:text-line-through-style="solid"/></style:style>'
    )
    body = '<text:p>手推车 <text:span text:style-name="S">89元</text:span>69元</text:p>'
    gone = style.replace('"S"', '"P"').replace('family="text"', 'family="paragraph"')
    body += '<text:p text:style-name="P">旧价</text:p>'
    line, notice = read(make(tmp_path / "a.odt", body, automatic=style + gone))
    assert outline([line]) == ["手推车 69元"]
    assert isinstance(notice, Notice) and notice.key == "left_out.struck"


def test_in_an_open_workbook(tmp_path: Path) -> None:
    style = (
        '<style:style style:name="{}" style:family="{}">'
        '<style:text-properties style:text-line-through-style="solid"/></style:style>'
    )
    styles = style.format("S", "text") + style.format("C", "table-cell")
    rows = (
        ("货品", "价格"),
        ("手推车", '<text:span text:style-name="S">89元</text:span>69元'),
        ('<text:span text:style-name="S">旧耙</text:span>新耙', "15元"),
    )
    body = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + '<table:table-cell table:style-name="C"><text:p>旧</text:p></table:table-cell></table:table-row>'
        for row in rows
    )
    path = make(tmp_path / "a.ods", f'<table:table table:name="T">{body}</table:table>', automatic=styles)
    *found, notice = read(path)
    assert outline(found) == ["# T", "table: 货品,价格 | 手推车,69元 | 新耙,15元"]
    assert isinstance(notice, Notice) and notice.key == "left_out.struck"


def test_in_a_workbook(tmp_path: Path) -> None:
    struck, normal = InlineFont(strike=True), InlineFont()
    book = Workbook()
    assert book.active is not None
    book.active.title = "价格"
    book.active.append(["货品", "价格", "体积"])
    book.active.append(["手推车", CellRichText(TextBlock(struck, "89元 "), TextBlock(normal, "69元"))])
    book.active.append(["旧耙", 15])
    book.active.append(["水壶", 8, CellRichText("2 m", TextBlock(InlineFont(vertAlign="superscript"), "3"))])
    book.active["A3"].font = book.active["B3"].font = Font(strike=True)
    book.save(tmp_path / "a.xlsx")
    *found, notice = read(tmp_path / "a.xlsx")
    assert outline(found) == ["# 价格", "table: 货品,价格,体积 | 手推车,69元, | 水壶,8,2 m^3"]
    assert isinstance(notice, Notice) and notice.key == "left_out.struck"
