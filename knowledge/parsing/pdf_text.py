"""The words and lines of a PDF page, by pdfium, in one upright coordinate system.

Coordinates are points from the top left of the page as it is read: x to the right, y downwards. Pages whose text runs
along another edge (scanned or printed sideways) are turned first.
"""

import ctypes
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

MAX_CHARS = 200_000  # characters read of one page
LINE_GAP = 1.0  # em; a wider gap starts a new segment: another column or table cell
SPACE_GAP = 0.22  # em; a wider gap between two words means a space even where pdfium saw none
HYPHENS = "\x02\ufffe\xad-\u2010"  # pdfium gives U+0002 or U+FFFE for a hyphen at the end of a line

_CJK = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
_CJK_END, _CJK_START = re.compile(_CJK + "$"), re.compile("^" + _CJK)
_BOLD = re.compile(r"bold|black|heavy|semibold|demi|[-_](bd|b)$|cmbx", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|cmtt|code|fixed|terminal", re.IGNORECASE)
_UNREADABLE = re.compile("[\ue000-\uf8ff\ufffd\x00-\x01\x03-\x08\x0e-\x1f]")

Box = tuple[float, float, float, float]  # x0, y0, x1, y1
Turn = Callable[[float, float, float, float], Box]


@dataclass(slots=True)
class Word:
    """A run of characters without a space; `size` is the font size in points."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    size: float
    bold: bool
    mono: bool  # of a typewriter font, as program code is
    spaced: bool  # a space goes before it


@dataclass(slots=True)
class Line:
    """Words on one baseline without a wide gap between them."""

    words: list[Word] = field(default_factory=list)
    x0: float = 0
    y0: float = 0
    x1: float = 0
    y1: float = 0

    def add(self, word: Word) -> None:
        """Append a word and grow the box."""
        if self.words:
            self.x0, self.y0 = min(self.x0, word.x0), min(self.y0, word.y0)
            self.x1, self.y1 = max(self.x1, word.x1), max(self.y1, word.y1)
        else:
            self.x0, self.y0, self.x1, self.y1 = word.x0, word.y0, word.x1, word.y1
        self.words.append(word)

    @property
    def text(self) -> str:
        """The line's text with single spaces; none between two Chinese characters."""
        parts: list[str] = []
        before: Word | None = None
        for word in self.words:
            if before is not None and _spaced(before, word):
                parts.append(" ")
            parts.append(word.text)
            before = word
        return "".join(parts)

    @property
    def size(self) -> float:
        """The font size of most characters, in points."""
        sizes: Counter[float] = Counter()
        for word in self.words:
            sizes[word.size] += len(word.text)
        return sizes.most_common(1)[0][0]

    @property
    def bold(self) -> bool:
        """Whether every word with letters is bold."""
        lettered = [word for word in self.words if any(char.isalnum() for char in word.text)]
        return bool(lettered) and all(word.bold for word in lettered)

    @property
    def mono(self) -> bool:
        """Whether every word is of a typewriter font."""
        return all(word.mono for word in self.words)

    @property
    def middle(self) -> float:
        """The y of the line's middle."""
        return (self.y0 + self.y1) / 2


def _spaced(before: Word, word: Word) -> bool:
    gap = word.x0 - before.x1
    if _CJK_END.search(before.text) and _CJK_START.search(word.text):
        return gap > 0.8 * word.size
    return word.spaced or gap > SPACE_GAP * word.size


def is_cjk_join(left: str, right: str) -> bool:
    """Whether two lines meet between Chinese, Japanese or Korean characters, where no space belongs."""
    return bool(_CJK_END.search(left) and _CJK_START.search(right))


@dataclass(slots=True)
class PageText:
    """What is read of a page: its size in points as it is read, its lines, and how much could not be read."""

    width: float
    height: float
    lines: list[Line]
    turn: Turn
    quarters: int = 0  # quarter turns, counter-clockwise, of its text in the PDF's own space
    unreadable: float = 0.0  # share of characters without a known meaning


def read_text(page: pdfium.PdfPage) -> PageText:
    """Read the lines of a page in the order of its content stream."""
    width, height, turn, angle = _orientation(page)
    textpage = page.get_textpage()
    try:
        words = _words(textpage.raw, turn, angle)
    finally:
        textpage.close()
    words = [word for word in _without_doubles(words) if -word.size < word.x0 < width + word.size]
    text = "".join(word.text for word in words)
    unreadable = len(_UNREADABLE.findall(text)) / len(text) if text else 0.0
    return PageText(width, height, _lines(words), turn, angle, unreadable)


def _orientation(page: pdfium.PdfPage) -> tuple[float, float, Turn, int]:
    """Return width, height, the function that turns boxes upright, and the quarter turns of most of the text."""
    left, bottom, right, top = page.get_cropbox()
    textpage = page.get_textpage()
    try:
        count = min(textpage.count_chars(), MAX_CHARS)
        step = max(1, count // 200)
        angles = Counter(_quarter(raw.FPDFText_GetCharAngle(textpage.raw, i)) for i in range(0, count, step))
    finally:
        textpage.close()
    angles.pop(None, None)
    quarters = max(angles, key=lambda key: angles[key]) if angles else (4 - page.get_rotation() // 90) % 4
    if quarters is None:
        quarters = 0
    turns: dict[int, Turn] = {
        0: lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0),
        1: lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left),
        2: lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom),
        3: lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0),
    }
    width, height = right - left, top - bottom
    return (*((width, height) if quarters % 2 == 0 else (height, width)), turns[quarters], quarters)


