"""PDFs: reading order, paragraphs, headings, tables, pictures, and why some can't be read."""

import unicodedata
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFName, PDFObjectReference, xObjectName
from reportlab.pdfgen.canvas import Canvas

from knowledge.parsing.elements import Code, Element, Heading, Notice, PageBreak, Paragraph, Picture, Scanned, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.pdf import document, pictures
from knowledge.parsing.pdf.garbled import is_garbled
from knowledge.parsing.pdf.text import read_text
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.sandbox.runner import ParseLimits, parse_file
from tests.knowledge.pdf_files import (
    HEIGHT,
    WIDTH,
    WORDS,
    by_glyph,
    chinese,
    grid,
    make_pdf,
    of_bitmaps,
    picture,
    prose,
    text,
)
from tests.knowledge.reading import message_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.pdf"


def _parse(path: Path, **limits: int) -> list[Element]:
    return list(parse_file(path, "a.pdf", path.parent / "out", ParseLimits(**({"timeout_s": 60} | limits))))


def _texts(elements: list[Element]) -> list[str]:
    return [element.text for element in elements if isinstance(element, Heading | Paragraph | Code)]


def _refusal(path: Path, **limits: int) -> ParseError:
    with pytest.raises(ParseError) as caught:
        _parse(path, **limits)
    return caught.value


def test_lines_become_paragraphs_and_hyphenated_words_are_joined(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 100, "The measurements were compared with those of the older instru-")
        text(canvas, 72, 112, "ments, which had been kept in a well-known museum of the capital")
        text(canvas, 72, 124, "for many years.")
        text(canvas, 72, 136, "A new paragraph starts where the old one had room to go on with it.")
        text(canvas, 72, 170, "• A point of a list")
        text(canvas, 72, 182, "• Another point")

    elements = _parse(make_pdf(path, draw))
    assert elements[0] == PageBreak(page=1, total=1)
    assert _texts(elements) == [
        "The measurements were compared with those of the older instruments, which had been kept in a well-known "
        "museum of the capital for many years.",
        "A new paragraph starts where the old one had room to go on with it.",
        "• A point of a list",
        "• Another point",
    ]


@pytest.mark.parametrize(
    ("start", "is_item"), [("3.x erases the settings", False), ("3. Erase the settings", True), ("3.Erase them", True)]
)
def test_a_version_at_the_beginning_of_a_line_is_no_item(path: Path, start: str, is_item: bool) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 100, "The new version reads all settings of the old one, but going back from version 4.x to")
        text(canvas, 72, 112, f"{start} that were made since, so that they should be saved before.")

    assert len(_texts(_parse(make_pdf(path, draw)))) == 1 + is_item


