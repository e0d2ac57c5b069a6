"""PowerPoint presentations, created with python-pptx."""

from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Inches

from knowledge.parsing.elements import PageBreak, Picture
from tests.knowledge.reading import make_archive, outline, png, read, refused, with_part

TITLE_ONLY, BLANK = 5, 6


def saved(show: Any, folder: Path) -> Path:
    path = folder / "a.pptx"
    show.save(str(path))
    return path


def slide_of(show: Any, title: str = "") -> Any:
    slide = show.slides.add_slide(show.slide_layouts[TITLE_ONLY if title else BLANK])
    if title:
        slide.shapes.title.text = title
    return slide


def add_text(shapes: Any, text: str, left: float, top: float) -> None:
    shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(1)).text_frame.text = text


def test_slides_are_pages_with_shapes_in_reading_order_and_notes(tmp_path: Path) -> None:
    show = Presentation()
    slide = slide_of(show, "Plan")
    add_text(slide.shapes, "below", 1, 5)
    add_text(slide.shapes, "right", 5, 2.1)
    add_text(slide.shapes, "left", 1, 2)
    slide.notes_slide.notes_text_frame.text = "Said aloud."
    add_text(slide_of(show, "End").shapes, "bye", 1, 1)

    found = read(saved(show, tmp_path))
    assert outline(found) == ["# Plan", "left", "right", "below", "Said aloud.", "# End", "bye"]
    assert [(item.page, item.total) for item in found if isinstance(item, PageBreak)] == [(1, 2), (2, 2)]


def test_slides_without_a_title_have_a_heading_too(tmp_path: Path) -> None:
    show = Presentation()
    slide = slide_of(show)
    add_text(slide.shapes, "Agenda", 1, 1)
    add_text(slide.shapes, "It has two points.", 1, 3)
    add_text(slide_of(show).shapes, "A whole sentence stands here alone.", 1, 1)

    assert outline(read(saved(show, tmp_path))) == [
        "# Agenda",
        "It has two points.",
        "# Slide 2",
        "A whole sentence stands here alone.",
    ]


def test_levels_are_list_items(tmp_path: Path) -> None:
    show = Presentation()
    slide = slide_of(show, "List")
    frame = slide.shapes.add_textbox(0, Inches(2), Inches(3), Inches(2)).text_frame
    frame.text = "top"
    inner = frame.add_paragraph()
    inner.text, inner.level = "inner", 1

    assert outline(read(saved(show, tmp_path))) == ["# List", "top", "  - inner"]


def test_content_for_newer_programs_and_symbols_of_wingdings(tmp_path: Path) -> None:
    show = Presentation()
    slide = slide_of(show, "From A \uf0e0 B")
    arrow = slide.shapes.title.text_frame.paragraphs[0].runs[0]._r
    arrow.get_or_add_rPr().append(parse_xml(f'<a:sym {nsdecls("a")} typeface="Wingdings"/>'))
    add_text(slide.shapes, "The area is ", 1, 2)
    box = slide.shapes[-1]._element
    formula = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>xy</m:t></m:r></m:oMath>'
    box.txBody.p_lst[0].append(
        parse_xml(f'<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">{formula}</a14:m>')
    )
    compatible = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    alternatives = parse_xml(
        f'<mc:AlternateContent {compatible}><mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>'
    )
    box.addprevious(alternatives)
    alternatives[1].append(deepcopy(box))
    alternatives[0].append(box)
    add_text(slide.shapes, "10", 1, 4)
    paragraph = slide.shapes[-1].text_frame.paragraphs[0]
    paragraph.add_run().text = "6"
    paragraph.runs[-1]._r.get_or_add_rPr().set("baseline", "30000")
    paragraph.add_run().text = " times"

    assert outline(read(saved(show, tmp_path))) == ["# From A → B", "The area is xy", "10^6 times"]


def test_the_fallback_is_read_if_newer_content_has_no_text(tmp_path: Path) -> None:
    show = Presentation()
    slide = slide_of(show, "Model")
    shown = slide.shapes.add_picture(BytesIO(png()), Inches(1), Inches(2))._element
    compatible = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    inside = '<mc:Choice Requires="am3d"/><mc:Fallback/>'
    alternatives = parse_xml(f"<mc:AlternateContent {compatible}>{inside}</mc:AlternateContent>")
    shown.addprevious(alternatives)
    alternatives[1].append(shown)

    assert any(isinstance(item, Picture) for item in read(saved(show, tmp_path)))


def test_groups_tables_with_merged_cells_charts_and_pictures(tmp_path: Path) -> None:
    show = Presentation()
    slide = slide_of(show, "All")
    add_text(slide.shapes.add_group_shape().shapes, "grouped", 1, 1.6)
    table = slide.shapes.add_table(3, 2, Inches(1), Inches(2.5), Inches(4), Inches(1)).table
    for place, text in enumerate(("Name", "Size", "a", "1", "b", "")):
        table.cell(place // 2, place % 2).text = text
    table.cell(1, 1).merge(table.cell(2, 1))
    data = CategoryChartData()
    data.categories = ["x", "y"]
    data.add_series("Count", (1, 2.5))
    slide.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, 0, Inches(4), Inches(3), Inches(2), data)
    picture = slide.shapes.add_picture(BytesIO(png()), 0, Inches(6.5))
    picture._element.nvPicPr.cNvPr.set("descr", "A box")

    found = read(saved(show, tmp_path))
    assert outline(found) == [
        "# All",
        "grouped",
        "table: Name,Size | a,1 | b,1",
        "table: ,Count | x,1 | y,2.5",
        "picture: A box",
    ]
    assert isinstance(found[-1], Picture)
    assert found[-1].page == 1


def test_bad_files_are_refused_with_their_reason(tmp_path: Path) -> None:
    show = Presentation()
    add_text(slide_of(show).shapes, "text", 1, 1)
    good = saved(show, tmp_path)
    bad = tmp_path / "bad.pptx"
    bad.write_bytes(good.read_bytes()[:5000])
    assert refused(bad) == "broken"
    assert refused(make_archive(bad, {"word/document.xml": b"<a/>"})) == "broken"
    assert refused(with_part(good, bad, "ppt/slides/slide1.xml", b"<p:sld>")) == "broken"
    assert refused(good, max_pages=0) == "too_many_pages"
    assert refused(saved(Presentation(), tmp_path)) == "no_text"


def test_deeply_nested_groups_and_too_many_points_are_reported(tmp_path: Path) -> None:
    show = Presentation()
    slide = slide_of(show, "Plan")
    shapes = slide.shapes
    for _ in range(14):
        shapes = shapes.add_group_shape().shapes
    add_text(shapes, "The innermost.", 1, 1)
    data = CategoryChartData()
    data.categories = [f"point {number}" for number in range(1300)]
    data.add_series("Load", range(1300))
    slide.shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(1), Inches(3), Inches(3), data)

    assert sorted(line for line in outline(read(saved(show, tmp_path))) if line.startswith("notice")) == [
        "notice: A chart has 1,300 points; only the first 1,000 were read.",
        "notice: Parts of the file are nested too deeply to be read; they were left out.",
    ]
