"""Renders pages of a PDF, and finds passages on them. Both run in the parser's child process."""

import base64
import ctypes
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from knowledge.parsing.elements import RecognisedLine
from knowledge.parsing.pdf.text import HYPHENS, MAX_CHARS, around
from knowledge.parsing.sandbox.runner import ParseLimits, call

MAX_WIDTH = 3000  # pixels
MAX_HEIGHT = 6000
SEEDS = (16, 8)  # characters that must match before a stretch counts as found
MAX_PASSAGE = 20_000  # characters to search for
FOUND_SHARE = 0.3  # share of the passage that the long seed has to find
SHORT = 24  # characters of a stretch that may match by chance; it counts only if a longer one is NEAR
NEAR = 40
ALONE = 60  # characters of a stretch that is accepted even if it is a small part of the passage

Fractions = tuple[float, float, float, float]

_LIMITS = ParseLimits(timeout_s=30, memory_mb=2048)
_UNIT = 100_000  # pdfium returns integer device units


def render_page(path: Path, page_number: int, width_px: int) -> bytes:
    """Return page `page_number` (from 1) as a PNG `width_px` wide (at most 3,000).

    Raises `ParseError` if the file can't be opened or rendered, and `IndexError` if it has no such page.
    """
    return base64.b64decode(_ask("render_in_child", path, page_number, width_px=width_px))


def find_boxes(path: Path, page_number: int, text: str) -> list[Fractions]:
    """Return the boxes, line by line, of the parts of `text` on page `page_number` (from 1).

    A box is `(x0, y0, x1, y1)` in fractions of the page as `render_page` shows it, from its top left. Spaces, hyphens,
    case and the order of columns don't matter. Empty if nothing is found. Raises `ParseError` and `IndexError`.
    """
    answer = _ask("find_in_child", path, page_number, text=text[:MAX_PASSAGE])
    return [(x0, y0, x1, y1) for x0, y0, x1, y1 in answer]


def _ask(function: str, path: Path, page_number: int, **arguments: Any) -> Any:
    arguments |= {"path": str(path), "page_number": page_number}
    answer = call(f"{__name__}.{function}", arguments, _LIMITS)
    if answer is None:
        raise IndexError(f"The PDF has no page {page_number}.")
    return answer


def render_in_child(path: str, page_number: int, width_px: int) -> str | None:
    """Render in the child process; return the PNG in Base64, or None if there is no such page."""
    page = _page(path, page_number)
    if page is None:
        return None
    width, height = page.get_size()
    scale = min(min(width_px, MAX_WIDTH) / max(width, 1), MAX_HEIGHT / max(height, 1))
    image = page.render(scale=scale).to_pil().convert("RGB")
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=4)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def find_in_child(path: str, page_number: int, text: str) -> list[Fractions] | None:
    """Find boxes in the child process; return None if there is no such page."""
    page = _page(path, page_number)
    if page is None:
        return None
    textpage = page.get_textpage()  # it is closed when garbage-collected
    parts: list[str] = []
    indexes: list[int] = []  # pdfium's index of each letter and digit
    for index in range(min(raw.FPDFText_CountChars(textpage.raw), MAX_CHARS)):
        folded = fold(chr(raw.FPDFText_GetUnicode(textpage.raw, index)))
        parts.append(folded)
        indexes += [index] * len(folded)
    boxes = (_place(page.raw, textpage.raw, index) for index in matches("".join(parts), indexes, text))
    return _lines(box for box in boxes if box is not None)


def find_in_lines(lines: Sequence[RecognisedLine], text: str) -> list[Fractions]:
    """Return the boxes of `text` in recognised lines, assuming that all letters of a line have the same width."""
    parts: list[str] = []
    indexes: list[int] = []
    boxes: list[Fractions] = []
    for line, x0, y0, x1, y1 in lines:
        wide = (x1 - x0) / max(1, len(line))
        for position, character in enumerate(line):
            folded = fold(character)
            parts.append(folded)
            indexes += [len(boxes)] * len(folded)
            boxes.append((x0 + position * wide, y0, x0 + (position + 1) * wide, y1))
    return _lines(boxes[index] for index in matches("".join(parts), indexes, text[:MAX_PASSAGE]))


