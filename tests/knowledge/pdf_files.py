"""Small PDFs for the tests, created with reportlab."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
Draw = Callable[[Canvas], None]

WORDS = (
    "The survey of the northern valley began in early spring and went on until the first snow fell on the passes. "
    "Every station was visited twice, and the depth of the water was written down by hand in a small book. "
)


def make_pdf(path: Path, *pages: Draw, **options: object) -> Path:
    """Write a PDF with one page per drawing function."""
    canvas = Canvas(str(path), pagesize=A4, **options)  # type: ignore[arg-type]
    for draw in pages:
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def scan(path: Path, *pages: Draw, texts: tuple[Draw, ...] = (), dpi: int = 150, angle: float = 0) -> Path:
    """Write a PDF with the pages of `texts`, followed by pictures of the pages that the other functions draw."""
    pictures = [
        picture.rotate(angle, fillcolor="white") for picture in drawn(path.with_suffix(".source.pdf"), *pages, dpi=dpi)
    ]
    canvas = Canvas(str(path), pagesize=A4)
    for draw in texts:
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.showPage()
    for picture in pictures:
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
        canvas.showPage()
    canvas.save()
    return path


def drawn(path: Path, *pages: Draw, dpi: int = 150) -> list[Image.Image]:
    """Return pictures of the pages that the functions draw."""
    document = pdfium.PdfDocument(make_pdf(path, *pages))
    return [page.render(scale=dpi / 72).to_pil().convert("RGB") for page in document]


def text(canvas: Canvas, x: float, top: float, content: str, font: str = "Helvetica", size: float = 10) -> None:
    """Draw one line; `top` is measured from the upper edge of the page."""
    canvas.setFont(font, size)
    canvas.drawString(x, HEIGHT - top, content)


def prose(canvas: Canvas, x: float, top: float, width: int, content: str = WORDS, size: float = 10) -> float:
    """Draw a paragraph broken after `width` characters; return where the next line would be."""
    line = ""
    for word in content.split():
        if len(line) + len(word) + 1 > width:
            text(canvas, x, top, line, size=size)
            line, top = "", top + 1.2 * size
        line = f"{line} {word}".strip()
    text(canvas, x, top, line, size=size)
    return top + 1.2 * size


def chinese(canvas: Canvas, x: float, top: float, content: str, size: float = 10) -> None:
    """Draw a line with one of the Chinese fonts that every reader has."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    text(canvas, x, top, content, "STSong-Light", size)


def grid(canvas: Canvas, x: float, top: float, rows: list[list[str]], width: float = 120, height: float = 18) -> None:
    """Draw a ruled table."""
    columns = len(rows[0])
    xs = [x + width * i for i in range(columns + 1)]
    ys = [HEIGHT - top - height * i for i in range(len(rows) + 1)]
    canvas.grid(xs, ys)
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            text(canvas, xs[c] + 4, top + height * r + 13, cell, "Helvetica-Bold" if r == 0 else "Helvetica")


def picture(canvas: Canvas, x: float, top: float, width: float = 200, height: float = 120, shade: int = 0) -> None:
    """Draw a picture that isn't blank."""
    image = Image.new("RGB", (300, 180), (250, 240, 200))
    ImageDraw.Draw(image).ellipse((40, 20, 260, 160), fill=(30, 90 + shade, 160))
    canvas.drawImage(ImageReader(image), x, HEIGHT - top - height, width, height)


def by_glyph(path: Path, *lines: str, meant: Mapping[str, str] | None = None, apart: float = 0) -> Path:
    """Write a page with a font that maps only the characters in `meant`; "T" is just the 55th glyph.

    Letters are spaced by `apart` points.
    """
    pairs = (f"<{ord(char) - 29:04x}> <{means.encode('utf-16-be').hex()}>" for char, means in (meant or {}).items())
    said = f"1 begincodespacerange <0000> <ffff> endcodespacerange {len(meant or ())} beginbfchar {' '.join(pairs)}"
    said = f"/CIDInit /ProcSet findresource begin begincmap {said} endbfchar endcmap end"
    codes = ("".join(f"{ord(char) - 29:04x}" for char in line) for line in lines)
    shown = (f"1 0 0 1 40 {700 - 14 * at} Tm <{code}> Tj" for at, code in enumerate(codes))
    return _write(
        path,
        f"/F1 10 Tf {apart} Tc {' '.join(shown)}",
        "<< /Type /Font /Subtype /Type0 /BaseFont /Unknown /Encoding /Identity-H /DescendantFonts [6 0 R]"
        f"{' /ToUnicode 8 0 R' if meant else ''} >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Unknown /CIDToGIDMap /Identity /DW 500 /FontDescriptor 7 0 R"
        " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        "<< /Type /FontDescriptor /FontName /Unknown /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 900"
        " /Descent -200 /CapHeight 700 /StemV 80 >>",
        f"<< /Length {len(said)} >>\nstream\n{said}\nendstream",
    )


def of_bitmaps(path: Path, drawing: str) -> Path:
    """Write a page with a bitmap font of size 1, in which "n" is 5 points wide and 4.4 high, and "d" 6.9 high."""
    height = {"n": 4.4, "o": 4.4, "d": 6.9}
    shapes = (f"5 0 0 0 5 {high} d1 0 0 4.5 {high} re f" for high in height.values())
    return _write(
        path,
        f"/F1 1 Tf {drawing}",
        "<< /Type /Font /Subtype /Type3 /FontMatrix [1 0 0 1 0 0] /FontBBox [0 0 5 7] /FirstChar 100 /LastChar 111"
        f" /Widths [{'5 ' * 12}] /CharProcs << /n 6 0 R /o 7 0 R /d 8 0 R >>"
        " /Encoding << /Differences [100 /d 110 /n /o] >> >>",
        *(f"<< /Length {len(shape)} >>\nstream\n{shape}\nendstream" for shape in shapes),
    )


def _write(path: Path, drawing: str, *objects: str) -> Path:
    """Write one page of text by hand; the first of the objects, the fifth of the file, is its font /F1."""
    drawing = f"BT {drawing} ET"
    whole = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        " /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream",
        *objects,
    )
    written = "".join(f"{number} 0 obj\n{content}\nendobj\n" for number, content in enumerate(whole, 1))
    path.write_text(f"%PDF-1.4\n{written}trailer\n<< /Root 1 0 R /Size {len(whole) + 1} >>\n%%EOF\n")
    return path
