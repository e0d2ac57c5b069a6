"""Reads the words and lines of a PDF page with pdfium, in an upright coordinate system.

Coordinates are points from the top left of the page as it is read: x to the right, y downwards. Pages with rotated
text, because they were scanned or printed sideways, are turned upright first.
"""

import ctypes
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median_high
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from knowledge.parsing.decoding import raised
from knowledge.parsing.pdf.garbled import is_garbled

MAX_CHARS = 200_000  # characters read of one page
LINE_GAP = 1.0  # em; a wider gap starts a new segment: another column or table cell
MIN_ACROSS = 120  # characters perpendicular to the page's other text; fewer are a stamp in the margin
RISE = 0.3  # of a character's height above its foot, from which exponents start
SPACE_GAP = 0.18  # em; a wider gap between two words is a space even if pdfium reports none
BOLD_WEIGHT = 600
FAR = 120  # characters between a letter and the accent over it
UNLIKELY = 1.6  # times the font size, a height that no letter has
UNMAPPED = 0.5  # share of characters that pdfium guessed, often correctly, from which the words are checked
HYPHENS = "\x02\ufffe\xad-\u2010"  # pdfium returns U+0002 or U+FFFE for a hyphen at the end of a line

_CJK = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
_CJK_END, _CJK_START = re.compile(_CJK + "$"), re.compile("^" + _CJK)
_BOLD = re.compile(r"bold|black|heavy|semibold|demi|[-_](bd|b)$|cmbx", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|cmtt|code|fixed|terminal", re.IGNORECASE)
# Superscript numbers are powers after numbers, units and single letters; after words they are footnote marks.
_UNREADABLE = re.compile("[\ue000-\uf8ff\ufffd\x00-\x01\x03-\x08\x0e-\x1f]")

Box = tuple[float, float, float, float]  # x0, y0, x1, y1
Mark = tuple[Box, str]  # something shown on a page besides its text, in PDF coordinates: y from the bottom
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
    mono: bool  # in a monospaced font, like code
    spaced: bool  # a space precedes it
    is_raised: bool = False  # smaller than the word before it and above its foot, like a power

    @property
    def box(self) -> Box:
        """The bounding box, in points."""
        return self.x0, self.y0, self.x1, self.y1


@dataclass(slots=True)
class Line:
    """Words on one baseline without a wide gap between them."""

    words: list[Word] = field(default_factory=list)
    x0: float = 0
    y0: float = 0
    x1: float = 0
    y1: float = 0
    _text: str = ""
    _size: float = 0

    def add(self, word: Word) -> None:
        """Append a word and extend the box."""
        if self.words:
            self.x0, self.y0 = min(self.x0, word.x0), min(self.y0, word.y0)
            self.x1, self.y1 = max(self.x1, word.x1), max(self.y1, word.y1)
        else:
            self.x0, self.y0, self.x1, self.y1 = word.x0, word.y0, word.x1, word.y1
        self.words.append(word)
        self._text, self._size = "", 0

    @property
    def text(self) -> str:
        """The line's text with single spaces; none between two Chinese characters."""
        if not self._text:
            parts: list[str] = []
            before: Word | None = None
            for word in self.words:
                if before is not None:
                    gap = word.x0 - before.x1
                    if is_cjk_join(before.text, word.text):
                        spaced = gap > (0.2 if word.spaced else 0.8) * word.size
                    else:
                        spaced = word.spaced or gap > SPACE_GAP * word.size
                    if spaced:
                        parts.append(" ")
                is_raised = before is not None and word.is_raised
                parts.append(raised(word.text, parts) if is_raised else word.text)
                before = word
            self._text = "".join(parts)
        return self._text

    @property
    def size(self) -> float:
        """The font size of most characters, in points."""
        if not self._size:
            sizes: Counter[float] = Counter()
            for word in self.words:
                sizes[word.size] += len(word.text)
            self._size = max(sizes, key=lambda size: sizes[size])
        return self._size

    @property
    def bold(self) -> bool:
        """Whether every word with letters is bold."""
        lettered = [word for word in self.words if any(char.isalnum() for char in word.text)]
        return bool(lettered) and all(word.bold for word in lettered)

    @property
    def mono(self) -> bool:
        """Whether every word is in a monospaced font."""
        return all(word.mono for word in self.words)

    @property
    def middle(self) -> float:
        """The y of the line's middle."""
        return (self.y0 + self.y1) / 2


def line_of(word: Word) -> Line:
    """Return a line with one word."""
    line = Line()
    line.add(word)
    return line


def around(boxes: Iterable[Box]) -> Box:
    """Return the bounding box of some boxes."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def is_cjk_join(left: str, right: str) -> bool:
    """Return whether two texts join between Chinese, Japanese or Korean characters, without a space."""
    return bool(_CJK_END.search(left) and _CJK_START.search(right))


@dataclass(slots=True)
class PageText:
    """The text of a page: its size in points as it is read, its lines, and the unreadable share."""

    width: float
    height: float
    lines: list[Line]
    turn: Turn
    quarters: int = 0  # quarter turns, counter-clockwise, of its text in PDF coordinates
    unreadable: float = 0.0  # share of unmapped characters
    across: list[int] = field(default_factory=list)  # quarter turns of perpendicular text, such as a wide table


def read_text(page: pdfium.PdfPage, quarters: int | None = None, marks: Iterable[Mark] = ()) -> PageText:
    """Read the lines of a page in the order of its content stream, followed by `marks`.

    `quarters` selects text by its quarter turns, counter-clockwise; by default it is that of most of the text.
    """
    with closing(page.get_textpage()) as textpage:
        width, height, turn, angle, across = _orientation(page, textpage.raw, quarters)
        count = min(raw.FPDFText_CountChars(textpage.raw), MAX_CHARS)
        codes = [raw.FPDFText_GetUnicode(textpage.raw, index) for index in range(count)]
        for index, (high, low) in enumerate(pairwise(codes)):
            if 0xD800 <= high < 0xDC00 <= low < 0xE000:  # a UTF-16 surrogate pair
                codes[index : index + 2] = 0x10000 + ((high - 0xD800) << 10) + low - 0xDC00, _TAKEN
        sample = range(0, count, max(1, count // 200))
        unmapped = sum(raw.FPDFText_HasUnicodeMapError(textpage.raw, index) == 1 for index in sample)
        reader = _WordReader(textpage.raw, turn, angle, codes, (width, height))
        reader.combine_accents()
        start, spaced = 0, False
        for index, code in enumerate([*codes, 0x20]):
            if code in _SPACES or code == _TAKEN:
                if index > start:
                    reader.read(start, index, spaced)
                    spaced = False
                start, spaced = index + 1, spaced or code != _TAKEN
    words = _without_doubles(word for word in reader.words if word.text.strip())
    text = "".join(word.text for word in words)
    unreadable = len(_UNREADABLE.findall(text)) / len(text) if text else 0.0
    if is_garbled(" ".join(word.text for word in words), guessed=unmapped > UNMAPPED * len(sample)):
        unreadable = 1.0
    lines: list[Line] = []
    for word in words:
        *_, last = beside = lines[-1].words[-2:] if lines else [word]
        em, gap = max(last.size, word.size), word.x0 - last.x1
        # After a power, compare with the word before it; a word without a space before it continues the line.
        least = 0.5 if word.spaced or gap > SPACE_GAP * em else 0.01
        level = any(
            min(each.y1, word.y1) - max(each.y0, word.y0) >= least * min(each.y1 - each.y0, word.y1 - word.y0)
            for each in beside
        )
        if not lines or not level or not -0.6 * em < gap < LINE_GAP * em:
            lines.append(Line())
        elif abs(gap) < SPACE_GAP * em:
            word.is_raised = _is_smaller(word.size, last.size) and _rises(word.box, last.box)
            # pdfium reports a new line at the start and at the end of a power.
            word.spaced = word.spaced and not word.is_raised and not last.is_raised
        lines[-1].add(word)
    for box, sign in marks:
        x0, y0, x1, y1 = turn(*box)
        lines.append(line_of(Word(x0, y0, x1, y1, sign, y1 - y0, bold=False, mono=False, spaced=True)))
    return PageText(width, height, lines, turn, angle, unreadable, across)


def _orientation(
    page: pdfium.PdfPage, textpage: Any, quarters: int | None
) -> tuple[float, float, Turn, int, list[int]]:
    """Return width, height, the function that turns boxes upright, and the quarter turns of text and across."""
    left, bottom, right, top = page.get_cropbox()
    count = min(raw.FPDFText_CountChars(textpage), MAX_CHARS)
    step = max(1, count // 200)
    angles = Counter(_quarter(textpage, i) for i in range(0, count, step))
    angles.pop(None, None)
    if quarters is None:
        found = max(angles, key=lambda key: angles[key]) if angles else (4 - page.get_rotation() // 90) % 4
        quarters = found or 0
    across = [q for q, n in angles.items() if q is not None and (q - quarters) % 2 and n * step >= MIN_ACROSS]
    turns: dict[int, Turn] = {
        0: lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0),
        1: lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left),
        2: lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom),
        3: lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0),
    }
    width, height = right - left, top - bottom
    return (*((width, height) if quarters % 2 == 0 else (height, width)), turns[quarters], quarters, across)


def _quarter(textpage: Any, index: int) -> int | None:
    """Return the quarter turns, counter-clockwise, of a character's baseline; None if it is slanted.

    Only the baseline counts: sheared letters, which programs use if a font has no italics, are upright.
    """
    matrix = raw.FS_MATRIX()
    if not raw.FPDFText_GetMatrix(textpage, index, matrix):
        return 0
    if abs(matrix.b) < 0.06 * abs(matrix.a):
        return 0 if matrix.a > 0 else 2
    if abs(matrix.a) < 0.06 * abs(matrix.b):
        return 1 if matrix.b > 0 else 3
    return None


@dataclass(frozen=True, slots=True)
class _Face:
    """A font: whether it has a name (bitmap fonts have none), is bold or mono, and its weight in the file."""

    named: bool = True
    bold: bool = False
    weight: int = 0
    mono: bool = False


class _Fonts:
    """The size and face of a character's text object, cached per object."""

    def __init__(self, textpage: Any, codes: list[int], turn: Turn) -> None:
        self._textpage, self._codes, self._turn = textpage, codes, turn
        self._known: dict[int, tuple[float, _Face]] = {}
        self._faces: dict[int, _Face] = {}
        self._measured: dict[int, float] | None = None

    def of(self, index: int, height: float) -> tuple[float, _Face]:
        """Return the size in points and the face; `height` (points) is used for an unknown size."""
        item = raw.FPDFText_GetTextObject(self._textpage, index)
        address = _address(item)
        if not address:
            return round(height, 1), _Face()
        if address not in self._known:
            size, matrix = ctypes.c_float(), raw.FS_MATRIX()
            if not raw.FPDFTextObj_GetFontSize(item, size) or not raw.FPDFPageObj_GetMatrix(item, matrix):
                self._known[address] = round(height, 1), _Face()
            else:
                scale = (matrix.c**2 + matrix.d**2) ** 0.5
                points = round(size.value * scale, 1) or round(height, 1)
                font = raw.FPDFTextObj_GetFont(item)
                face = self._face(font)
                if not face.named and height > UNLIKELY * points:
                    points = self._sizes().get(_address(font), height)
                if raw.FPDFTextObj_GetTextRenderMode(item) == raw.FPDF_TEXTRENDERMODE_FILL_STROKE:
                    face = replace(face, bold=True)
                self._known[address] = abs(points), face
        return self._known[address]

    def _face(self, font: Any) -> _Face:
        address = _address(font)
        if not address:
            return _Face()
        if address not in self._faces:
            buffer = ctypes.create_string_buffer(256)
            raw.FPDFFont_GetBaseFontName(font, buffer, 256)
            name = buffer.value.decode("latin-1", "replace")
            weight = raw.FPDFFont_GetWeight(font)
            self._faces[address] = _Face(bool(name), bool(_BOLD.search(name)), weight, bool(_MONO.search(name)))
        return self._faces[address]

    def _sizes(self) -> dict[int, float]:
        """Return the size of each font in points, measured by its letters, since bitmap fonts don't declare it."""
        if self._measured is None:
            heights: dict[int, list[float]] = {}
            left, right, bottom, top = edges = [ctypes.c_double() for _edge in range(4)]
            for index, code in enumerate(self._codes):
                share = _HEIGHTS.get(code)
                if share and raw.FPDFText_GetCharBox(self._textpage, index, *map(ctypes.byref, edges)):
                    _x0, y0, _x1, y1 = self._turn(left.value, bottom.value, right.value, top.value)
                    font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(self._textpage, index))
                    heights.setdefault(_address(font), []).append((y1 - y0) / share)
            self._measured = {font: round(median_high(found), 1) for font, found in heights.items()}
        return self._measured