def _page(path: str, number: int) -> pdfium.PdfPage | None:
    from knowledge.parsing.pdf.document import open_document

    document = open_document(Path(path))
    return document[number - 1] if 1 <= number <= len(document) else None


_NOISE = re.compile(rf"[\W_{re.escape(HYPHENS)}]+")


def fold(text: str) -> str:
    """Return the letters and digits of a text in compatible lower-case form."""
    return _NOISE.sub("", unicodedata.normalize("NFKC", text).casefold())


def matches(characters: str, indexes: list[int], text: str) -> list[int]:
    """Return, in order, the `indexes` of the `characters` that belong to `text`."""
    wanted = fold(text)
    found: list[range] = []
    for seed in SEEDS:
        found = _spread(characters, wanted, min(seed, len(wanted)))
        covered = len({position for stretch in found for position in stretch})
        if covered >= FOUND_SHARE * len(wanted):
            break
    longest = max(map(len, found), default=0)
    if covered < FOUND_SHARE * len(wanted) and longest < ALONE:
        return []
    # A few words that match by chance are isolated.
    long = [stretch for stretch in found if len(stretch) >= min(SHORT, longest / 2)]
    near = (
        stretch
        for stretch in found
        if any(stretch.start - NEAR <= other.stop and other.start - NEAR <= stretch.stop for other in long)
    )
    return sorted({indexes[position] for stretch in near for position in stretch})


def _spread(characters: str, wanted: str, seed: int) -> list[range]:
    """Find seeds of `wanted` in `characters`, extend each as far as both match, and return their ranges."""
    found: list[range] = []
    start = after = 0
    while seed and start + seed <= len(wanted):
        piece = wanted[start : start + seed]
        at = characters.find(piece, after)
        if at < 0:
            at = characters.find(piece)
        if at < 0:
            start += 1
            continue
        pairs = zip(wanted[start:], characters[at : at + len(wanted)], strict=False)
        length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        found.append(range(at, at + length))
        start, after = start + length, at + length
    return found


def _place(page: Any, textpage: Any, index: int) -> Fractions | None:
    """Return the character's box in fractions of the page as shown, whatever its rotation."""
    rect = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(textpage, index, rect):
        return None
    x, y = ctypes.c_int(), ctypes.c_int()
    corners = []
    for px, py in ((rect.left, rect.bottom), (rect.right, rect.top)):
        raw.FPDF_PageToDevice(page, 0, 0, _UNIT, _UNIT, 0, px, py, x, y)
        corners.append((x.value / _UNIT, y.value / _UNIT))
    (ax, ay), (bx, by) = corners
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)


def _lines(boxes: Iterable[Fractions]) -> list[Fractions]:
    """Join the boxes of adjacent characters on a line; lines may be vertical if the page is rotated."""
    boxes = list(boxes)
    steps = [(abs(b[0] - a[0]), abs(b[1] - a[1])) for a, b in pairwise(boxes)]
    upright = sum(dy > dx for dx, dy in steps) > len(steps) / 2
    lines: list[Fractions] = []
    for box in map(_transposed, boxes) if upright else boxes:
        x0, y0, x1, y1 = box
        last = lines[-1] if lines else box
        overlap = min(last[3], y1) - max(last[1], y0)
        high, higher = sorted((last[3] - last[1], y1 - y0))
        gap = max(x0 - last[2], last[0] - x1)
        if lines and overlap > 0.5 * high and gap < 3 * max(higher, 0.01):
            lines[-1] = around((last, box))
        else:
            lines.append(box)
    found: list[Fractions] = []
    for line in map(_transposed, lines) if upright else lines:
        x0, y0, x1, y1 = (round(min(max(value, 0.0), 1.0), 4) for value in line)
        found.append((x0, y0, x1, y1))
    return found


def _transposed(box: Fractions) -> Fractions:
    return box[1], box[0], box[3], box[2]
