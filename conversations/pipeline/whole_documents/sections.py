"""Documents as their sections, which are read and cited, and outlines made of them. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby

from knowledge.chunking.sections import MARK, plain
from ragsite.language.sentences import split_sentences
from retrieval.types import Hit

# Tokens of a section, as passages are counted: of a longer one a citation would say little, and a shorter one is joined
# to its neighbour under the same heading above.
LONGEST, SHORTEST = 1000, 40
# Sections that an answer is written from at most: each is one of its sources.
SOURCES = 100
# Entries of an outline that can be taken in at a glance; and characters of a sentence that is quoted there.
ENTRIES, LONGEST_QUOTE = 40, 280

# What begins a line of a list.
ITEM = re.compile(
    r"\s*(?:[-*•·]|\d{1,3}[.)、](?!\d)|[(（][a-z\d一二三四五六七八九十]{1,2}[)）]|[a-z][)])\s*(?=\S)", re.IGNORECASE
)
_CODE = re.compile(r"^(```+).*?^\1[^\S\n]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as it is read; `path` are its headings, outermost first, `tokens` as its chunking counted them."""

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
    """Passages that follow one another under a heading; `path` is what they have in common of their headings."""

    passages: tuple[Passage, ...]
    path: tuple[str, ...]

    @property
    def key(self) -> int:
        """The id of its first passage, which stands for the section where it is cited."""
        return self.passages[0].chunk_id

    @property
    def document_id(self) -> int:
        """Its document."""
        return self.passages[0].document_id

    @property
    def tokens(self) -> int:
        """Its length."""
        return sum(passage.tokens for passage in self.passages)

    @property
    def page(self) -> int | None:
        """The page that it begins on, from 1."""
        return self.passages[0].page

    @property
    def content(self) -> str:
        """Its text, the headings that its passages have beside its own on lines of their own."""
        parts: list[str] = []
        before = self.path
        for passage in self.passages:
            if passage.path != before and passage.path[len(self.path) :]:
                parts.append(MARK + " › ".join(passage.path[len(self.path) :]))
            before = passage.path
            parts.append(passage.content)
        return "\n\n".join(parts)

    def hit(self, knowledge_base_id: int, filename: str, title: str) -> Hit:
        """Return it as a citation has it: its first passage, with the ids of all."""
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
    """An entry of an outline: a heading (empty where there is none), and the sentence that its text begins with."""

    heading: str
    sentence: str
    section: Section


@dataclass(frozen=True, slots=True)
class Unread:
    """What was not read of a document: headings in their order with their pages, `total` sections in all."""

    document_id: int
    entries: tuple[tuple[str, int | None], ...]
    total: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What it took to read: sections, parts, tokens that a model read and wrote (0 where not counted), and seconds."""

    sections: int
    parts: int
    tokens: int
    seconds: float


@dataclass(slots=True)
class Reading:
    """What was read of whole documents, for those who write the answer.

    With a model, `given` is what it is given of a section in its place, by the section's key, and `told` is what that
    is: `sections`, `notes` or `changes`. Without one, `result` is what there is to quote; `reason` is why, a slug of
    `NoReply`, where there is one that could not be made to read. `unread` is what was not read for its
    length, and `failed` what the model gave no notes on. `cost` is what taking notes took, and
    `said` what the site itself says of all this below the answer.
    """

    kind: str
    titles: dict[int, str]  # by document
    given: dict[int, str] = field(default_factory=dict)
    told: str = ""
    result: object = None
    reason: str = ""
    unread: list[Unread] = field(default_factory=list)
    failed: list[Section] = field(default_factory=list)
    cost: Cost | None = None
    said: list[str] = field(default_factory=list)


def sections_of(passages: Iterable[Passage], longest: int = LONGEST, shortest: int = SHORTEST) -> list[Section]:
    """Return the sections of documents, whose passages come in order; tokens are bounds of a section's length.

    One that is shorter than `shortest` is joined to the one before it, if that is under the same heading or is it.
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


def joined(units: Sequence[tuple[Section, str]], most: int) -> list[tuple[Section, str]]:
    """Return sections, in order, with a text of each, neighbours of a document joined so that they are about `most`."""
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
    """Return a document's outline: the headings down to the depth at which they are at most `most`.

    Where those of the highest level are more already, or there are none, runs of neighbours make an entry each.
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
        made.append(Entry(_heading(run, depth), leading_sentence(run), leading))
    return made


def headings_of(sections: Sequence[Section], most: int) -> tuple[tuple[str, int | None], ...]:
    """Return the headings of some sections with their pages, at a depth at which they are at most `most`."""
    return tuple((entry.heading, entry.section.page) for entry in outline(sections, most))


def leading_sentence(sections: Iterable[Section]) -> str:
    """Return the first sentence of some sections that neither announces nor is of a list, else the first; cut if long.

    Of tables alone it is the first line.
    """
    first = ""
    for sentence in _sentences(sections):
        first = first or sentence
        if not sentence.endswith((":", "：")) and not ITEM.match(sentence):
            return sentence
    return first


def lines_of(passage: Passage) -> Iterator[str]:
    """Yield the sentences of a passage; a line of a list or table is one."""
    for sentence in split_sentences(plain(passage.content)):
        if text := " ".join(sentence.split()):
            yield text


def parts(
    units: Iterable[Sequence[tuple[Section, str]]], room: int, measure: Callable[[str], int]
) -> list[list[tuple[Section, str]]]:
    """Return groups of sections with their texts in parts of at most `room` tokens; a group is torn only if it must be.

    `measure` returns the tokens of a text. A text that is longer than a part by itself makes one.
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


def _heading(run: Sequence[Section], depth: int) -> str:
    first, last = (section.path[:depth][-1] if section.path[:depth] else "" for section in (run[0], run[-1]))
    return f"{first} … {last}" if first and last and first != last else first


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    count = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:count]
