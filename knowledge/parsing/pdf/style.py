"""A PDF's typography: body size, sizes of headings, bookmarks, running heads and feet."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import pypdfium2 as pdfium

from knowledge.parsing.pdf.layout import Block
from knowledge.parsing.pdf.text import Line

LARGER = 1.12  # times the body size, from which text is a heading
BODY_SHARE = 0.3  # of the number of letters in the commonest size, from which another size is running text
MAX_HEADING = 200  # characters
MAX_BOLD_HEADING = 120
MAX_LEVELS = 6
MAX_BOOKMARKS = 20_000
EDGE_ROWS = 4  # rows of text at the top and bottom of a page that may be running heads and feet
EDGE_SHARE = 0.14  # of the page's height
ONLY_CONTENTS = 0.2  # other characters, relative to those of tables of contents, in a document that has nothing else
MIN_CONTENTS = 4  # titles with dot leaders to page numbers that make a page a table of contents

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"^[ivxlc]{1,7}$", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"^[-–—·\s]*(\d{1,5}|[ivxlc]{1,6})[-–—·\s]*$")
_LETTERS = re.compile(r"[^\W\d_]")
_SQUEEZE = re.compile(r"[\W_]+")
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,3})*)\.?\s+\S|^第[一二三四五六七八九十百\d]+[章节條条篇部]")
# What may precede a bookmark's title on the page, squeezed: "Chapter 3", "A1", "iv", "第三章".
_LABEL = re.compile(
    r"(?:chapter|part|section|appendix|annex|附录)?(?:[a-z]?\d{0,8}[a-z]?|[ivxlc]{1,7}|[一二三四五六七八九十百]{1,4})"
    r"|第[\d一二三四五六七八九十百]{1,4}[章节節条條部篇卷]"
)
_LEADER = re.compile(r"(?:[.·…‥․]\s?){5,}\s*(?:\d{1,4}|[ivxlc]{1,7})?$", re.IGNORECASE)
_ENDS_IN_PAGE = re.compile(r"(?:^|(?<![,\d])\s)(?:\d{1,4}|[ivxlc]{1,7})$", re.IGNORECASE)  # one, unlike in an index
_DOTS = re.compile(r"[.·…‥․]{3,}|^[.·…‥․]+$")
_SENTENCE = re.compile(r"[.。!！;；,，、:：]$")


@dataclass(slots=True)
class Styles:
    """The body size in points, heading sizes from the largest, and bookmarks: page → [(squeezed title, level)]."""

    body: float = 10.0
    sizes: list[float] = field(default_factory=list)
    bookmarks: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    deepest: int = 0

    def level(self, block: Block, page: int, announced: bool = False) -> int | None:
        """Return the heading level of a block, counted from 1, or None if it is running text.

        Bold text that is `announced` by the text before it, such as "in one of two ways:", is not a heading.
        """
        text = block.text.strip()
        if not text or len(text) > MAX_HEADING or len(block.rows) > 4:
            return None
        squeezed = squeeze(text)
        for title, level in self.bookmarks.get(page, ()):
            if title and squeezed.endswith(title) and _LABEL.fullmatch(squeezed.removesuffix(title)):
                return level
        if len(_LETTERS.findall(text)) < (2 if any(char > "\u2e80" for char in text) else 3) or any(
            len(row.cells) > 2 for row in block.rows
        ):
            return None
        if block.size > LARGER * self.body:
            if len(text) < 2 or (_SENTENCE.search(text) and len(text) > 60):
                return None
            rank = sum(size > block.size + 0.6 for size in self.sizes) + 1
            return min(rank, MAX_LEVELS)
        if announced or not block.bold or len(text) > MAX_BOLD_HEADING or len(block.rows) > 2 or len(text) < 2:
            return None
        if _SENTENCE.search(text.rstrip()) or block.size < 0.9 * self.body or "  " in text:
            return None
        below = max(len(self.sizes), self.deepest) + 1
        numbered = _NUMBERED.match(text)
        if numbered and numbered.group(1) and not self.deepest:
            below = len(self.sizes) + numbered.group(1).count(".") + (0 if len(self.sizes) > 1 else 1)
        return max(1, min(below, MAX_LEVELS))


def squeeze(text: str) -> str:
    """Return the text's letters and digits in lower case, for comparing titles."""
    return _SQUEEZE.sub("", text).lower()


def survey(pages: Iterable[Sequence[Line]], bookmarks: dict[int, list[tuple[str, int]]]) -> Styles:
    """Find the body size and the sizes of headings in a sample of pages.

    The body size is the largest size of a lot of text: code and notes may be longer, but are smaller.
    """
    letters: Counter[float] = Counter()
    appearances: defaultdict[float, int] = defaultdict(int)
    for lines in pages:
        for line in lines:
            size = round(line.size * 2) / 2
            letters[size] += len(line.text)
            if 2 <= len(line.text) <= MAX_HEADING and _LETTERS.search(line.text):
                appearances[size] += 1
    most = max(letters.values(), default=0)
    body = max((size for size, count in letters.items() if count >= BODY_SHARE * most), default=10.0)
    sizes: list[float] = []
    for size in sorted((size for size in appearances if size > LARGER * body), reverse=True):
        if not sizes or sizes[-1] - size > 0.6:
            sizes.append(size)
    deepest = max((level for marks in bookmarks.values() for _, level in marks), default=0)
    return Styles(body, sizes[: MAX_LEVELS - 1], bookmarks, min(deepest, MAX_LEVELS))


