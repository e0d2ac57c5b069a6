"""The parts of an answer, in the order in which they are written. Each head ends what was open before it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """Markdown of a text block, without tables and code that stand on their own."""

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
    """A block of code begins; `language` may be empty."""

    language: str


@dataclass(frozen=True, slots=True)
class CodeText:
    """A piece of the open block of code."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, by the address that the model gave; whether it may be shown is not decided here."""

    alt: str
    url: str


@dataclass(frozen=True, slots=True)
class End:
    """The open block ends."""


Part = Words | TableHead | TableRow | CodeHead | CodeText | Image | End
