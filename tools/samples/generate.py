"""Generate the sample documents: `python -m tools.samples.generate` (needs the development packages).

They give a first visitor something to ask about: prose under headings, tables with borders, a picture, and both
languages. The texts are in `texts.py`; the documents are written to `ragsite/runtime/samples_data/`.
"""

from pathlib import Path
from typing import Any

from docx import Document
from docx.oxml.ns import qn
from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import Image as Picture
from reportlab.platypus import KeepTogether, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from tools.samples.texts import HANDBOOK, NOTES, OFFICE, PRICES

FOLDER = Path(__file__).resolve().parents[2] / "ragsite" / "runtime" / "samples_data"


def draw_front_panel(path: Path) -> None:
    """Draw the front panel of the LS-2424."""
    image = Image.new("RGB", (1200, 240), "#f4f5f7")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(18)
    draw.rounded_rectangle((10, 20, 1190, 220), 14, fill="#2b3440", outline="#141a21", width=3)
    for row, (name, colour) in enumerate((("PWR", "#39d353"), ("SYS", "#39d353"), ("TEMP", "#f0b429"))):
        draw.ellipse((40, 60 + row * 45, 56, 76 + row * 45), fill=colour)
        draw.text((66, 57 + row * 45), name, fill="white", font=font)
    draw.rounded_rectangle((140, 105, 190, 130), 8, fill="#0d1117", outline="white")
    draw.text((128, 140), "CONSOLE", fill="white", font=font)
    for port in range(24):
        x, y = 240 + (port // 2) * 55, 65 + (port % 2) * 70
        draw.rectangle((x, y, x + 44, y + 44), fill="#0d1117", outline="#9aa4b2", width=2)
        draw.text((x + 12, y + 12), str(port + 1), fill="#9aa4b2", font=font)
    for uplink in range(4):
        x = 930 + uplink * 62
        draw.rectangle((x, 90, x + 52, 150), fill="#0d1117", outline="#58a6ff", width=3)
        draw.text((x + 10, 160), f"X{uplink + 1}", fill="#58a6ff", font=font)
    draw.text((945, 50), "SFP+ 10 Gbit/s", fill="#58a6ff", font=font)
    image.save(path, optimize=True)


def write_handbook(path: Path) -> None:
    """Write the English handbook as PDF."""
    sheet = getSampleStyleSheet()
    styles = {
        "title": sheet["Title"],
        "h1": ParagraphStyle("h1", parent=sheet["Heading1"], fontSize=16, spaceBefore=14),
        "h2": ParagraphStyle("h2", parent=sheet["Heading2"], fontSize=12.5, spaceBefore=8),
        "text": ParagraphStyle("text", parent=sheet["BodyText"], fontSize=10, leading=14.5, spaceAfter=5),
        "caption": ParagraphStyle("caption", parent=sheet["BodyText"], fontSize=9, leading=12, spaceBefore=3),
        "cell": ParagraphStyle("cell", parent=sheet["BodyText"], fontSize=8.5, leading=11),
    }
    story: list[Any] = []
    for kind, content in HANDBOOK:
        if kind == "table":
            caption, rows = content
            cells = [[Paragraph(cell, styles["cell"]) for cell in row] for row in rows]
            grid = Table(cells, colWidths=[170 * mm / len(rows[0])] * len(rows[0]), repeatRows=1)
            lines = [("GRID", (0, 0), (-1, -1), 0.6, colors.black), ("BACKGROUND", (0, 0), (-1, 0), colors.lightgrey)]
            grid.setStyle(TableStyle(lines))
            story += [KeepTogether([Paragraph(caption, styles["caption"]), Spacer(1, 4), grid]), Spacer(1, 8)]
        elif kind == "picture":
            name, caption = content
            picture = Picture(str(FOLDER / name), width=160 * mm, height=32 * mm)
            story.append(KeepTogether([Spacer(1, 4), picture, Paragraph(caption, styles["caption"])]))
        else:
            story.append(Paragraph(content, styles[kind]))
    SimpleDocTemplate(
        str(path),
        pagesize=A4,
        title=HANDBOOK[0][1],
        author="Larkspur Networks",
        invariant=1,
        leftMargin=20 * mm,
        rightMargin=20 * mm,
        topMargin=18 * mm,
        bottomMargin=18 * mm,
    ).build(story)


def write_office_handbook(path: Path) -> None:
    """Write the Chinese handbook as DOCX."""
    document = Document()
    for name in ("Normal", "Title", "Heading 1", "Heading 2"):
        style = document.styles[name]
        style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), "Noto Sans CJK SC")
    levels = {"title": 0, "h1": 1, "h2": 2}
    for kind, content in OFFICE:
        if kind in levels:
            document.add_heading(content, levels[kind])
        elif kind == "text":
            document.add_paragraph(content)
        else:
            caption, rows = content
            document.add_paragraph(caption, style="Caption")
            table = document.add_table(len(rows), len(rows[0]), style="Table Grid")
            for row, values in zip(table.rows, rows, strict=True):
                for cell, value in zip(row.cells, values, strict=True):
                    cell.text = value
            document.add_paragraph()
    document.save(str(path))


def write_prices(path: Path) -> None:
    """Write the price list as XLSX, one sheet per group."""
    book = Workbook()
    for number, (name, rows) in enumerate(PRICES.items()):
        sheet = book.active if number == 0 else book.create_sheet()
        if not isinstance(sheet, Worksheet):
            raise TypeError("Expected a worksheet")
        sheet.title = name
        for row in rows:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        for column in "ABCDEFG":
            sheet.column_dimensions[column].width = 26
    book.save(path)


def main() -> None:
    """Write all documents to the site's folder of samples."""
    draw_front_panel(FOLDER / "front-panel.png")
    write_handbook(FOLDER / "switch-handbook.pdf")
    write_office_handbook(FOLDER / "staff-handbook.docx")
    write_prices(FOLDER / "prices.xlsx")
    (FOLDER / "release-notes.md").write_text(NOTES, encoding="utf-8")


if __name__ == "__main__":
    main()