def read_bookmarks(document: pdfium.PdfDocument) -> dict[int, list[tuple[str, int]]]:
    """Return the document's outline by page, counted from 1: squeezed titles with their levels, from 1."""
    found: dict[int, list[tuple[str, int]]] = {}
    for count, bookmark in enumerate(document.get_toc(max_depth=10)):
        if count >= MAX_BOOKMARKS:
            break
        target = bookmark.get_dest()
        if target is not None and (index := target.get_index()) is not None:
            level = min(int(bookmark.level) + 1, MAX_LEVELS)
            found.setdefault(index + 1, []).append((squeeze(bookmark.get_title()), level))
    return found


def contents_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a table of contents: titles with dot leaders to page numbers, and the numbers before them.

    Chapters often have no dots, but their page numbers end at the same x as the others. Tables of contents contain no
    information, but the words of every question.
    """
    entries = [line for line in lines if _LEADER.search(line.text)]
    if len(entries) < MIN_CONTENTS:
        return []

    def level(line: Line) -> list[Line]:
        return [other for other in lines if abs(other.middle - line.middle) < line.size / 2]

    edges = Counter(round(max(line.x1 for line in level(entry))) for entry in entries)
    ends = {edge + step for edge, count in edges.items() if count >= MIN_CONTENTS for step in (-1, 0, 1)}
    entries += [line for line in lines if round(line.x1) in ends and _ENDS_IN_PAGE.search(line.text)]
    return [other for other in lines if any(abs(other.middle - entry.middle) < entry.size / 2 for entry in entries)]


def is_only_contents(pages: Iterable[Sequence[Line]]) -> bool:
    """Return whether there is hardly anything but tables of contents on some pages."""
    listed = others = 0
    for lines in pages:
        contents = set(map(id, contents_lines(lines)))
        for line in lines:
            letters = len(_LETTERS.findall(line.text))
            listed += letters * (id(line) in contents)
            others += letters * (id(line) not in contents)
    return others < ONLY_CONTENTS * listed


def without_leaders(line: Line) -> list[Line]:
    """Return the title and the page number of a line of a table of contents; other lines as they are."""
    parts = [Line()]
    for word in line.words:
        before, *after = _DOTS.split(word.text)
        if before:
            parts[-1].add(replace(word, text=before))
        if after and parts[-1].words:
            parts.append(Line())
        if after and after[-1]:
            parts[-1].add(replace(word, text=after[-1]))
    return [part for part in parts if part.words]


def edge_lines(lines: Sequence[Line], height: float) -> list[Line]:
    """Return the lines at the top and bottom of a page that may be its running head and foot."""
    places = sorted({round(line.middle / 3) for line in lines})
    edges = {*places[:EDGE_ROWS], *places[-EDGE_ROWS:]}
    return [
        line
        for line in lines
        if round(line.middle / 3) in edges and not EDGE_SHARE * height < line.middle < (1 - EDGE_SHARE) * height
    ]


def edge_keys(lines: Sequence[Line], height: float, page: int) -> set[tuple[str, int]]:
    """Return the keys of a page's running heads and feet: text and rounded height, independent of page numbers.

    Numbers are replaced by their difference to `page`, so that "Chapter 3" and "Chapter 4" at the top of two pages stay
    different, while "Page 3" and "Page 4" become equal.
    """
    return {key for line in edge_lines(lines, height) for key in _keys(line, page)}


def _keys(line: Line, page: int, numbered: bool = True) -> list[tuple[str, int]]:
    text = " ".join(line.text.split())
    place = round(line.middle / 6)
    if _ROMAN.match(text):
        text = "roman"
    variants = set() if text.isdecimal() else {text}
    for match in list(_NUMBER.finditer(text))[: 4 if numbered else 0]:
        if len(match.group()) < 6:
            variants.add(f"{text[: match.start()]}#{int(match.group()) - page}{text[match.end() :]}")
    return [(variant, place + step) for variant in variants for step in (0, 1)]


def is_running(
    line: Line, page: int, others: Sequence[set[tuple[str, int]]], body: float, beside: Sequence[Line] = ()
) -> bool:
    """Return whether the line is in the same position on neighbouring pages, whose `edge_keys` are `others`.

    A single number is a page number if nothing is `beside` it; several numbers are not. Lines larger than the `body`
    size in points must be identical: "Chapter 3" on page 3 is not a page number.
    """
    if not others:
        return False
    if _PAGE_NUMBER.match(line.text):
        if not beside:
            return True
        if any(_PAGE_NUMBER.match(other.text) for other in beside):
            return False
    needed = 2 if len(others) >= 4 else 1
    keys = _keys(line, page, numbered=line.size <= LARGER * body)
    return any(sum(key in other for other in others) >= needed for key in keys)
