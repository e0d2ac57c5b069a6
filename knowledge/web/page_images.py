"""Pictures of PDF pages, rendered once and kept beside the document, with passages marked on them."""

import io
import tempfile
from collections.abc import Iterable
from pathlib import Path

from django.core.cache import cache
from django.core.files.storage import default_storage
from django.http import Http404
from PIL import Image, ImageChops, ImageDraw

from knowledge.models import Chunk, Document
from knowledge.parsing.errors import ParseError
from knowledge.parsing.pdf.render import Fractions, find_boxes, render_page

MEDIA_TYPE = "image/png"
_WIDTH = 1400  # pixels
_MARKER = (255, 236, 140)
_MARGIN = 4  # pixels around a line
_KEEP_BOXES = 24 * 3600  # seconds


def page_image(document: Document, number: int, chunks: Iterable[Chunk] = ()) -> bytes:
    """Return page `number` (from 1) as PNG, with chunks marked on it when given; raises `Http404` when it can't be."""
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
            Path(file.name).replace(kept)  # whole or not at all, also for those who read it meanwhile
        boxes: list[Fractions] = []
        for chunk in chunks:
            key = f"knowledge:boxes:{chunk.pk}:{number}"
            found: list[Fractions] | None = cache.get(key)
            if found is None:
                found = find_boxes(source, number, chunk.content)
                cache.set(key, found, _KEEP_BOXES)
            boxes += found
    except (ParseError, IndexError, FileNotFoundError) as error:
        raise Http404(str(error)) from None
    return mark(page, boxes) if boxes else page


def mark(page: bytes, boxes: list[Fractions]) -> bytes:
    """Draw boxes (left, top, right, bottom, as fractions of the page) over a PNG as with a marker pen."""
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
