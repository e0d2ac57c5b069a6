"""The registry of file formats and their parsers. Imported without Django by the parser's child process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from knowledge.parsing.elements import Element
from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import libreoffice

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the signature of Office files from before 2007


@dataclass(frozen=True, slots=True)
class ParseContext:
    """The settings and limits of a parse."""

    output_dir: Path  # pictures are written here; `Picture.path` is relative to it
    filename: str  # as uploaded; shown in messages, never opened
    max_pages: int = 5000
    max_rows: int = 200_000
    hidden: bool = False  # whether hidden sheets, rows, columns and slides are read, marked as hidden
    # When to read words in pictures: "off" never, "later" yields `Scanned` instead, "auto" on pages without other text,
    # "always" on every page.
    ocr: str = "off"
    ocr_engine: str = "rapidocr"
    ocr_languages: tuple[str, ...] = ("en", "zh")
    # A folder for the words of each page, so that a file that is read in several turns isn't recognised anew.
    ocr_kept: Path | None = None


# A parser opens the file, yields elements as it reads them, and raises `ParseError` if it can't read it.
Parser = Callable[[Path, ParseContext], Iterator[Element]]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its extensions, media type, and the dotted path of its parser (imported when needed).

    `titled` means that the first heading is the title, unlike in formats whose headings name sheets or slides. `unit`
    is the unit of pages: "page", "slide", "sheet" or "chapter". `signature` is the file type of the first bytes that
    every such file has, as `sandbox.identity` names it; a file without them has another type. `converter` is the
    LibreOffice module required to read the format, and `newer` the format that people can save a file in instead.
    """

    name: str
    extensions: tuple[str, ...]
    media_type: str
    parser: str
    titled: bool = True
    unit: str = "page"
    signature: str = ""
    converter: str = ""
    newer: str = ""

    def load(self) -> Parser:
        """Import and return the parser function."""
        module, _, function = self.parser.rpartition(".")
        parser: Parser = getattr(import_module(module), function)
        return parser

    def require(self) -> None:
        """Raise `ParseError` ("missing_tool") if a program that is required to read the format is missing."""
        if self.converter and not libreoffice.has(self.converter):
            package = libreoffice.package(self.converter)
            raise ParseError("missing_tool.libreoffice", kind=self.name, newer=self.newer, package=package)


_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
_PARSING = "knowledge.parsing"
_PICTURES: dict[str, tuple[str, ...]] = {
    "png": ("png",),
    "jpeg": ("jpg", "jpeg"),
    "webp": ("webp",),
    "gif": ("gif",),
    "bmp": ("bmp",),
    "tiff": ("tif", "tiff"),
}