def _quarter(angle: float) -> int | None:
    """Return the quarter turns, counter-clockwise, of text at `angle` radians clockwise; None when it is slanted."""
    turns = -angle / 1.5707963
    nearest = round(turns)
    return nearest % 4 if abs(turns - nearest) < 0.06 else None


class _Fonts:
    """Size and boldness of the text object that a character belongs to, remembered per object."""

    def __init__(self, textpage: Any) -> None:
        self._textpage = textpage
        self._known: dict[int, tuple[float, bool, bool]] = {}
        self._faces: dict[int, tuple[bool, bool]] = {}

    def of(self, index: int, height: float) -> tuple[float, bool, bool]:
        """Return size in points, boldness, typewriter face; `height` (points) stands in for an unknown size."""
        item = raw.FPDFText_GetTextObject(self._textpage, index)
        address = ctypes.cast(item, ctypes.c_void_p).value if item else None
        if address is None:
            return round(height, 1), False, False
        if address not in self._known:
            self._known[address] = self._read(item, height)
        return self._known[address]

    def _read(self, item: Any, height: float) -> tuple[float, bool, bool]:
        size, matrix = ctypes.c_float(), raw.FS_MATRIX()
        if not raw.FPDFTextObj_GetFontSize(item, size) or not raw.FPDFPageObj_GetMatrix(item, matrix):
            return round(height, 1), False, False
        scale = (matrix.c**2 + matrix.d**2) ** 0.5
        points = round(size.value * scale, 1) or round(height, 1)
        font = raw.FPDFTextObj_GetFont(item)
        stroked = raw.FPDFTextObj_GetTextRenderMode(item) == raw.FPDF_TEXTRENDERMODE_FILL_STROKE
        bold, mono = self._face(font)
        return abs(points), stroked or bold, mono

    def _face(self, font: Any) -> tuple[bool, bool]:
        address = ctypes.cast(font, ctypes.c_void_p).value if font else None
        if address is None:
            return False, False
        if address not in self._faces:
            buffer = ctypes.create_string_buffer(256)
            raw.FPDFFont_GetBaseFontName(font, buffer, 256)
            name = buffer.value.decode("latin-1", "replace")
            bold = bool(_BOLD.search(name)) or raw.FPDFFont_GetWeight(font) >= 600
            self._faces[address] = bold, bool(_MONO.search(name))
        return self._faces[address]


