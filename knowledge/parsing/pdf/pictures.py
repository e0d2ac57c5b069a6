"""Pictures of a PDF page: which ones to keep, their captions, and their files.

A picture is cropped from the rendered page, so that masks, tiles, rotation and labels drawn over it appear as printed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pypdfium2 as pdfium

from knowledge.parsing.elements import Notice
from knowledge.parsing.pdf.layout import Block, rows_of
from knowledge.parsing.pdf.shapes import Placed
from knowledge.parsing.pdf.text import Box, Line, around

MIN_POINTS = 28.0  # smaller ones are icons
MIN_PIXELS = 40
MAX_ASPECT = 12.0  # longer ones are rules or borders
PAGE_WIDE = 0.8  # share of the page's area from which a picture is a background or a scan
MAX_SIDE = 1600  # pixels
# Files are as small as with the default of 6, in three fifths of the time.
_COMPRESSION = 3
MAX_PER_PAGE = 20
MAX_PER_DOCUMENT = 1000
CROWDED = Notice(key="left_out.pictures_of_page", params={"most": MAX_PER_PAGE})
LOGO_PAGES = 3  # a picture in the same position on this many pages is decoration
CAPTION_GAP = 45.0  # points between a picture and its caption
MIN_DRAWN = 12  # paths of a drawing
ABOVE = 15.0  # points added to the distance of a caption above, so that one below is preferred
DRAWING_GAP = 10.0  # points between parts of one drawing
MAX_DRAWN = 4000
MAX_LABELS = 1000  # characters

_WORD = re.compile(r"[^\W\d_]{2}")
FIGURE = re.compile(
    r"^\s*(figure|fig\.|chart|diagram|plate|图表?|圖|插图|附图)\s*[\d一二三四五六七八九十A-Z]", re.IGNORECASE
)
TABLE = re.compile(r"^\s*(table|tab\.|表格?|附表)\s*[\d一二三四五六七八九十A-Z]", re.IGNORECASE)


def placement(picture: Placed) -> tuple[int, ...]:
    """Return the key of repeated logos: the size in pixels and the position on the page."""
    return (picture.width, picture.height, *(round(value / 4) for value in picture.box))


def logos(pages: Iterable[Sequence[Placed]]) -> set[tuple[int, ...]]:
    """Return the placements that repeat on several pages."""
    counts = Counter(key for pictures in pages for key in {placement(picture) for picture in pictures})
    return {key for key, count in counts.items() if count >= LOGO_PAGES}


def figures(pictures: Sequence[Placed], decoration: set[tuple[int, ...]], width: float, height: float) -> list[Box]:
    """Return the boxes of pictures to keep, with tiles joined, from the top; may be more than `MAX_PER_PAGE`."""
    boxes = [
        _clipped(picture.box, width, height)
        for picture in pictures
        if placement(picture) not in decoration and not _is_page_wide(picture.box, width, height)
    ]
    sizes = {_clipped(picture.box, width, height): min(picture.width, picture.height) for picture in pictures}
    kept: list[Box] = []
    for box in _joined(boxes, 2.0):
        low, high = sorted((box[2] - box[0], box[3] - box[1]))
        is_picture = low >= MIN_POINTS and high <= MAX_ASPECT * low and sizes.get(box, MIN_PIXELS) >= MIN_PIXELS
        if is_picture and not _is_page_wide(box, width, height):
            kept.append(box)
    return sorted(kept, key=lambda box: box[1])


def drawings(drawn: Sequence[Box], taken: Sequence[Box], width: float, height: float) -> list[Box]:
    """Return the boxes of drawings with many paths, outside the boxes of tables and pictures in `taken`."""
    if not MIN_DRAWN <= len(drawn) <= MAX_DRAWN:
        return []
    free = [
        box
        for box in (_clipped(box, width, height) for box in drawn)
        if not any(_overlap(box, other) for other in taken) and not _is_page_wide(box, width, height)
    ]
    kept = [
        box
        for box in _joined(free, DRAWING_GAP)
        if box[2] - box[0] > 80 and box[3] - box[1] > 50 and not _is_page_wide(box, width, height)
        if sum(_overlap(part, box) for part in free) >= MIN_DRAWN
    ]
    return kept[:MAX_PER_PAGE]


def labels_of(lines: Iterable[Line]) -> str:
    """Return the words of the lines within a drawing, without the numbers on its axes."""
    words = " ".join(row.text for row in rows_of(line for line in lines if _WORD.search(line.text)))
    return words[:MAX_LABELS]


def caption_of(box: Box, blocks: Sequence[Block], pattern: re.Pattern[str]) -> Block | None:
    """Return the block that looks like the caption of `box`, close below or else above it, or None."""
    best, best_distance = None, CAPTION_GAP
    for block in blocks:
        x0, y0, x1, y1 = block.box
        if not pattern.match(block.text) or x1 < box[0] - 20 or x0 > box[2] + 20:
            continue
        distance = y0 - box[3] if y0 > (box[1] + box[3]) / 2 else box[1] - y1 + ABOVE
        if -20 < distance < best_distance:
            best, best_distance = block, distance
    return best


def save(
    page: pdfium.PdfPage, rotation: int, box: Box, size: tuple[float, float], path: Path
) -> tuple[int, int] | None:
    """Render the part `box` of a page to the file `path`; return its width and height in pixels.

    `rotation` is in degrees clockwise, in addition to the page's own, and turns it upright; `size` is the upright
    page's in points. Return None, without a file, if there is only a single colour.
    """
    scale = min(2.5, MAX_SIDE / max(box[2] - box[0], box[3] - box[1]))
    crop = tuple(max(0.0, side) for side in (box[0], size[1] - box[3], size[0] - box[2], box[1]))
    bitmap = page.render(scale=scale, rotation=rotation, crop=crop)
    image = bitmap.to_pil().convert("RGB")
    if all(high - low < 8 for low, high in image.getextrema()):
        return None
    image.save(path, compress_level=_COMPRESSION)
    return int(image.width), int(image.height)


def _clipped(box: Box, width: float, height: float) -> Box:
    return max(box[0], 0.0), max(box[1], 0.0), min(box[2], width), min(box[3], height)


def _is_page_wide(box: Box, width: float, height: float) -> bool:
    return (box[2] - box[0]) * (box[3] - box[1]) > PAGE_WIDE * width * height


def _overlap(a: Box, b: Box, gap: float = 0.0) -> bool:
    return a[0] <= b[2] + gap and b[0] <= a[2] + gap and a[1] <= b[3] + gap and b[1] <= a[3] + gap


def _joined(boxes: Sequence[Box], gap: float) -> list[Box]:
    """Join boxes that touch or nearly touch, repeatedly."""
    joined: list[Box] = []
    for box in sorted(boxes, key=lambda item: (item[1], item[0])):
        merged = box
        while near := [other for other in joined if _overlap(merged, other, gap)]:
            joined = [other for other in joined if other not in near]
            merged = around([merged, *near])
        joined.append(merged)
    return joined
