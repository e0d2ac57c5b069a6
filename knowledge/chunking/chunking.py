"""Turns elements into chunks. Pure: no Django, no files, no models.

A chunk lies within one section, and never crosses a heading of its own level or above. A section that fits into one
chunk includes the sections below it (see `sections`), and headings with nothing under them precede the text that
follows. Text is cut between sentences, preferably between paragraphs, code between lines, tables between rows. The
contents of a document's chunks are disjoint and in order; joined by blank lines they read as the document without the
headings in `heading_path`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from knowledge.chunking.sections import MARK, SubHeading, fold, heads_section
from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Picture, Table
from ragsite.language.sentences import cut_long, split_sentences, windows

Measure = Callable[[str], int]

_CAPTION = re.compile(
    r"(?:Figure|Fig\.?|Image|Photo|Chart|Diagram|图片?|圖)\s*[\dA-Z一二三四五六七八九十][\w.\-–]*", re.I
)
_TEXT = re.compile(f"^(?!{MARK}).", re.M)  # a line that isn't a heading
_LONGEST_CAPTION = 300  # characters
_LIST_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)、]|[(（]?[a-z\d]{1,2}[)）])\s")
# How good a boundary after a unit is, as the share of the target length that it outweighs. Chosen by hand.
BOUNDARIES = {
    "sentence": 0.0,
    "line of code": -0.2,
    "blank line of code": 0.1,
    "heading": -0.6,  # it belongs to the text after it
    "introduction": -0.4,  # as does a line that ends with a colon
    "list item": 0.15,  # followed by another
    "paragraph": 0.3,
}
_CHARACTERS_PER_TOKEN = 12  # at most: a word that the tokenizer doesn't know counts as one, however long it is
# Windows whose token counts are cached: a paragraph is counted, and then its sentences and their parts.
_CACHED = 1024


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it is stored.

    `content` is plain text with Markdown's lists ("- "), code fences and, for headings within it, "#### "; of a table,
    one line per row with cells separated by " | ". `lead` repeats whole sentences before it in the same section.
    `heading_path` goes from the outermost heading inwards. `char_start` and `char_end` are offsets into the document's
    contents joined by a blank line. `columns` and `rows` are a table's cells, None otherwise; `picture` is set if
    `kind` is "image".
    """

    kind: Literal["text", "table", "image"]
    content: str
    lead: str = ""
    heading_path: list[str] = field(default_factory=list)
    page_from: int | None = None
    page_to: int | None = None
    char_start: int = 0
    char_end: int = 0
    columns: list[str] | None = None
    rows: list[list[str]] | None = None
    picture: Picture | None = None
    token_count: int = 0


