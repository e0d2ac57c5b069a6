"""The sections of documents, which are read and cited, and outlines of them. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby

from knowledge.chunking.sections import MARK, plain
from ragsite.language.sentences import split_sentences
from retrieval.types import Hit

# Bounds of a section's tokens, counted like a passage's: a citation of a longer one would be vague, and a shorter one
# is joined to the section before it.
LONGEST, SHORTEST = 1000, 40
# The most sections that an answer is written from; each is one of its sources.
SOURCES = 100
# The most entries of an outline, to be easy to grasp, and the most characters of a sentence quoted in it.
ENTRIES, LONGEST_QUOTE = 40, 280

# The beginning of a list item.
ITEM = re.compile(
    r"\s*(?:[-*•·]|\d{1,3}[.)、](?!\d)|[(（][a-z\d一二三四五六七八九十]{1,2}[)）]|[a-z][)])\s*(?=\S)", re.IGNORECASE
)
_CODE = re.compile(r"^(```+).*?^\1[^\S\n]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk to read; `path` contains its headings, outermost first, and `tokens` is the count from chunking."""

    chunk_id: int
    document_id: int
    ordinal: int
    content: str
    path: tuple[str, ...] = ()
    page: int | None = None
    tokens: int = 0
    columns: tuple[str, ...] | None = None
    rows: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive passages under a heading; `path` contains the headings that they have in common."""

    passages: tuple[Passage, ...]
    path: tuple[str, ...]

    @property
    def key(self) -> int:
        """The id of its first passage, which represents the section in citations."""
        return self.passages[0].chunk_id

    @property
    def document_id(self) -> int:
        """The document's id."""
        return self.passages[0].document_id

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return sum(passage.tokens for passage in self.passages)

    @property
    def page(self) -> int | None:
        """The page that it starts on, from 1."""
        return self.passages[0].page

    @property
    def content(self) -> str:
        """The text; headings of its passages below its own are on lines of their own."""
        parts: list[str] = []
        before = self.path
        for passage in self.passages:
            if passage.path != before and passage.path[len(self.path) :]:
                parts.append(MARK + " › ".join(passage.path[len(self.path) :]))
            before = passage.path
            parts.append(passage.content)
        return "\n\n".join(parts)

    def hit(self, knowledge_base_id: int, filename: str, title: str) -> Hit:
        """Return the section as a hit to cite: its first passage, with the ids of all."""
        first = self.passages[0]
        ids = tuple(passage.chunk_id for passage in self.passages)
        return Hit(
            chunk_id=first.chunk_id,
            document_id=first.document_id,
            knowledge_base_id=knowledge_base_id,
            content=self.content,
            kind="text",
            filename=filename,
            heading=" › ".join(self.path),
            page=first.page,
            score=1.0,
            sources=[],
            ordinal=first.ordinal,
            merged=ids if len(ids) > 1 else (),
            title=title,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an outline: a heading, which may be empty, and the first sentence of its text."""

    heading: str
    sentence: str
    section: Section


@dataclass(frozen=True, slots=True)
class Unread:
    """The unread part of a document: its headings in order with their pages, and its `total` number of sections."""

    document_id: int
    entries: tuple[tuple[str, int | None], ...]
    total: int


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of reading: sections, parts, tokens read and written by a model (0 if not counted), and seconds."""

    sections: int
    parts: int
    tokens: int
    seconds: float


@dataclass(slots=True)
class Reading:
    """The result of reading whole documents, from which the answer is written.

    With a model, `given` contains the text to show it instead of each section, by the section's key, and `form` says
    what that is: `sections`, `notes` or `changes`. Without one, `result` is what to quote; if there is a model that
    failed to read, `reason` is the slug of `NoReply` that says why. `unread` contains the parts that were too long to
    read, and `failed` the sections that the model gave no notes on. `cost` is the cost of taking notes, and `said`
    contains the remarks of the site itself in the answer.
    """

    kind: str
    titles: dict[int, str]  # by document id
    given: dict[int, str] = field(default_factory=dict)
    form: str = ""
    result: object = None
    reason: str = ""
    unread: list[Unread] = field(default_factory=list)
    failed: list[Section] = field(default_factory=list)
    cost: Cost | None = None
    said: list[str] = field(default_factory=list)


def sections_of(passages: Iterable[Passage], longest: int = LONGEST, shortest: int = SHORTEST) -> list[Section]:
    """Return the sections of documents from their passages in order; `longest` and `shortest` are in tokens.

    A section shorter than `shortest` is joined to the one before it, if that is its parent or under the same heading.
    """
    found: list[Section] = []
    for (_document, path), run in groupby(passages, lambda passage: (passage.document_id, passage.path)):
        taken: list[Passage] = []
        for passage in run:
            if taken and sum(each.tokens for each in taken) + passage.tokens > longest:
                found.append(Section(tuple(taken), path))
                taken = []
            taken.append(passage)
        found.append(Section(tuple(taken), path))
    whole: list[Section] = []
    for section in found:
        before = whole[-1] if whole else None
        if before is not None and before.document_id == section.document_id:
            shared = _shared(before.path, section.path)
            parent = max(len(section.path), len(before.path)) - 1
            close = len(shared) >= min(parent, len(before.path)) and (shared or not (before.path and section.path))
            if close and section.tokens < shortest and before.tokens + section.tokens <= longest:
                whole[-1] = Section(before.passages + section.passages, shared)
                continue
        whole.append(section)
    return whole


def merge_neighbours(units: Sequence[tuple[Section, str]], most: int) -> list[tuple[Section, str]]:
    """Return sections with their texts, neighbours within a document joined so that there are about `most`."""
    size = -(-len(units) // max(1, most))
    made: list[tuple[Section, str]] = []
    for _document, run in groupby(units, lambda unit: unit[0].document_id):
        own = list(run)
        for start in range(0, len(own), size):
            taken = own[start : start + size]
            path = reduce(_shared, (section.path for section, _text in taken))
            passages = tuple(passage for section, _text in taken for passage in section.passages)
            made.append((Section(passages, path), "\n".join(text for _section, text in taken)))
    return made


def outline(sections: Sequence[Section], most: int = ENTRIES) -> list[Entry]:
    """Return a document's outline: its headings down to the deepest level with at most `most` of them.

    If even the highest level has more, or there are no headings, runs of neighbouring sections form an entry each.
    """
    entries, depth = [list(sections)], 0
    while len(entries) < most and depth < max((len(section.path) for section in sections), default=0):
        deeper = [list(run) for _path, run in groupby(sections, lambda section: section.path[: depth + 1])]  # noqa: B023
        if len(deeper) > most and len(entries) > 1:
            break
        entries, depth = deeper, depth + 1
    if len(entries) == 1:  # there are no headings
        entries = [[section] for section in sections]
    size = max(1, -(-len(entries) // most))
    made = []
    for start in range(0, len(entries), size):
        run = [section for entry in entries[start : start + size] for section in entry]
        leading = next((section for section in run if leading_sentence([section])), run[0])
        first, last = (section.path[:depth][-1] if section.path[:depth] else "" for section in (run[0], run[-1]))
        heading = f"{first} … {last}" if first and last and first != last else first
        made.append(Entry(heading, leading_sentence(run), leading))
    return made


def headings_of(sections: Sequence[Section], most: int) -> tuple[tuple[str, int | None], ...]:
    """Return the headings of some sections with their pages, at most about `most` of them."""
    return tuple((entry.heading, entry.section.page) for entry in outline(sections, most))


def leading_sentence(sections: Iterable[Section]) -> str:
    """Return the first sentence of some sections that neither introduces a list nor is part of one, else the first.

    A long sentence is cut. If there are only tables, it is the first line.
    """
    first = ""
    for sentence in _sentences(sections):
        first = first or sentence
        if not sentence.endswith((":", "：")) and not ITEM.match(sentence):
            return sentence
    return first


def lines_of(passage: Passage) -> Iterator[str]:
    """Yield the sentences of a passage; a line of a list or table counts as one."""
    for sentence in split_sentences(plain(passage.content)):
        if text := " ".join(sentence.split()):
            yield text


def parts(
    units: Iterable[Sequence[tuple[Section, str]]], room: int, measure: Callable[[str], int]
) -> list[list[tuple[Section, str]]]:
    """Return groups of sections with their texts in parts of at most `room` tokens; groups are split only if necessary.

    `measure` returns the number of tokens of a text. A text that is longer than `room` forms a part of its own.
    """
    made: list[list[tuple[Section, str]]] = [[]]
    taken = 0
    for group in units:
        sizes = [measure(text) for _section, text in group]
        whole = sum(sizes) <= room
        if made[-1] and whole and taken + sum(sizes) > room:
            made.append([])
            taken = 0
        for unit, size in zip(group, sizes, strict=True):
            if made[-1] and taken + size > room:
                made.append([])
                taken = 0
            made[-1].append(unit)
            taken += size
    return [part for part in made if part]


def _sentences(sections: Iterable[Section]) -> Iterator[str]:
    tables: list[str] = []
    for section in sections:
        for passage in section.passages:
            if passage.rows is not None:
                tables.append(next(lines_of(passage), ""))
                continue
            for sentence in split_sentences(_CODE.sub("", passage.content)):
                text = " ".join(sentence.split())
                if not text.startswith(MARK.strip()) and any(map(str.isalpha, text)) and text not in section.path:
                    yield text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    yield from filter(None, tables)


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    count = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:count]
