"""Collects all list items and table rows on a subject. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conversations.pipeline.whole_documents.sections import ITEM, Passage, Section
from knowledge.chunking.sections import MARK
from ragsite.language.analysis import terms
from ragsite.language.sentences import split_sentences


@dataclass(slots=True)
class Found:
    """The matching lines of a section, or the matching rows of a table with its columns."""

    section: Section
    lines: list[str] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of lines and rows."""
        return len(self.lines) + len(self.rows)


@dataclass(slots=True)
class Listing:
    """The matches for `subject`, in order; `sentences` says that they are sentences, since no list or table matches."""

    subject: str
    found: list[Found]
    sentences: bool = False

    @property
    def count(self) -> int:
        """The number of lines and rows in all sections."""
        return sum(found.count for found in self.found)


def listed(subject: str, sections: Sequence[Section], names: Sequence[str] = ()) -> Listing:
    """Return the list items and table rows that contain the words of a subject, or else the sentences that do.

    The words may also be in the item's heading, its table's columns or the line that introduces its list. Words of the
    documents' `names` are not required, since all of a document is about them.
    """
    asked = frozenset(terms(subject))
    wanted = asked - frozenset(term for name in names for term in terms(name)) or asked
    found = [each for section in sections for passage in section.passages for each in _of(passage, section, wanted)]
    if found:
        return Listing(subject, _joined(found))
    sentences = []
    for section in sections:
        lines = [
            " ".join(sentence.split())
            for passage in section.passages
            for sentence in split_sentences(passage.content)
            if wanted and wanted <= frozenset(terms(sentence))
        ]
        if lines:
            sentences.append(Found(section, lines))
    return Listing(subject, sentences, sentences=True)


def _of(passage: Passage, section: Section, wanted: frozenset[str]) -> Iterator[Found]:
    heading = frozenset(terms(passage.path[-1])) if passage.path else frozenset()
    if passage.rows is not None:
        columns = passage.columns or ()
        around = heading | frozenset(terms(" ".join(columns))) | frozenset(terms(passage.content.partition("\n")[0]))
        rows = [row for row in passage.rows if wanted <= around | frozenset(terms(" ".join(row)))]
        if rows:
            yield Found(section, [], columns, rows)
        return
    lines: list[str] = []
    introduction = frozenset[str]()
    for line in passage.content.split("\n"):
        text = line.strip()
        if text.startswith(MARK.strip()):
            heading, introduction = frozenset(terms(text)), frozenset()
        elif match := ITEM.match(text):
            item = text[match.end() :]
            if wanted <= heading | introduction | frozenset(terms(item)):
                lines.append(item)
        elif text:
            introduction = frozenset(terms(text)) if text.endswith((":", "：")) else frozenset()
    if lines:
        yield Found(section, lines)


def _joined(found: Sequence[Found]) -> list[Found]:
    """Join the matches within a section: lines to lines, and rows of the same split table."""
    joined: list[Found] = []
    for each in found:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.section is each.section
            and bool(last.rows) == bool(each.rows)
            and last.columns == each.columns
        ):
            last.lines += each.lines
            last.rows += each.rows
        else:
            joined.append(each)
    return joined