def test_words_separated_by_a_gap_are_two(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas._code.append("BT /F1 10 Tf 72 700 Td (Here the) Tj 2.5 Tc (ya) Tj 0 Tc [250 (re found)] TJ ET")
        canvas._code.append("BT /F1 10 Tf 2.5 Tc 72 650 Td (Spaced) Tj 0 Tc ( letters) Tj ET")

    assert _texts(_parse(make_pdf(path, draw))) == ["Here they are found", "Spaced letters"]


def test_letters_in_bitmap_fonts_are_measured(path: Path) -> None:
    # Kerned by .4 points, with a second word; the font declares a size of one point.
    of_bitmaps(path, "72 700 Td [(nod) -400 (dod)] TJ 34 0 Td (on) Tj 0 -30 Td (nnn) Tj")
    assert _texts(_parse(path)) == ["noddod on", "nnn"]
    with closing(document.open_document(path)) as opened:
        assert {line.size for line in read_text(opened[0]).lines} == {10.0}


def test_a_weight_common_to_all_letters_is_not_bold(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 100, "Results", "Helvetica-Bold")
        text(canvas, 72, 130, "Which is short for")
        text(canvas, 72, 160, "what stands above")
        prose(canvas, 72, 190, 80)

    monkeypatch.setattr(document.pdfium.raw, "FPDFFont_GetWeight", lambda font: 695)
    elements = list(document.parse(make_pdf(path, draw), ParseContext(path.parent, "a.pdf")))
    assert [element.text for element in elements if isinstance(element, Heading)] == ["Results"]


def test_announced_bold_lines_are_not_headings(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 60, "Redirecting", "Helvetica-Bold")
        text(canvas, 72, 80, "There are two formats for redirecting standard output and errors:")
        text(canvas, 92, 100, "&>word", "Helvetica-Bold")
        text(canvas, 72, 120, "and")
        text(canvas, 92, 140, ">&word", "Helvetica-Bold")
        text(canvas, 72, 160, "Of the two, the first one is preferred.")
        text(canvas, 72, 190, "Duplicating", "Helvetica-Bold")
        prose(canvas, 72, 210, 80)

    elements = _parse(make_pdf(path, draw))
    assert [element.text for element in elements if isinstance(element, Heading)] == ["Redirecting", "Duplicating"]


def test_the_larger_of_two_sizes_of_text_is_the_body(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 60, "Overlay", size=17)
        top = prose(canvas, 72, 90, 80, 2 * WORDS, size=12)
        text(canvas, 72, top + 20, "which is short for", size=12)
        for number in range(30):
            text(canvas, 72, top + 40 + 11 * number, f"> x{number} = overlay(first, by = {number})", size=9)

    elements = _parse(make_pdf(path, draw))
    assert [element.text for element in elements if isinstance(element, Heading)] == ["Overlay"]


def test_chinese_lines_join_without_spaces(path: Path) -> None:
    first = "本报告介绍了二零二四年度全国水文监测工作的总体情况，并对主要河流的水位变化"
    second = "进行了详细的分析和说明。"

    def draw(canvas: Canvas) -> None:
        chinese(canvas, 72, 80, "第一章 总则", 16)
        chinese(canvas, 72, 110, first)
        chinese(canvas, 72, 124, second)

    elements = _parse(make_pdf(path, draw))
    assert Heading(page=1, text="第一章 总则", level=1) in elements
    assert Paragraph(page=1, text=first + second) in elements


def test_an_address_beyond_the_margin_splits_no_paragraph(path: Path) -> None:
    first = "本报告介绍了二零二四年度全国水文监测工作的总体情况，并对全国主要河流和湖泊在这一年的水位变化"
    second = "进行了详细的分析和说明。"

    def draw(canvas: Canvas) -> None:
        chinese(canvas, 72, 100, first)
        chinese(canvas, 72, 114, second)
        text(canvas, 72, 170, "https://example.com/" + "a-very-long-address-without-an-end/" * 4)

    assert _texts(_parse(make_pdf(path, draw)))[0] == first + second


def test_columns_are_read_one_after_the_other(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 60, "A title over both of the columns of this page", "Helvetica-Bold", 16)
        for row in range(12):  # written row by row across the page, like some programs
            text(canvas, 60, 100 + 12 * row, f"Left column, line number {row} of the running text")
            text(canvas, 320, 100 + 12 * row, f"Right column, line number {row} of the running text")

    read = " ".join(_texts(_parse(make_pdf(path, draw))))
    assert read.startswith("A title over both")
    assert read.index("Left column, line number 11") < read.index("Right column, line number 0")


def test_headings_by_size_and_boldness(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 60, "The Great Survey", "Helvetica-Bold", 20)
        text(canvas, 72, 100, "Methods", "Helvetica-Bold", 14)
        top = prose(canvas, 72, 120, 90)
        text(canvas, 72, top + 14, "Instruments in use", "Helvetica-Bold", 10)
        prose(canvas, 72, top + 32, 90)

    headings = [e for e in _parse(make_pdf(path, draw)) if isinstance(e, Heading)]
    assert [(e.text, e.level) for e in headings] == [
        ("The Great Survey", 1),
        ("Methods", 2),
        ("Instruments in use", 3),
    ]


def test_bookmarks_make_headings_of_plain_lines(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.bookmarkPage("a")
        canvas.addOutlineEntry("Rivers", "a", 0)
        canvas.bookmarkPage("b")
        canvas.addOutlineEntry("Small streams", "b", 1)
        text(canvas, 72, 80, "Chapter 3. Rivers")
        top = prose(canvas, 72, 110, 90)
        text(canvas, 72, top + 20, "3.1 Small streams")
        top = prose(canvas, 72, top + 50, 90)
        text(canvas, 72, top + 30, "2. See small streams.")

    headings = [e for e in _parse(make_pdf(path, draw)) if isinstance(e, Heading)]
    assert [(e.text, e.level) for e in headings] == [("Chapter 3. Rivers", 1), ("3.1 Small streams", 2)]


def test_a_table_of_contents_is_left_out(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for number in range(1, 6):
            text(canvas, 72, 80 + 16 * number, f"1.{number}")
            text(canvas, 110, 80 + 16 * number, "Streams of the year " + ". " * 40)
            canvas.drawRightString(420, HEIGHT - 80 - 16 * number, f"{10 + number}")
        text(canvas, 72, 192, "2")
        text(canvas, 110, 192, "A chapter without dots")
        canvas.drawRightString(420, HEIGHT - 192, "30")
        prose(canvas, 72, 240, 90)

    (paragraph,) = [e for e in _parse(make_pdf(path, draw)) if not isinstance(e, PageBreak)]
    assert isinstance(paragraph, Paragraph) and paragraph.text.startswith(WORDS[:20])


def test_accents_printed_over_letters_make_one_character(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        # Like TeX: an accent, and back to the start of the letter, or the letter first.
        line = r"[(The kopi) -111 (\250) 444 (eren of Jose) 445 (\264) -112 ( is no `quoted' don\264t)] TJ"
        canvas._code.append(f"BT /F1 10 Tf 72 700 Td {line} ET")
        canvas._code.append(r"BT /F1 10 Tf 72 670 Td [(Voc) -111 (\210) 444 (e)] TJ ET")
        # Or a line's letters first, and then its accents.
        canvas._code.append(r"BT /F1 10 Tf 72 650 Td (Fajlnevek) Tj 7.2 0 Td (\264) Tj 15.6 0 Td (\264) Tj ET")

    assert _texts(_parse(make_pdf(path, draw))) == ["The kopiëren of José is no `quoted' don´t", "Você", "Fájlnévek"]


def _line(canvas: Canvas, top: float, *parts: str) -> None:
    """Draw parts of a line, raised after "^" and lowered after "_"."""
    shown = []
    for part in parts:
        rise, size = {"^": (4, 7), "_": (-1.5, 7)}.get(part[0], (0, 10))
        shown.append(f"/F1 {size} Tf {rise} Ts ({part.lstrip('^_')}) Tj")
    canvas._code.append(f"BT 72 {HEIGHT - top} Td {' '.join(shown)} ET")


def test_powers_keep_their_sign(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        _line(canvas, 100, "A rate of 3 x 10", "^-9", " mol per m", "^2", " in the study", "^3", " of 1995")
        _line(
            canvas, 140, "At most 2", "^31", " pixels, y = x", "^n", " + 10", "^6", ", and H", "_2", "O in the 2", "^nd"
        )
        _line(
            canvas,
            180,
            "In 1998",
            "^4",
            ", 12.3 m",
            "^-1",
            "s and 25 cm",
            "^2",
            " of Mary",
            "^1,2",
            " were 36",
            "^a",
            " K",
        )

    assert _texts(_parse(make_pdf(path, draw))) == [
        "A rate of 3 x 10^-9 mol per m^2 in the study[3] of 1995",
        "At most 2^31 pixels, y = x^n + 10^6, and H2O in the 2nd",
        "In 1998[4], 12.3 m^-1s and 25 cm^2 of Mary[1,2] were 36a K",
    ]


def test_raised_or_smaller_text_is_not_always_a_power(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 100, "Nine eighths are 9")
        text(canvas, 72 + canvas.stringWidth("Nine eighths are "), 111, "8")
        _line(canvas, 160, "A NAME IN S", "_MALL", " letters")
        text(canvas, 72, 200, "Set of 12")
        text(canvas, 78 + canvas.stringWidth("Set of 12"), 196, "3 pieces", size=7)

    read = " ".join(_texts(_parse(make_pdf(path, draw))))
    assert "^" not in read and "98" not in read and "SMALL letters" in read and "12 3 pieces" in read


def test_surrogate_pairs_stay_whole_in_letter_spaced_text(path: Path) -> None:
    by_glyph(path, "abaa", meant={"a": "2", "b": "\U0001d700"}, apart=4)
    with closing(document.open_document(path)) as opened:
        assert [line.text for line in read_text(opened[0]).lines] == ["2\U0001d700 22"]


def test_a_line_continues_after_a_power_and_an_index(path: Path) -> None:
    make_pdf(path, lambda canvas: _line(canvas, 100, "The sum of m", "^2", "_k", " and the rest"))
    with closing(document.open_document(path)) as opened:
        assert [line.text for line in read_text(opened[0]).lines] == ["The sum of m^2k and the rest"]


def test_text_off_the_page_is_not_read(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, WIDTH - 60, 100, "seen-and-cut-off-here never seen")
        text(canvas, 72, HEIGHT + 40, "below the page")
        prose(canvas, 72, 200, 90)

    read = "\n".join(_texts(_parse(make_pdf(path, draw))))
    assert "seen-and" in read and "here" not in read and "never" not in read and "below" not in read


def test_running_heads_and_page_numbers_are_dropped(path: Path) -> None:
    def page(number: int) -> object:
        def draw(canvas: Canvas) -> None:
            text(canvas, 72, 30, "Annual report of the survey")
            text(canvas, 280, HEIGHT - 30, f"Page {number} of 6")
            text(canvas, 72, 70, f"Chapter {number}", size=16)
            prose(canvas, 72, 130, 90, f"Only page {number} says this. " + WORDS)

        return draw

    elements = _parse(make_pdf(path, *(page(number) for number in range(1, 7))))  # type: ignore[arg-type]
    read = "\n".join(_texts(elements))
    assert "Annual report" not in read
    assert "of 6" not in read
    assert all(f"Chapter {number}" in read and f"Only page {number} says" in read for number in range(1, 7))
    assert [(e.page, e.total) for e in elements if isinstance(e, PageBreak)] == [(n, 6) for n in range(1, 7)]


def test_a_sentence_across_two_pages_stays_whole(path: Path) -> None:
    def first(canvas: Canvas) -> None:
        prose(canvas, 72, 700, 90, "The last sentence of this page goes on and on until it reaches")

    def second(canvas: Canvas) -> None:
        prose(canvas, 72, 60, 90, "the first line of the next. Here another one starts, which belongs to page two.")

    elements = _parse(make_pdf(path, first, second))
    assert [e.text for e in elements if e.page == 1 and isinstance(e, Paragraph)] == [
        "The last sentence of this page goes on and on until it reaches the first line of the next."
    ]
    assert [e.text for e in elements if e.page == 2 and isinstance(e, Paragraph)] == [
        "Here another one starts, which belongs to page two."
    ]


def test_a_ruled_table_is_a_table_and_not_text_as_well(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        prose(canvas, 72, 80, 90, "Before the table there is some text of the page that leads to it.")
        text(canvas, 72, 120, "Table 1: Depth of the lakes")
        grid(canvas, 72, 130, [["Lake", "Depth", "Year"], ["Upper", "12.5", "1999"], ["Lower", "30", "2001"]])
        prose(canvas, 72, 220, 90, "After the table the text goes on as if nothing had been between.")

    elements = _parse(make_pdf(path, draw))
    (table,) = [e for e in elements if isinstance(e, Table)]
    assert table.columns == ("Lake", "Depth", "Year")
    assert table.rows == (("Upper", "12.5", "1999"), ("Lower", "30", "2001"))
    assert table.caption == "Table 1: Depth of the lakes"
    assert [type(e).__name__ for e in elements] == ["PageBreak", "Paragraph", "Table", "Paragraph"]


def test_joined_cells_are_repeated_downwards(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for x in (72, 172, 272):
            canvas.line(x, HEIGHT - 100, x, HEIGHT - 160)
        for y, start in ((100, 72), (120, 72), (140, 172), (160, 72)):
            canvas.line(start, HEIGHT - y, 272, HEIGHT - y)
        for x, top, cell in ((76, 114, "Lake"), (176, 114, "Year"), (76, 144, "Upper"), (176, 134, "1999")):
            text(canvas, x, top, cell)
        text(canvas, 176, 154, "2001")

    (table,) = [e for e in _parse(make_pdf(path, draw)) if isinstance(e, Table)]
    assert table.columns == ("Lake", "Year")
    assert table.rows == (("Upper", "1999"), ("Upper", "2001"))


def test_a_table_with_only_horizontal_rules(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for top in (100, 120, 172):
            canvas.line(72, HEIGHT - top, 400, HEIGHT - top)
        for row, cells in enumerate((("Model", "Size", "Score"), ("small", "10", "0.5"), ("large", "99", "0.9"))):
            for column, cell in enumerate(cells):
                text(canvas, 76 + 110 * column, 114 + 22 * row, cell)

    (table,) = [e for e in _parse(make_pdf(path, draw)) if isinstance(e, Table)]
    assert table.columns == ("Model", "Size", "Score")
    assert table.rows == (("small", "10", "0.5"), ("large", "99", "0.9"))


def test_a_continued_table_repeats_its_header(path: Path) -> None:
    def first(canvas: Canvas) -> None:
        grid(canvas, 72, 600, [["Lake", "Kind"]] + [[f"Lake {n}", "deep"] for n in range(8)])

    def second(canvas: Canvas) -> None:
        canvas.grid([72, 192, 312], [HEIGHT - 60, HEIGHT - 78, HEIGHT - 96])
        for row in (0, 1):
            text(canvas, 76, 73 + 18 * row, f"Lake {row + 8}")
            text(canvas, 196, 73 + 18 * row, "shallow")

    tables = [e for e in _parse(make_pdf(path, first, second)) if isinstance(e, Table)]
    assert [table.columns for table in tables] == [("Lake", "Kind")] * 2
    assert [row[0] for table in tables for row in table.rows] == [f"Lake {n}" for n in range(10)]
    assert [table.page for table in tables] == [1, 2]


def test_a_frame_around_text_is_not_a_table(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rect(60, HEIGHT - 200, 480, 120)
        prose(canvas, 72, 100, 90)

    elements = _parse(make_pdf(path, draw))
    assert not [e for e in elements if isinstance(e, Table)]
    assert "northern valley" in " ".join(_texts(elements))


def _draw_cells(canvas: Canvas, rows: list[list[str]], xs: list[float], top: float, height: float = 18) -> None:
    """Write the rows of a table without lines; a column with a negative x is right-aligned at it."""
    for r, row in enumerate(rows):
        for x, cell in zip(xs, row, strict=True):
            if x < 0:
                canvas.drawRightString(-x, HEIGHT - top - height * r, cell)
            else:
                canvas.drawString(x, HEIGHT - top - height * r, cell)


def _tables(path: Path) -> list[Table]:
    return [element for element in _parse(path) if isinstance(element, Table)]


def test_underlines_split_no_rows(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.grid([72, 101, 130], [HEIGHT - y for y in (100, 118, 148)])
        _draw_cells(canvas, [["Lake", "Seen"]], [73, 102], 113)
        for x, y, cell in ((73, 131, "Upper"), (102, 131, "V:233,"), (102, 143, "I:7086")):
            text(canvas, x, y, cell)
            canvas.line(x, HEIGHT - y - 1, x + canvas.stringWidth(cell, "Helvetica", 10), HEIGHT - y - 1)

    (table,) = _tables(make_pdf(path, draw))
    assert [table.columns, *table.rows] == [("Lake", "Seen"), ("Upper", "V:233, I:7086")]


def test_a_thick_line_separates_rows(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        grid(canvas, 72, 100, [["Lake", "Depth"], ["Upper", "12"]])
        text(canvas, 76, 149, "Lower")
        text(canvas, 196, 149, "30")
        for x in (72, 192, 312):
            canvas.line(x, HEIGHT - 136, x, HEIGHT - 154)
        canvas.line(72, HEIGHT - 154, 312, HEIGHT - 154)
        canvas.setLineWidth(1.6)
        canvas.line(72, HEIGHT - 172, 312, HEIGHT - 172)
        canvas.setLineWidth(1)
        for x in (72, 192, 312):
            canvas.line(x, HEIGHT - 154, x, HEIGHT - 190)
        canvas.line(72, HEIGHT - 190, 312, HEIGHT - 190)
        _draw_cells(canvas, [["Inner", "7"], ["Outer", "8"]], [76, 196], 167)

    (table,) = _tables(make_pdf(path, draw))
    assert table.rows == (("Upper", "12"), ("Lower", "30"), ("Inner", "7"), ("Outer", "8"))


def test_a_frame_within_a_cell_makes_no_rows(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        grid(canvas, 72, 100, [["Key", "Meaning"], ["Run", "starts"], ["Stop", "ends"]], height=24)
        canvas.rect(193, HEIGHT - 142, 40, 12)  # like boxes around key names; it touches the cell's side

    (table,) = _tables(make_pdf(path, draw))
    assert [table.columns, *table.rows] == [("Key", "Meaning"), ("Run", "starts"), ("Stop", "ends")]


def test_a_table_with_open_sides_may_meet_a_wider_line(path: Path) -> None:
    rows = [["Command", "Meaning"], ["pwd", "where one is"], ["whoami", "who one is"]]

    def draw(canvas: Canvas) -> None:
        canvas.line(60, HEIGHT - 100, 420, HEIGHT - 100)
        for y in (118, 136, 154):
            canvas.line(72, HEIGHT - y, 400, HEIGHT - y)
        canvas.line(200, HEIGHT - 100, 200, HEIGHT - 154)
        _draw_cells(canvas, rows, [76, 206], 113)

    (table,) = _tables(make_pdf(path, draw))
    assert [table.columns, *table.rows] == [tuple(row) for row in rows]


def test_names_of_columns_have_levels(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for y, start in ((100, 72), (118, 192), (136, 72), (154, 72)):
            canvas.line(start, HEIGHT - y, 432, HEIGHT - y)
        for x, top in ((72, 100), (192, 100), (312, 118), (432, 100)):
            canvas.line(x, HEIGHT - top, x, HEIGHT - 154)
        canvas.setFont("Helvetica-Bold", 10)
        _draw_cells(canvas, [["Lake", "Depth", ""], ["", "spring", "autumn"]], [76, 196, 316], 113)
        canvas.setFont("Helvetica", 10)
        _draw_cells(canvas, [["Upper", "12", "9"]], [76, 196, 316], 149)

    (table,) = _tables(make_pdf(path, draw))
    assert table.columns == ("Lake", "Depth / spring", "Depth / autumn")


def test_the_numbers_of_a_table_at_a_pages_edge_stay(path: Path) -> None:
    def page(number: int) -> object:
        def draw(canvas: Canvas) -> None:
            rows = [[str(number), f"{7 * number}", f"Part {number}"], ["30", "31", "Rest"]]
            canvas.grid([72, 172, 272, 372], [HEIGHT - y for y in (40, 58, 76)])
            _draw_cells(canvas, rows, [76, 176, 276], 53)
            text(canvas, 290, HEIGHT - 30, str(number))

        return draw

    elements = _parse(make_pdf(path, *(page(number) for number in range(1, 6))))  # type: ignore[arg-type]
    tables = [element for element in elements if isinstance(element, Table)]
    assert [table.rows[0][:2] for table in tables] == [(str(number), str(7 * number)) for number in range(1, 6)]
    assert _texts(elements) == []  # page numbers are left out


def test_the_last_row_of_a_ruled_table_may_repeat_on_every_page_but_not_a_framed_head(path: Path) -> None:
    def page(number: int) -> object:
        def draw(canvas: Canvas) -> None:
            head = [["Survey", "Annual report"], ["of rivers", "of the valley"]]
            canvas.grid([72, 272, 472], [HEIGHT - y for y in (20, 38, 56)])
            _draw_cells(canvas, head, [76, 276], 33)
            prose(canvas, 72, 150, 90, f"Only page {number} says this. " + WORDS)
            canvas.grid([72, 372, 472], [HEIGHT - y for y in (730, 760, 790)])
            for row in range(2):
                text(canvas, 76, 742 + 30 * row, f"Gauge number {7 * number + row} with a float and a")
                text(canvas, 76, 754 + 30 * row, "spare battery")
                text(canvas, 376, 748 + 30 * row, f"G{7 * number + row}")

        return draw

    elements = _parse(make_pdf(path, *(page(number) for number in range(1, 6))))  # type: ignore[arg-type]
    rows = [
        row for element in elements if isinstance(element, Table) for row in (element.columns, *element.rows) if row
    ]
    assert [name.endswith("and a spare battery") for name, _ in rows] == [True] * 10
    assert "Annual report" not in "\n".join(_texts(elements))


def test_cells_repeated_on_every_page_stay(path: Path) -> None:
    def page(number: int) -> object:
        def draw(canvas: Canvas) -> None:
            rows = [
                [f"Mill {name}", f"{name}ton", f"{name}shire", "Closed"]
                for name in (chr(64 + number), chr(80 + number))
            ]
            canvas.grid([72, 172, 272, 372, 472], [HEIGHT - y for y in (40, 58, 76)])
            _draw_cells(canvas, rows, [76, 176, 276, 376], 53)

        return draw

    tables = _tables(make_pdf(path, *(page(number) for number in range(1, 6))))  # type: ignore[arg-type]
    assert [table.rows[-1][-1] for table in tables] == ["Closed"] * 5


def test_a_table_without_lines_has_names_above_its_numbers(path: Path) -> None:
    rows = [["first", "second", "third"], ["1", "5", "9"], ["2", "4", "6"], ["3", "3", "3"], ["4", "2", "0"]]

    def draw(canvas: Canvas) -> None:
        _draw_cells(canvas, rows[:1], [72, 152, 232], 100, 16)
        _draw_cells(canvas, rows[1:], [-150, -230, -310], 116, 16)

    (table,) = _tables(make_pdf(path, draw))
    assert [table.columns, *table.rows] == [tuple(row) for row in rows]


def test_a_cell_of_a_table_without_lines_may_have_two(path: Path) -> None:
    rows = [["Signal", "Action", "Comment"], ["HUP", "Term", "Hangup of the terminal"], ["INT", "Term", "Interrupt"]]
    rows += [["QUIT", "Core", "Quit from keyboard"], ["ILL", "Core", "Illegal instruction"]]

    def draw(canvas: Canvas) -> None:
        _draw_cells(canvas, rows[:2], [72, 172, 272], 100, 12)
        text(canvas, 272, 124, "or of its process")
        _draw_cells(canvas, rows[2:], [72, 172, 272], 136, 12)

    (table,) = _tables(make_pdf(path, draw))
    assert table.rows[0] == ("HUP", "Term", "Hangup of the terminal or of its process")
    assert table.rows[1:] == tuple(map(tuple, rows[2:]))


def test_rows_without_lines_may_be_far_apart(path: Path) -> None:
    rows = [["Parameter", "Note", "Default", "Print"], ["Embed", "(13)", "none", "all"]]
    rows += [["Colour", "(0)", "false", "true"], ["Binding", "(1)", "left", "left"], ["Zoom", "(2)", "auto", "fit"]]

    def draw(canvas: Canvas) -> None:
        _draw_cells(canvas, rows, [72, 172, 272, 372], 100, 30)

    (table,) = _tables(make_pdf(path, draw))
    assert [table.columns, *table.rows] == [tuple(row) for row in rows]


def test_a_numbered_program_is_not_a_table(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for line in range(6):
            text(canvas, 60, 100 + 12 * line, str(40 + line))
            text(canvas, 90, 100 + 12 * line, f"new_line{line}", "Courier")
            text(canvas, 190, 100 + 12 * line, "{ name }", "Courier")

    assert _tables(make_pdf(path, draw)) == []


def test_narrow_gaps_separate_columns_between_lines(path: Path) -> None:
    rows = [
        ["Package", "Size", "Description"],
        ["dialog", "1213", "asks in a terminal"],
        ["zenity", "167", "in a window"],
    ]

    def draw(canvas: Canvas) -> None:
        for top in (100, 120, 166):
            canvas.line(72, HEIGHT - top, 400, HEIGHT - top)
        _draw_cells(canvas, rows, [76, -190, 197], 114, 20)

    (table,) = _tables(make_pdf(path, draw))
    assert [table.columns, *table.rows] == [tuple(row) for row in rows]


def test_lines_of_a_title_page_are_not_a_table(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for top in (100, 104, 400):
            canvas.line(72, HEIGHT - top, 500, HEIGHT - top)
        text(canvas, 350, 130, "Version 4.2 of the handbook")
        text(canvas, 76, 380, "The authors")

    assert _tables(make_pdf(path, draw)) == []


def test_a_drawing_has_its_labels(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        prose(canvas, 72, 80, 90)
        for step in range(6):
            canvas.rect(100 + 48 * step, HEIGHT - 250, 40, 40)
            canvas.circle(120 + 48 * step, HEIGHT - 200, 15)
        text(canvas, 105, 235, "Pump")
        text(canvas, 345, 235, "Basin")
        text(canvas, 105, 205, "0.2")
        text(canvas, 72, 275, "Figure 4. How the water goes.")

    elements = _parse(make_pdf(path, draw))
    (found,) = [element for element in elements if isinstance(element, Picture)]
    assert (found.alt, found.labels) == ("Figure 4. How the water goes.", "Pump  Basin")
    assert not any("Basin" in content for content in _texts(elements))


def test_a_picture_with_its_caption(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        prose(canvas, 72, 80, 90)
        picture(canvas, 72, 150)
        text(canvas, 72, 285, "Figure 3. The lake seen from the pass.", size=9)
        canvas.drawImage(ImageReader(Image.new("RGB", (16, 16), "red")), 500, 700, 12, 12)

    elements = _parse(make_pdf(path, draw))
    (found,) = [e for e in elements if isinstance(e, Picture)]
    assert found.alt == "Figure 3. The lake seen from the pass."
    with Image.open(path.parent / "out" / found.path) as image:
        assert image.size == (found.width, found.height)
        assert image.width > 300
        assert image.getpixel((image.width // 2, image.height // 2))[2] > 120  # type: ignore[index]
    assert not any("Figure 3" in content for content in _texts(elements))


def test_backgrounds_and_repeated_logos_are_skipped(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(Image.new("RGB", (600, 800), "beige")), 0, 0, WIDTH, HEIGHT)
        picture(canvas, 400, 20, 100, 60)
        prose(canvas, 72, 140, 90, f"Page {canvas.getPageNumber()} has its own words. " + WORDS)

    assert not [e for e in _parse(make_pdf(path, draw, draw, draw, draw)) if isinstance(e, Picture)]


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("MAX_PER_DOCUMENT", "The file contains more than 2 pictures; the rest were left out."),
        ("MAX_PER_PAGE", "A page contains more than 20 pictures; the rest of them were left out."),
    ],
)
def test_pictures_left_out_are_reported(path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, words: str) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 50, "Three pictures stand on this page.")
        for shade in range(3):
            picture(canvas, 72, 100 + 200 * shade, shade=shade)

    monkeypatch.setattr(pictures, limit, 2)
    make_pdf(path, draw)
    found = list(document.parse(path, ParseContext(path.parent, path.name)))
    assert len([element for element in found if isinstance(element, Picture)]) == 2
    assert [message_of(element) for element in found if isinstance(element, Notice)] == [words]


def test_code_keeps_its_lines(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        prose(canvas, 72, 80, 90)
        for row, line in enumerate(("for lake in lakes:", "    print(lake.name)", "    total += 1")):
            text(canvas, 72, 140 + 12 * row, line, "Courier")

    codes = [e for e in _parse(make_pdf(path, draw)) if isinstance(e, Code)]
    assert [e.text for e in codes] == ["for lake in lakes:\n    print(lake.name)\n    total += 1"]


def test_sideways_text_is_read(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rotate(90)
        for row in range(6):
            canvas.drawString(60, -80 - 14 * row, f"Sideways line number {row} of the page goes upwards.")

    read = " ".join(_texts(_parse(make_pdf(path, draw))))
    assert [read.index(f"number {row}") for row in range(6)] == sorted(read.index(f"number {row}") for row in range(6))


def test_a_rotated_table_is_read_and_a_stamp_in_the_margin_is_not(path: Path) -> None:
    rows = [["Catchment", "Area (ha)", "Rainfall"], ["Redhill", "195", "866"], ["Pine Creek", "320", "775"]]
    rows += [[f"Station {number}", str(number), str(100 * number)] for number in range(1, 8)]

    def draw(canvas: Canvas) -> None:
        prose(canvas, 72, 100, 40)
        canvas.saveState()
        canvas.rotate(90)
        canvas.translate(0, -HEIGHT)
        grid(canvas, 150, 350, rows)
        canvas.restoreState()

    def stamped(canvas: Canvas) -> None:
        prose(canvas, 72, 100, 40)
        canvas.rotate(90)
        canvas.drawString(
            100, -30, "Downloaded from the library of the institute by a reader " + "on a day of May " * 5
        )

    elements = _parse(make_pdf(path, draw, stamped))
    (table,) = (element for element in elements if isinstance(element, Table))
    assert [table.columns, *table.rows] == [tuple(row) for row in rows]
    assert not any("Downloaded" in text for text in _texts(elements))


def test_sheared_letters_are_read_and_watermarks_are_not(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 72, 80, "Take the")
        sheared = canvas.beginText()
        sheared.setTextTransform(1, 0, 0.3, 1, 116, HEIGHT - 80)
        sheared.textOut("second")
        canvas.drawText(sheared)
        text(canvas, 152, 80, "road at the bridge.")
        canvas.translate(100, 300)
        canvas.rotate(45)
        text(canvas, 0, HEIGHT, "DRAFT", size=60)

    assert _texts(_parse(make_pdf(path, draw))) == ["Take the second road at the bridge."]


def _scan(canvas: Canvas) -> None:
    image = Image.new("RGB", (600, 800), "white")
    ImageDraw.Draw(image).text((100, 100), "only a picture of words", fill="black")
    canvas.drawImage(ImageReader(image), 0, 0, WIDTH, HEIGHT)


def test_filled_in_fields_and_notes_on_the_page_are_read(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.beginForm("note", 0, 0, 200, 20)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(2, 5, "Checked by Wintle")
        canvas.endForm()
        note = {
            "Type": PDFName("Annot"),
            "Subtype": PDFName("FreeText"),
            "Rect": PDFArray([300, HEIGHT - 210, 500, HEIGHT - 190]),
            "AP": PDFDictionary({"N": PDFObjectReference(xObjectName("note"))}),
        }
        canvas._addAnnotation(PDFDictionary(note))
        text(canvas, 72, 100, "Name of the applicant:")
        canvas.acroForm.textfield(value="Joan Ramos", x=220, y=HEIGHT - 105, width=200, height=20)
        text(canvas, 72, 150, "Colour:")
        canvas.acroForm.choice(value="Blue", options=["Red", "Blue"], x=220, y=HEIGHT - 155, width=100, height=20)

    assert [" ".join(words.split()) for words in _texts(_parse(make_pdf(path, draw)))] == [
        "Name of the applicant: Joan Ramos",
        "Colour: Blue",
        "Checked by Wintle",
    ]


def test_checkboxes_are_read_with_their_state(path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for number, (label, ticked) in enumerate({"I want a shed": True, "I want water": False}.items()):
            y = HEIGHT - 100 - 14 * number
            canvas.acroForm.checkbox(name=label, x=72, y=y - 2, size=12, checked=ticked)
            canvas.drawString(90, y, label)
        canvas.acroForm.checkbox(x=72, y=HEIGHT - 220, size=12, checked=True, annotationFlags="hidden")
        text(canvas, 72, 200, "Payment:")
        for x, label, chosen in ((140, "by card", False), (240, "in cash", True)):
            canvas.acroForm.radio(name="payment", value=label, selected=chosen, x=x, y=HEIGHT - 203, size=12)
            text(canvas, x + 18, 200, label)

    assert [" ".join(words.split()) for words in _texts(_parse(make_pdf(path, draw)))] == [
        "☑ I want a shed",
        "☐ I want water",
        "Payment: ☐ by card ☑ in cash",
    ]


def test_a_scan_is_refused_without_text(path: Path) -> None:
    error = _refusal(make_pdf(path, _scan, _scan))
    assert error.code == "no_text"
    assert "OCR" in message_of(error)


def test_a_scanned_page_among_others_is_skipped(path: Path) -> None:
    elements = _parse(make_pdf(path, _scan, _prose_page))
    assert "northern valley" in " ".join(_texts(elements))


def _prose_page(canvas: Canvas) -> None:
    prose(canvas, 72, 100, 90)


GLYPHS = "".join(chr(code + 29) for code in range(3, 98)), "".join(map(chr, range(3, 98)))
LANGUAGES = {
    "English": WORDS,
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
    "begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "Polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni "
    "rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
    "Hungarian": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és "
    "lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.",
    "Vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều "
    "được tạo hóa ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu.",
    "Chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。" * 4,
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_are_distinguished_from_glyph_numbers(language: str) -> None:
    words = LANGUAGES[language]
    assert not is_garbled(words, guessed=True)
    if language != "Chinese":
        plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
        assert is_garbled(plain.translate(str.maketrans(*GLYPHS)), guessed=True)


def test_mixed_scripts_are_garbled_and_few_letters_are_not_judged() -> None:
    assert is_garbled("".join(map(chr, range(0x300, 0x3000, 7))), guessed=True)
    assert not is_garbled("WKH", guessed=True)
    assert not is_garbled("replaceAt(p) GGC-++-TGTGAATTCCTGTACATATTTC TTC-++-TGTCAAAGCATCATCTCAACAA " * 3, guessed=True)


def test_ornaments_instead_of_letters_are_garbled() -> None:
    assert is_garbled("❧❡❛st sq✉❛r❡s ✈❡rs✉s ❣❡♥❡r❛❧✐③❡❞", guessed=False)
    assert not is_garbled("Ports ✓ ✓ ✗ Fans ✓ ✗ ✓ Warranty of three years ✓ ✓ ✓", guessed=False)


def test_a_garbled_page_is_read_with_ocr(path: Path) -> None:
    by_glyph(path, WORDS[:90], WORDS[90:])
    assert _refusal(path).key == "no_text.fonts"
    later = list(document.parse(path, ParseContext(path.parent, "a.pdf", ocr="later")))
    assert [element for element in later if isinstance(element, Scanned)] == [Scanned(page=1)]


def test_an_encrypted_pdf(path: Path) -> None:
    make_pdf(path, lambda canvas: text(canvas, 72, 80, "secret"), encrypt=StandardEncryption("open sesame"))
    error = _refusal(path)
    assert error.code == "encrypted"
    assert "password" in message_of(error)


def test_an_owner_password_alone_does_not_matter(path: Path) -> None:
    make_pdf(path, lambda canvas: text(canvas, 72, 80, "free to read"), encrypt=StandardEncryption("", "owner"))
    assert _texts(_parse(path)) == ["free to read"]


def test_broken_and_empty_pdfs(path: Path) -> None:
    path.write_bytes(b"%PDF-1.7\nnothing that could be a document")
    assert _refusal(path).code == "broken"
    assert _refusal(make_pdf(path, lambda canvas: None)).code == "empty"


def test_too_many_pages(path: Path) -> None:
    make_pdf(path, *([lambda canvas: None] * 3))
    error = _refusal(path, max_pages=2)
    assert error.code == "too_many_pages"
    assert "3 pages" in message_of(error)
