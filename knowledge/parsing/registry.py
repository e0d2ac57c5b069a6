"""Which parser reads which file. Imported without Django by the parsing child process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from knowledge.parsing.elements import Element
from knowledge.parsing.errors import ParseError


@dataclass(frozen=True, slots=True)
class ParseContext:
    """What a parser may use and must keep to."""

    output_dir: Path  # pictures are written here; `Picture.path` is relative to it
    filename: str  # as uploaded; shown in messages, never opened
    max_pages: int = 5000
    max_rows: int = 200_000
    # What becomes of words that are in pictures: "off" leaves them, "later" yields `Scanned` in their place, "auto"
    # reads them where a page has no others, "always" on each page.
    ocr: str = "off"
    ocr_engine: str = "rapidocr"
    ocr_languages: tuple[str, ...] = ("en", "zh")


# A parser opens the file, raises `ParseError` for what it can't read, and yields elements as it goes.
Parser = Callable[[Path, ParseContext], Iterator[Element]]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its extensions, media type, and the dotted path of its parser (imported when needed).

    `titled` tells that its first heading is what a file is called, as it is not where headings name sheets or slides.
    """

    name: str
    extensions: tuple[str, ...]
    media_type: str
    parser: str
    titled: bool = True

    def load(self) -> Parser:
        """Import and return the parser function."""
        module, _, function = self.parser.rpartition(".")
        parser: Parser = getattr(import_module(module), function)
        return parser


_OOXML = "application/vnd.openxmlformats-officedocument"
_PICTURES: dict[str, tuple[str, ...]] = {
    "png": ("png",),
    "jpeg": ("jpg", "jpeg"),
    "webp": ("webp",),
    "gif": ("gif",),
    "bmp": ("bmp",),
    "tiff": ("tif", "tiff"),
}

FORMATS: tuple[Format, ...] = (
    Format("PDF", ("pdf",), "application/pdf", "knowledge.parsing.pdf.document.parse"),
    Format("Word", ("docx",), f"{_OOXML}.wordprocessingml.document", "knowledge.parsing.docx.document.parse"),
    Format("Excel", ("xlsx",), f"{_OOXML}.spreadsheetml.sheet", "knowledge.parsing.xlsx.workbook.parse", titled=False),
    Format(
        "PowerPoint", ("pptx",), f"{_OOXML}.presentationml.presentation", "knowledge.parsing.pptx.parse", titled=False
    ),
    Format("Text", ("txt", "log"), "text/plain", "knowledge.parsing.text.parse"),
    Format("Markdown", ("md", "markdown"), "text/markdown", "knowledge.parsing.markdown.parse"),
    Format("HTML", ("html", "htm", "xhtml"), "text/html", "knowledge.parsing.html.document.parse"),
    *(
        Format("Picture", names, f"image/{kind}", "knowledge.parsing.images.document.parse")
        for kind, names in _PICTURES.items()
    ),
    Format("CSV", ("csv", "tsv"), "text/csv", "knowledge.parsing.csv.parse"),
)

_BY_EXTENSION = {extension: item for item in FORMATS for extension in item.extensions}


def extensions() -> list[str]:
    """Return every extension that can be ingested, without dots."""
    return sorted(_BY_EXTENSION)


def format_of(filename: str) -> Format:
    """Return the format by the file's extension; raises `ParseError` ("unsupported") naming what is supported."""
    extension = Path(filename).suffix.lower().removeprefix(".")
    found = _BY_EXTENSION.get(extension)
    if found is None:
        known = ", ".join(extensions())
        if not extension:
            raise ParseError("unsupported.no_extension", known=known)
        raise ParseError("unsupported", kind=f".{extension}", known=known)
    return found