# fmt: off
FORMATS: tuple[Format, ...] = (
    Format("PDF", ("pdf",), "application/pdf", f"{_PARSING}.pdf.document.parse", signature="pdf"),
    Format(
        "Word", ("docx", "docm", "dotx", "dotm"), f"{_OOXML}.wordprocessingml.document",
        f"{_PARSING}.docx.document.parse", signature="zip",
    ),
    Format(
        "Excel", ("xlsx", "xlsm", "xltx", "xltm"), f"{_OOXML}.spreadsheetml.sheet",
        f"{_PARSING}.xlsx.workbook.parse", titled=False, unit="sheet", signature="zip",
    ),
    Format(
        "PowerPoint", ("pptx", "pptm", "ppsx", "ppsm", "potx", "potm"), f"{_OOXML}.presentationml.presentation",
        f"{_PARSING}.pptx.document.parse", titled=False, unit="slide", signature="zip",
    ),
    Format(
        "Word 97-2003", ("doc", "dot", "wps", "wpt"), "application/msword", f"{_PARSING}.legacy.office.parse_word",
        signature="ole", converter="writer", newer=".docx",
    ),
    Format(
        "Excel 97-2003", ("xls", "xlt", "et", "ett"), "application/vnd.ms-excel",
        f"{_PARSING}.legacy.office.parse_workbook", titled=False, unit="sheet", signature="ole",
    ),
    Format(
        "PowerPoint 97-2003", ("ppt", "pps", "pot", "dps", "dpt"), "application/vnd.ms-powerpoint",
        f"{_PARSING}.legacy.office.parse_slides", titled=False, unit="slide", signature="ole", converter="impress",
        newer=".pptx",
    ),
    Format(
        "Excel binary workbook", ("xlsb",), "application/vnd.ms-excel.sheet.binary.macroenabled.12",
        f"{_PARSING}.legacy.office.parse_binary_workbook", titled=False, unit="sheet", signature="zip",
        converter="calc", newer=".xlsx",
    ),
    Format("OpenDocument text", ("odt", "ott"), f"{_ODF}.text", f"{_PARSING}.odf.document.parse", signature="zip"),
    Format(
        "OpenDocument workbook", ("ods", "ots"), f"{_ODF}.spreadsheet", f"{_PARSING}.odf.spreadsheet.parse",
        titled=False, unit="sheet", signature="zip",
    ),
    Format(
        "OpenDocument presentation", ("odp", "otp"), f"{_ODF}.presentation", f"{_PARSING}.odf.slides.parse",
        titled=False, unit="slide", signature="zip",
    ),
    Format(
        "EPUB", ("epub",), "application/epub+zip", f"{_PARSING}.epub.book.parse", titled=False, unit="chapter",
        signature="zip",
    ),
    Format("Rich text", ("rtf",), "application/rtf", f"{_PARSING}.rtf.document.parse", signature="rtf"),
    Format("Text", ("txt", "log"), "text/plain", f"{_PARSING}.text.parse"),
    Format("Markdown", ("md", "markdown"), "text/markdown", f"{_PARSING}.markdown.parse"),
    Format("HTML", ("html", "htm", "xhtml"), "text/html", f"{_PARSING}.html.document.parse"),
    Format("Mail", ("eml",), "message/rfc822", f"{_PARSING}.mail.eml.parse"),
    Format(
        "Outlook mail", ("msg",), "application/vnd.ms-outlook", f"{_PARSING}.mail.msg.parse", signature="ole",
    ),
    Format("Saved page", ("mht", "mhtml"), "multipart/related", f"{_PARSING}.mail.eml.parse_page"),
    *(Format("Picture", it, f"image/{kind}", f"{_PARSING}.images.document.parse") for kind, it in _PICTURES.items()),
    Format("CSV", ("csv",), "text/csv", f"{_PARSING}.csv.parse"),
    Format("JSON", ("json",), "application/json", f"{_PARSING}.json.parse", titled=False),
    Format("JSON lines", ("jsonl", "ndjson"), "application/jsonl", f"{_PARSING}.json.parse", titled=False),
    Format("TSV", ("tsv", "tab"), "text/tab-separated-values", f"{_PARSING}.csv.parse"),
)
# fmt: on

_BY_EXTENSION = {extension: item for item in FORMATS for extension in item.extensions}


def extensions() -> list[str]:
    """Return all extensions that can be read, without dots."""
    return sorted(set(_BY_EXTENSION) - set(missing()))


def kinds() -> list[str]:
    """Return one extension for each format that can be read, the most common formats first."""
    unreadable = missing()
    return [item.extensions[0] for item in FORMATS if item.extensions[0] not in unreadable]


def missing() -> dict[str, ParseError]:
    """Return the errors about programs missing on this machine, by the extensions that can't be read without them."""
    found: dict[str, ParseError] = {}
    for extension, item in _BY_EXTENSION.items():
        try:
            item.require()
        except ParseError as error:
            found[extension] = error
    return found


def extension_of(filename: str) -> str:
    """Return the file's extension in lower case, without its dot."""
    return Path(filename).suffix.lower().removeprefix(".")


def find_format(extension: str) -> Format | None:
    """Return the format with an extension (lower case, no dot), or None."""
    return _BY_EXTENSION.get(extension)


def format_of(filename: str) -> Format:
    """Return the format of a file by its extension; raises `ParseError` ("unsupported"), with the supported ones."""
    extension = extension_of(filename)
    found = _BY_EXTENSION.get(extension)
    if found is None:
        known = ", ".join(kinds())
        if not extension:
            raise ParseError("unsupported.no_extension", known=known)
        raise ParseError("unsupported", kind=f".{extension}", known=known)
    return found


def check_name(filename: str, head: bytes = b"") -> None:
    """Raise `ParseError` if a file with this name can't be read, before it is sent or stored.

    Its first bytes, `head`, may show that it has another type, which can be read.
    """
    item = format_of(filename)
    if not head or head.startswith(OLE):
        item.require()
