"""The parts of an answer, in the order in which they are written. Each head ends the block open before it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """Markdown of a text block, without unindented tables and code, which are separate parts."""

    text: str


@dataclass(frozen=True, slots=True)
class TableHead:
    """A table begins; its cells are plain text."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the open table."""

    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeHead:
    """A code block begins; `language` may be empty."""

    language: str


@dataclass(frozen=True, slots=True)
class CodeText:
    """A piece of the open code block."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture with the URL given by the model; whether it may be shown is not decided here."""

    alt: str
    url: str


@dataclass(frozen=True, slots=True)
class End:
    """The open block ends."""


Part = Words | TableHead | TableRow | CodeHead | CodeText | Image | End
