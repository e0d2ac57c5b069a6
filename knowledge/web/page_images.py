"""Pictures of PDF pages, rendered once and stored with the document, with passages highlighted on them."""

import io
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.cache import cache
from django.core.files.storage import default_storage
from django.http import Http404
from PIL import Image, ImageChops, ImageDraw

from knowledge.highlights import Marks, bare, sentences_of
from knowledge.models import Chunk, Document
from knowledge.parsing.errors import ParseError
from knowledge.parsing.pdf.render import Fractions, find_boxes, find_in_lines, render_page

MEDIA_TYPE = "image/png"
_WIDTH = 1400  # pixels
_MARKER = (255, 236, 140)
_MARGIN = 4  # pixels around a line
_KEEP_BOXES = 24 * 3600  # seconds


def page_image(document: Document, number: int, chunks: Iterable[Chunk] = ()) -> bytes:
    """Return page `number` (from 1) as PNG with the chunks highlighted; raises `Http404` if it can't be rendered."""
    try:
        source = Path(document.file.path)
        kept = Path(default_storage.path(f"pages/{document.pk}/{number}.png"))
        if kept.is_file():
            page = kept.read_bytes()
        else:
            page = render_page(source, number, _WIDTH)
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
                file.write(page)
            Path(file.name).replace(kept)  # atomically, so that concurrent requests never read part of it
    except (ParseError, IndexError, FileNotFoundError) as error:
        raise Http404(str(error)) from None
    boxes = [box for chunk in chunks for box in boxes_of(document, number, f"{chunk.pk}", chunk.content)]
    return mark(page, boxes) if boxes else page


def boxes_of(document: Document, number: int, name: str, text: str) -> list[Fractions]:
    """Return the boxes of a text on a page, as `find_boxes` does, cached under the text's `name`.

    Raises `Http404` if the page can't be read.
    """
    key = f"knowledge:boxes:{name}:{number}"
    found: list[Fractions] | None = cache.get(key)
    if found is None:
        scanned = document.recognised.filter(number=number).first()
        try:
            found = (
                find_in_lines(scanned.lines, text) if scanned else find_boxes(Path(document.file.path), number, text)
            )
        except (ParseError, IndexError, FileNotFoundError) as error:
            raise Http404(str(error)) from None
        cache.set(key, found, _KEEP_BOXES)
    return found


def layer(document: Document, number: int, marks: Marks) -> dict[str, Any]:
    """Return the layer over page `number` (from 1): its recognised lines, and the boxes of highlights.

    `{"lines": [[text, x0, y0, x1, y1], …], "cited": [[x0, y0, x1, y1], …], "said": […]}`, in fractions of the page.
    Raises `Http404` if the page can't be read.
    """
    cited: list[Fractions] = []
    said: list[Fractions] = []
    for chunk in document.chunks.filter(pk__in=marks.chunk_ids):
        if not (chunk.page_from or 0) <= number <= (chunk.page_to or chunk.page_from or 0):
            continue
        own = boxes_of(document, number, f"{chunk.pk}", chunk.content)
        cited += own
        sentences = sentences_of(chunk)
        for index in sorted(marks.said.get(chunk.pk, ())):
            if index < len(sentences):
                boxes = boxes_of(document, number, f"{chunk.pk}.{index}", bare(sentences[index]))
                # Skip the same words elsewhere on the page.
                said += [
                    (x0, y0, x1, y1)
                    for x0, y0, x1, y1 in boxes
                    if any(x0 < right and left < x1 and y0 < bottom and top < y1 for left, top, right, bottom in own)
                ]
    scanned = document.recognised.filter(number=number).first()
    return {"lines": scanned.lines if scanned else [], "cited": cited, "said": said}


def mark(page: bytes, boxes: list[Fractions]) -> bytes:
    """Draw boxes (left, top, right, bottom, as fractions of the page) over a PNG like a highlighter pen."""
    with Image.open(io.BytesIO(page)) as image:
        picture = image.convert("RGB")
    layer = Image.new("RGB", picture.size, "white")
    draw = ImageDraw.Draw(layer)
    for left, top, right, bottom in boxes:
        corners = (
            left * picture.width - _MARGIN,
            top * picture.height - _MARGIN / 2,
            right * picture.width + _MARGIN,
            bottom * picture.height + _MARGIN / 2,
        )
        draw.rounded_rectangle(corners, radius=_MARGIN, fill=_MARKER)
    result = io.BytesIO()
    ImageChops.multiply(picture, layer).save(result, "PNG", compress_level=2)
    return result.getvalue()
