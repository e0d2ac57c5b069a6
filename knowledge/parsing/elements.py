"""The typed elements that parsers yield, in reading order.

Pure data without Django, so that parsers can run in a child process and send elements as JSON lines.
"""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

RecognisedLine = tuple[str, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Element:
    """The base class of elements; `page` is the page, slide or sheet, counted from 1, if the format has pages."""

    type: ClassVar[str]
    page: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-safe data."""
        return {"type": self.type} | asdict(self)


@dataclass(frozen=True, slots=True)
class Heading(Element):
    """A heading; `level` counts from 1."""

    type: ClassVar[str] = "heading"
    text: str = ""
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph(Element):
    """A paragraph or list item of running text; only meaningful line breaks are kept in it."""

    type: ClassVar[str] = "paragraph"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Code(Element):
    """Preformatted text, with its line breaks and indentation."""

    type: ClassVar[str] = "code"
    text: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Table(Element):
    """A table: `columns` are the header cells, which may be empty, and `rows` have one cell per column."""

    type: ClassVar[str] = "table"
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Picture(Element):
    """A picture; `path` is a file in the parse's output folder (PNG, JPEG or WebP), sizes in pixels.

    `labels` are the words in the picture, by which it can be found; `alt` describes it.
    """

    type: ClassVar[str] = "picture"
    path: str = ""
    alt: str = ""
    labels: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Attachment(Element):
    """A file contained in this one, to become a document of its own; `path` is in the parse's output folder."""

    type: ClassVar[str] = "attachment"
    path: str = ""
    name: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class PageBreak(Element):
    """The start of page `page`; `total` is the number of pages, if known. Also drives the progress bar.

    `recognised` are the lines recognised on a scanned page, as (text, x0, y0, x1, y1) in fractions of the page as it is
    shown, from its top left.
    """

    type: ClassVar[str] = "page_break"
    total: int | None = None
    recognised: tuple[RecognisedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Title(Element):
    """The title given in the file, which is not part of its text; the last element, if there is one.

    `shown` is true for titles that readers see, such as that of a web page, and false for those in its properties.
    """

    type: ClassVar[str] = "title"
    text: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Scanned(Element):
    """A page or picture whose text needs OCR, which was not done; not part of the text."""

    type: ClassVar[str] = "scanned"


@dataclass(frozen=True, slots=True)
class FileType(Element):
    """The file's type if its name suggests another one; the first element, and not part of the text."""

    type: ClassVar[str] = "file_type"
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Notice(Element):
    """A notice of what was left out of the file, for the person who uploaded it; not part of its text.

    `key` identifies a message in `knowledge.explanations`, into which the JSON-safe `params` are inserted.
    """

    type: ClassVar[str] = "notice"
    key: str = ""
    params: dict[str, Any] = field(default_factory=dict, hash=False)


KINDS: dict[str, type[Element]] = {
    kind.type: kind
    for kind in (Heading, Paragraph, Code, Table, Picture, Attachment, PageBreak, Title, FileType, Scanned, Notice)
}


def element_from_dict(data: dict[str, Any]) -> Element:
    """Return the element from the result of `to_dict`; raises `ValueError` for an unknown kind."""
    kind = KINDS.get(str(data.get("type")))
    if kind is None:
        raise ValueError(f"Unknown kind of element: {data.get('type')!r}")
    values = {item.name: data[item.name] for item in fields(kind) if item.name in data}
    if kind is Table:
        values["columns"] = tuple(values.get("columns", ()))
        values["rows"] = tuple(tuple(row) for row in values.get("rows", ()))
    if kind is PageBreak:
        values["recognised"] = tuple(tuple(line) for line in values.get("recognised", ()))
    return kind(**values)