def _address(pointer: Any) -> int:
    return (ctypes.cast(pointer, ctypes.c_void_p).value or 0) if pointer else 0


class _WordReader:
    """Turns runs of characters without spaces into words."""

    def __init__(self, textpage: Any, turn: Turn, quarters: int, codes: list[int], size: tuple[float, float]) -> None:
        self._read: list[tuple[Word, _Face]] = []
        self._width, self._height = size
        self._textpage, self._turn, self._quarters, self._codes = textpage, turn, quarters, codes
        self._fonts = _Fonts(textpage, codes, turn)
        self._rect = raw.FS_RECTF()
        self._pointer = ctypes.byref(self._rect)

    def combine_accents(self) -> None:
        """Combine letters with accents that are printed over them, as with TeX's older fonts.

        Some programs print a line's letters first and then its accents; pdfium inserts a space before moving back.
        """
        codes = self._codes
        for index, code in enumerate(codes):
            mark = _ACCENTS.get(code)
            accent = self._box(index) if mark else None
            if mark is None or accent is None:
                continue
            near = range(max(0, index - FAR), min(len(codes), index + FAR))
            for letter in sorted(near, key=lambda at: abs(at - index))[1:]:
                char = chr(_DOTLESS.get(codes[letter], codes[letter])) if codes[letter] > 0 else ""
                box = self._box(letter) if char.isalpha() else None
                if box is None or not _is_over(accent, box, beside=abs(letter - index) == 1):
                    continue
                whole = unicodedata.normalize("NFC", char + chr(mark))
                first = min(index, letter)
                if abs(letter - index) == 1:
                    codes[first : first + 2] = ord(char), mark
                elif len(whole) == 1:
                    codes[letter] = ord(whole)
                    codes[index] = _TAKEN
                    for at in (index - 1, index + 1):
                        if raw.FPDFText_IsGenerated(self._textpage, at) == 1:
                            codes[at] = _TAKEN
                break

    def read(self, start: int, end: int, spaced: bool) -> None:
        """Add the words of the characters from `start` up to `end`, without slanted and rotated ones."""
        places = [self._box(index) for index in range(start, end)]
        gaps = [after[0] - before[2] for before, after in pairwise(filter(None, places))]
        first, last = places[0], places[-1]
        if first is not None and last is not None:
            height = first[3] - first[1]
            widest = height * ((1.05 if self._codes[(start + end) // 2] > 0x2E80 else 0.7) * (end - start) + 0.5)
            # If both ends are on one baseline, no further apart than the characters can be wide, this is one word.
            level = abs(last[3] - first[3]) < 0.2 * height and 0 <= last[2] - first[0] <= widest
            feet = [place[3] for place in places if place is not None]
            if level and max(feet) - min(feet) > 0.2 * height:
                level = not any(self._is_shifted(index, start) for index in range(start, end))
            # At a wide gap the program moved on instead of writing a space.
            if level and not any(gap > SPACE_GAP * height for gap in gaps):
                if self._has_direction(start):
                    text = _text(self._codes[start:end])
                    box = (first[0], min(first[1], last[1]), last[2], max(first[3], last[3]))
                    self._add(start, box, text, spaced)
                return
        # Otherwise read character by character, and split at jumps. Letter-spaced text has even gaps.
        usual = median_high(gaps) if gaps else 0.0
        word: Word | None = None
        begun = start
        before = (0.0, 0.0)  # the previous character's left and right; a ligature's letters share one box
        for index, place in enumerate(places, start):
            if place is None:
                continue
            x0, y0, x1, y1 = place
            ligature = before[0] - 0.3 <= x0 and x1 <= before[1] + 0.3
            before = x0, x1
            text = _text(self._codes[index : index + 1])
            if (
                word is not None
                and (ligature or -0.6 * word.size < x0 - word.x1 < max(SPACE_GAP * word.size, 2 * usual))
                and y0 < word.y1
                and y1 > word.y0
                and not self._is_shifted(index, begun)
            ):
                word.text = unicodedata.normalize("NFC", word.text + text)
                word.x1 = max(word.x1, x1)
                word.y0, word.y1 = min(word.y0, y0), max(word.y1, y1)
            elif self._has_direction(index):
                word = self._add(index, place, text, spaced)
                begun, spaced = index, False
            else:
                word = None

    def _is_shifted(self, index: int, other: int) -> bool:
        """Return whether one of two characters is raised: smaller than the other in its box and its font."""
        place, beside = self._box(index), self._box(other)
        if place is None or beside is None or not (_rises(place, beside) or _rises(beside, place)):
            return False
        height = max(place[3] - place[1], beside[3] - beside[1])
        sizes = [self._fonts.of(at, height)[0] for at in (index, other)]
        return _is_smaller(min(sizes), max(sizes))

    def _box(self, index: int) -> Box | None:
        """Return a character's box, or None if it has none or is off the page."""
        if not raw.FPDFText_GetLooseCharBox(self._textpage, index, self._pointer):
            return None
        rect = self._rect
        x0, y0, x1, y1 = box = self._turn(rect.left, rect.bottom, rect.right, rect.top)
        # Characters off the page are invisible.
        return box if x0 < self._width and y0 < self._height and x1 > 0 and y1 > 0 else None

    @property
    def words(self) -> list[Word]:
        """The words read so far; they are bold by their font's name, or by a weight above that of most letters.

        pdfium derives the weight from the stem width in the file; some programs guess it, so that all text seems bold.
        """
        letters: Counter[int] = Counter()
        for word, face in self._read:
            letters[face.weight] += len(word.text)
        usual = max(letters, key=lambda weight: letters[weight], default=0)
        for word, face in self._read:
            word.bold = face.bold or face.weight >= max(BOLD_WEIGHT, 1.2 * usual)
        return [word for word, _face in self._read]

    def _add(self, index: int, box: Box, text: str, spaced: bool) -> Word:
        size, face = self._fonts.of(index, box[3] - box[1])
        word = Word(*box, text, size, face.bold, face.mono, spaced)
        self._read.append((word, face))
        return word

    def _has_direction(self, index: int) -> bool:
        return _quarter(self._textpage, index) == self._quarters


# The height of letters in ems, as in most typefaces.
_HEIGHTS = dict.fromkeys(map(ord, "acemnorsuvwxz"), 0.44) | dict.fromkeys(map(ord, "bdhklABDEFGHIKLMNPRTUVXYZ"), 0.69)
# Spacing accents and their combining marks; dotless letters and the letters with a dot.
_ACCENTS = str.maketrans(
    "`´ˆ˜¯˘˙¨˚˝ˇ¸˛", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328"
)
_TAKEN = -1  # replaces the code of an accent that was combined with a letter
_DOTLESS = {0x131: ord("i"), 0x237: ord("j")}
_SPACES = frozenset({0x20, 0x0D, 0x0A, 0x09, 0xA0, 0x3000, 0x2002, 0x2003, 0x2009, 0x200B, 0xFEFF, 0})


def _is_over(accent: Box, letter: Box, beside: bool) -> bool:
    """Return whether an accent is over a letter; one that isn't adjacent in the text must be on the same line."""
    across = min(accent[2], letter[2]) - max(accent[0], letter[0])
    down = min(accent[3], letter[3]) - max(accent[1], letter[1])
    return across > 0.8 * min(accent[2] - accent[0], letter[2] - letter[0]) and (
        beside or down > 0.5 * min(accent[3] - accent[1], letter[3] - letter[1])
    )


def _rises(box: Box, base: Box) -> bool:
    """Return whether a box is smaller than one on the baseline, and above its foot."""
    height = base[3] - base[1]
    return box[3] - box[1] < 0.9 * height and RISE * height < base[3] - box[3] < height


def _is_smaller(size: float, usual: float) -> bool:
    """Return whether a font size is that of an exponent."""
    return size < 0.9 * usual


def _text(codes: list[int]) -> str:
    """Return the text of UTF-16 codes, with ligatures spelt out and radicals replaced by the usual characters."""
    text = "".join(map(chr, codes))
    if text.isascii():
        return text
    if any(0xD800 <= code <= 0xDFFF for code in codes):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = _SPECIAL.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    return unicodedata.normalize("NFC", text)


_SPECIAL = re.compile("[\ufb00-\ufb06\u2e80-\u2fdf]")


def _without_doubles(words: Iterable[Word]) -> list[Word]:
    """Drop words printed twice at nearly the same position, which some programs do for bold text or shadows."""
    seen: dict[tuple[str, int, int], Word] = {}
    kept: list[Word] = []
    for word in words:
        step = max(word.size * 0.5, 1)
        column, row = round(word.x0 / step), round(word.y0 / step)
        around = ((column + i, row + j) for i in (0, -1, 1) for j in (0, -1, 1))
        twin = next((seen[word.text, c, r] for c, r in around if (word.text, c, r) in seen), None)
        if twin is not None and abs(twin.x0 - word.x0) < step / 2 > abs(twin.y0 - word.y0):
            twin.bold = True
            continue
        seen[word.text, column, row] = word
        kept.append(word)
    return kept