def _words(textpage: Any, turn: Turn, quarters: int) -> list[Word]:
    """Read the words whose direction is that of most of the page; slanted and sideways text is left out."""
    words: list[Word] = []
    fonts = _Fonts(textpage)
    rect = raw.FS_RECTF()
    pointer = ctypes.byref(rect)
    get_code, get_box, get_angle = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox, raw.FPDFText_GetCharAngle
    word: Word | None = None
    spaced = False
    for index in range(min(raw.FPDFText_CountChars(textpage), MAX_CHARS)):
        code = get_code(textpage, index)
        if code in _SPACES:
            word, spaced = None, True
            continue
        if not get_box(textpage, index, pointer):
            continue
        x0, y0, x1, y1 = turn(rect.left, rect.bottom, rect.right, rect.top)
        char = _character(code, word)
        if word is not None and -0.6 * word.size < x0 - word.x1 < 0.3 * word.size and y0 < word.y1 and y1 > word.y0:
            word.text += char
            word.x1 = max(word.x1, x1)
            word.y0, word.y1 = min(word.y0, y0), max(word.y1, y1)
            continue
        if _quarter(get_angle(textpage, index)) != quarters:
            word = None
            continue
        size, bold, mono = fonts.of(index, y1 - y0)
        word = Word(x0, y0, x1, y1, char, size, bold, mono, spaced)
        words.append(word)
        spaced = False
    for item in words:
        item.text = unicodedata.normalize("NFC", item.text)
    return [item for item in words if item.text.strip()]


_SPACES = frozenset({0x20, 0x0D, 0x0A, 0x09, 0xA0, 0x3000, 0x2002, 0x2003, 0x2009, 0x200B, 0xFEFF, 0})
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}


def _character(code: int, word: Word | None) -> str:
    if code in _LIGATURES:
        return _LIGATURES[code]
    if 0x2F00 <= code <= 0x2FDF:  # radicals that some fonts give for the usual characters
        return unicodedata.normalize("NFKC", chr(code))
    if 0xD800 <= code <= 0xDFFF:
        return _surrogate(code, word)
    return chr(code)


def _surrogate(code: int, word: Word | None) -> str:
    """Join the second half of a pair to the first, which ends `word`."""
    last = ord(word.text[-1]) if word is not None else 0
    if word is not None and code >= 0xDC00 and 0xD800 <= last < 0xDC00:
        word.text = word.text[:-1]
        return chr(0x10000 + ((last - 0xD800) << 10) + (code - 0xDC00))
    return chr(code)


def _without_doubles(words: Iterable[Word]) -> list[Word]:
    """Drop words printed twice at nearly one place, as some programs do for boldness or shadow."""
    seen: dict[tuple[str, int, int], Word] = {}
    kept: list[Word] = []
    for word in words:
        step = max(word.size * 0.5, 1)
        column, row = round(word.x0 / step), round(word.y0 / step)
        near = (seen.get((word.text, column + i, row + j)) for i in (-1, 0, 1) for j in (-1, 0, 1))
        twin = next(
            (other for other in near if other and abs(other.x0 - word.x0) < step / 2 > abs(other.y0 - word.y0)), None
        )
        if twin is not None:
            twin.bold = True
            continue
        seen[word.text, column, row] = word
        kept.append(word)
    return kept


def _lines(words: Iterable[Word]) -> list[Line]:
    lines: list[Line] = []
    for word in words:
        if lines and _continues(lines[-1], word):
            lines[-1].add(word)
        else:
            lines.append(Line())
            lines[-1].add(word)
    return lines


def _continues(line: Line, word: Word) -> bool:
    last = line.words[-1]
    overlap = min(last.y1, word.y1) - max(last.y0, word.y0)
    if overlap < 0.5 * min(last.y1 - last.y0, word.y1 - word.y0):
        return False
    em = max(last.size, word.size)
    return -0.6 * em < word.x0 - last.x1 < LINE_GAP * em