def chunk(
    elements: Iterable[Element], *, size: int, overlap: int, count_tokens: Callable[[str], int]
) -> Iterator[ChunkDraft]:
    """Yield the chunks of a document's elements, in order, keeping no more than about two chunks in memory.

    `size` is the target in tokens of `count_tokens`: a chunk's content is at most a tenth longer, unless it is a single
    table row or a single line of code, or includes headings at the document's end. `overlap` limits the lead, in
    tokens.
    """

    @lru_cache(_CACHED)
    def measure_window(text: str) -> int:
        return count_tokens(text)

    def measure(text: str) -> int:
        return max(sum(map(measure_window, windows(text))), len(text) // _CHARACTERS_PER_TOKEN)

    offset = 0
    for draft in _with_last_headings(_Chunker(size, overlap, measure).run(fold(elements, limit=size, measure=measure))):
        end = offset + len(draft.content)
        yield replace(draft, char_start=offset, char_end=end)
        offset = end + 2


def _with_last_headings(drafts: Iterator[ChunkDraft]) -> Iterator[ChunkDraft]:
    """Yield the drafts, adding headings at the very end, with nothing under them, to the text before them."""
    before: ChunkDraft | None = None
    for draft in drafts:
        if before is not None and before.kind == draft.kind == "text" and not _TEXT.search(draft.content):
            content, tokens = f"{before.content}\n\n{draft.content}", before.token_count + draft.token_count
            draft = replace(before, content=content, page_to=draft.page_to, token_count=tokens)
        elif before is not None:
            yield before
        before = draft
    if before is not None:
        yield before


@dataclass(slots=True)
class _Unit:
    """The smallest unit of running text: a sentence or a line of code, with the white space after it."""

    text: str
    tokens: int
    block: int  # number of its element
    page: int | None
    code: str | None = None  # the language, "" where unknown; None for prose
    list_item: bool = False
    last: bool = False  # of its block

    @property
    def says_something(self) -> bool:
        """Whether it contains words and is not a heading; some books number each paragraph on a line of its own."""
        return not self.text.startswith(MARK) and any(map(str.isalpha, self.text))


class _Chunker:
    """Walks the elements, keeping track of the heading path and of the running text not yet emitted."""

    def __init__(self, size: int, overlap: int, measure: Measure) -> None:
        self.size, self.overlap, self.measure = size, overlap, measure
        self.path: list[tuple[int, str]] = []
        self.bare: Heading | None = None  # a heading that no words have followed yet
        self.bare_at = 0  # its index among the units
        self.page: int | None = None
        self.units: list[_Unit] = []
        self.total = 0  # tokens of the units
        self.said: list[_Unit] = []  # the units of the previous chunk in this section, for the lead
        self.floats: list[tuple[_Unit | None, Picture]] = []  # pictures within the text not yet emitted
        self.blocks = 0

    def run(self, elements: Iterable[Element]) -> Iterator[ChunkDraft]:
        for element in elements:
            self.page = element.page if element.page is not None else self.page
            if isinstance(element, Heading) and heads_section(element):
                if self.bare is not None and self.bare.level < element.level:
                    self.bare = None  # kept in the path of what follows
                yield from self._close_section()
                while self.path and self.path[-1][0] >= element.level:
                    self.path.pop()
                self.path.append((element.level, _line(element.text)))
                self.bare, self.bare_at = replace(element, page=self.page), len(self.units)
            elif isinstance(element, Table):
                yield from self._table(element)
            elif isinstance(element, Picture):
                self.bare = None
                self.floats.append((self.units[-1] if self.units else None, element))
            elif isinstance(element, Code):
                self.blocks += 1
                units = []
                for line in element.text.strip("\n").rstrip().splitlines(keepends=True):
                    tokens = self.measure(line)
                    huge = tokens > 4 * self.size
                    for piece in cut_long(line, self.size, self.measure) if huge else (line,):
                        cost = self.measure(piece) if huge else tokens
                        units.append(_Unit(piece, cost, self.blocks, self.page, element.language))
                yield from self._text(units)
            elif isinstance(element, SubHeading):
                self.blocks += 1
                tokens = self.measure(element.text)
                yield from self._text([_Unit(MARK + element.text, tokens, self.blocks, self.page)])
            elif isinstance(element, Paragraph | Heading) and not self._takes_as_caption(element.text):
                self.blocks += 1
                listed = _LIST_ITEM.match(element.text) is not None
                units = []
                for sentence in split_sentences(element.text.strip("\n").rstrip() if listed else element.text.strip()):
                    tokens = self.measure(sentence)
                    for piece in cut_long(sentence, self.size, self.measure) if tokens > self.size else (sentence,):
                        cost = tokens if piece is sentence else self.measure(piece)
                        units.append(_Unit(piece, cost, self.blocks, self.page, None, listed))
                yield from self._text(units)
        yield from self._close_section()
        yield from self._flush()

    def _close_section(self) -> Iterator[ChunkDraft]:
        """Emit the rest of the section; a heading without words under it is added to the next section's text."""
        if self.bare is not None:
            text = _line(self.bare.text)
            self.blocks += 1
            heading = _Unit(MARK + text, self.measure(text), self.blocks, self.bare.page, last=True)
            self.units.insert(self.bare_at, heading)
            self.total += heading.tokens
            self.bare = None
        if self.total > self.size or any(unit.says_something for unit in self.units):
            yield from self._flush()
        self.said = []

    def _takes_as_caption(self, text: str) -> bool:
        """Add text such as "Figure 3: …" right after a picture to the picture, and return whether it was added."""
        if not self.floats or len(text) > _LONGEST_CAPTION or not _CAPTION.match(text.strip()):
            return False
        anchor, picture = self.floats[-1]
        if anchor is not (self.units[-1] if self.units else None):
            return False
        alt = "" if picture.alt.strip() in text else picture.alt.strip() + "\n"
        self.floats[-1] = (anchor, replace(picture, alt=alt + text.strip()))
        return True

    def _text(self, units: list[_Unit]) -> Iterator[ChunkDraft]:
        if not units:
            return
        if any(unit.says_something for unit in units):
            self.bare = None
        units[-1].last = True
        for unit in units:
            self.units.append(unit)
            self.total += unit.tokens
            if self.total > 2 * self.size:
                yield from self._emit(self._best_cut(self.size))

    def _flush(self) -> Iterator[ChunkDraft]:
        """Emit the remaining text in parts of about the same length, so that no tiny part is left."""
        while self.total > self.size * 1.1 and len(self.units) > 1:
            parts = -(-self.total // self.size)
            yield from self._emit(self._best_cut(self.total / parts))
        yield from self._emit(len(self.units))

    def _best_cut(self, target: float) -> int:
        """Return how many units to emit: as many as fit, near the target, ending between paragraphs if possible."""
        best, best_score, taken = 1, float("-inf"), 0
        for number, unit in enumerate(self.units[:-1], 1):
            taken += unit.tokens
            if taken > self.size and number > 1:
                break
            score = _boundary(unit, self.units[number]) - abs(taken - target) / target
            if score >= best_score:
                best, best_score = number, score
        return best

    def _emit(self, number: int) -> Iterator[ChunkDraft]:
        """Emit a chunk of the first units, then the pictures within it."""
        units, self.units = self.units[:number], self.units[number:]
        if units:
            tokens = sum(unit.tokens for unit in units)
            self.total -= tokens
            pages = (units[0].page, units[-1].page)
            yield replace(self._draft("text", _join(units), pages, tokens), lead=self._lead(self.said))
            self.said = units
        waiting = {id(unit) for unit in self.units}
        floats = [item for item in self.floats if id(item[0]) not in waiting]
        self.floats = [item for item in self.floats if id(item[0]) in waiting]
        for anchor, picture in floats:
            before = self.said
            if anchor is not None and any(unit is anchor for unit in before):
                before = before[: next(at for at, unit in enumerate(before, 1) if unit is anchor)]
            shows = picture.alt.strip() or (self.path[-1][1] if self.path else "")
            content = "\n".join(filter(None, (shows, picture.labels)))
            page = anchor.page if anchor else self.page
            if picture.page is not None:
                page = picture.page
            draft = self._draft("image", content, (page, page), self.measure(content))
            yield replace(draft, lead=self._lead(before), picture=picture)

    def _lead(self, units: list[_Unit]) -> str:
        """Return the last whole sentences of some units, up to the overlap."""
        room = self.overlap
        taken: list[_Unit] = []
        for unit in reversed(units):
            room -= unit.tokens
            if room < 0 or unit.code is not None:
                break
            taken.insert(0, unit)
        return _join(taken)

    def _table(self, table: Table) -> Iterator[ChunkDraft]:
        """Emit a table in parts, each with the rows that fit under the header, but at least one."""
        if not table.rows and not any(table.columns):
            return
        self.bare = None
        if self.units and all(unit.text.startswith(MARK) for unit in self.units):
            self.said, self.units, self.total = self.units, [], 0
        yield from self._flush()
        lead = self._lead(self.said)
        self.said = []
        head = "\n".join(filter(None, [table.caption.strip(), _row(table.columns)]))
        head_tokens = self.measure(head) if head else 0
        # A header longer than half a chunk would repeat more than it explains; its cells stay in `columns`.
        repeats = head_tokens * 2 <= self.size
        room = self.size - (head_tokens if repeats else 0)
        groups: list[list[tuple[str, ...]]] = [[]]
        taken = 0
        for row in table.rows:
            tokens = self.measure(_row(row))
            if groups[-1] and taken + tokens > room:
                groups.append([])
                taken = 0
            groups[-1].append(row)
            taken += tokens
        for rows in groups:
            shown = head if repeats or rows[:1] == list(table.rows[:1]) else table.caption.strip()
            content = "\n".join(filter(None, [shown, *map(_row, rows)]))
            draft = self._draft("table", content, (self.page, self.page), self.measure(content))
            yield replace(draft, lead=lead, columns=list(table.columns), rows=[list(row) for row in rows])
            lead = ""

    def _draft(
        self, kind: Literal["text", "table", "image"], content: str, pages: tuple[int | None, int | None], tokens: int
    ) -> ChunkDraft:
        path = [text for _, text in self.path]
        return ChunkDraft(kind, content, "", path, pages[0], pages[1], token_count=tokens)


def _boundary(unit: _Unit, following: _Unit) -> float:
    """Return the value of a boundary between two units, one of `BOUNDARIES`."""
    if not unit.last:
        if unit.code is None:
            return BOUNDARIES["sentence"]
        return BOUNDARIES["blank line of code" if unit.text.isspace() else "line of code"]
    if unit.text.startswith(MARK):
        return BOUNDARIES["heading"]
    if unit.text.rstrip().endswith((":", "：")):
        return BOUNDARIES["introduction"]
    return BOUNDARIES["list item" if unit.list_item and following.list_item else "paragraph"]


def _join(units: list[_Unit]) -> str:
    """Return the units' text: paragraphs separated by blank lines, list items by line breaks, code in fences."""
    parts: list[str] = []
    previous: _Unit | None = None
    start = 0
    for at, unit in enumerate(units):
        if at + 1 < len(units) and units[at + 1].block == unit.block:
            continue
        if previous is not None:
            parts.append("\n" if previous.list_item and unit.list_item else "\n\n")
        text = "".join(item.text for item in units[start : at + 1])
        if unit.code is None:
            block = text.rstrip()
        else:
            fence = "````" if "```" in text else "```"
            block = f"{fence}{unit.code}\n{text.rstrip()}\n{fence}"
        parts.append(block)
        previous, start = unit, at + 1
    return "".join(parts)


def _row(cells: Iterable[str]) -> str:
    return " | ".join(_line(cell) for cell in cells).rstrip(" |")


def _line(text: str) -> str:
    return " ".join(text.split())
