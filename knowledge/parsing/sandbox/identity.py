"""Identifies the type of a file, by its bytes if possible, since names can be wrong, and otherwise by its name.

A docx is often named .doc, and the .xls files of web applications are mostly HTML, CSV or XML.
"""

import codecs
import re
import zipfile
from pathlib import Path

import olefile

from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import check_archive, check_office_parts
from knowledge.parsing.registry import FORMATS, OLE

_PDF = b"%PDF-"
_HEAD = 8192  # bytes

# File types by their first bytes.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (_PDF, "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "empty_zip"),
    (OLE, "ole"),
    (b"{\\rtf", "rtf"),
    (b"\x89PNG\r\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"\x7fELF", "program"),
    (b"MZ\x90\x00", "program"),
    (b"\x1f\x8b", "gzip"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"),
)
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_BY_MEDIA_TYPE = {
    "application/epub+zip": "epub",
    f"{_OPEN_DOCUMENT}text": "odt",
    f"{_OPEN_DOCUMENT}spreadsheet": "ods",
    f"{_OPEN_DOCUMENT}presentation": "odp",
}
_MAIN_FOLDERS = {"word": "docx", "xl": "xlsx", "ppt": "pptx"}
# Streams at the top of an OLE file.
_STREAMS = {
    "worddocument": "doc",
    "workbook": "xls",
    "book": "xls",
    "powerpoint document": "ppt",
    "__properties_version1.0": "msg",
    "encryptedpackage": "encrypted",
}
# WPS Office writes Microsoft's formats under names of its own, but its old versions, like Works, had other formats.
_WPS = frozenset({"wps", "wpt", "et", "ett", "dps", "dpt"})
_SHEETS = frozenset(extension for item in FORMATS if item.unit == "sheet" for extension in item.extensions)
# The signatures of formats by their extensions; a file with such a name that lacks it has another type.
_SIGNATURE_OF = {extension: item.signature for item in FORMATS if item.signature for extension in item.extensions}
_HTML = re.compile(
    r"(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|title|style|table|div|p|h\d)\b", re.S
)
_MAIL = re.compile(
    r"(?:From |(?:from|to|received|return-path|date|subject|message-id|mime-version|delivered-to|x-[\w-]+): ?\S)"
)
_XML_OF = {
    "urn:schemas-microsoft-com:office:spreadsheet": "xls",
    "http://schemas.microsoft.com/office/word/2003/wordml": "doc",
}


def identify(path: Path, extension: str) -> str:
    """Return the extension that a file should have; `extension` is its actual one (lower case, no dot).

    Raises `ParseError` if it is empty, password-protected or harmful, or has a type that its name doesn't suggest and
    that can't be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise ParseError("empty")
    if not head.strip(b"\x00"):
        raise ParseError("broken.zeros")
    known = next((name for start, name in _SIGNATURES if head.startswith(start)), "")
    if extension == "pdf" and _PDF in head[:4096]:  # readers accept junk before the header
        known = "pdf"
    if known == "zip":
        return _in_archive(path, extension)
    if known == "ole":
        return _in_ole(path, extension)
    if known:
        return known
    if extension not in _SIGNATURE_OF:
        return extension
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _kind_of_text(head.decode("utf-16", "replace"), extension)
    if min(head) < 9:  # not text
        raise mislabelled(extension, "unknown")
    return _kind_of_text(head.removeprefix(codecs.BOM_UTF8).decode("latin-1"), extension)


def mislabelled(extension: str, found: str) -> ParseError:
    """Return the error for a file whose type differs from its name, or that is of an old format with the same name."""
    if extension in _WPS and found in ("ole", "unknown"):
        return ParseError("unsupported.old_wps", kind=f".{extension}")
    return ParseError("broken.mislabelled", extension=extension, found=found)


def _in_archive(path: Path, extension: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive)
            names = [entry.filename.replace("\\", "/").lstrip("/") for entry in archive.infolist()]
            found = next(
                (kind for folder, kind in _MAIN_FOLDERS.items() if any(n.startswith(f"{folder}/") for n in names)), ""
            )
            if "mimetype" in names:
                with archive.open("mimetype") as file:
                    declared = file.read(200).decode("ascii", "replace").strip()
                found = _BY_MEDIA_TYPE.get(declared.removesuffix("-template"), found)
            elif "META-INF/container.xml" in names:
                found = "epub"
            if found in _MAIN_FOLDERS.values():
                check_office_parts(archive)
            if "xl/workbook.bin" in names:
                found = "xlsb"
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, OSError) as error:
        if _SIGNATURE_OF.get(extension) != "zip":
            raise mislabelled(extension, "zip") from error
        raise ParseError("broken") from error
    if not found:
        raise mislabelled(extension, "other_zip")
    return found


def _in_ole(path: Path, extension: str) -> str:
    try:
        with olefile.OleFileIO(path) as ole:
            top = {entry[0].lower() for entry in ole.listdir(streams=True, storages=False) if len(entry) == 1}
    except (OSError, ValueError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ParseError("broken") from error
    found = next((kind for stream, kind in _STREAMS.items() if stream in top), "")
    if found == "encrypted":
        raise ParseError("encrypted")
    if not found:
        raise mislabelled(extension, "ole")
    return found


def _kind_of_text(text: str, extension: str) -> str:
    start = text.lstrip().lower()
    if start.startswith(("<?xml", "<")):
        for name, kind in _XML_OF.items():
            if name in start:
                return kind
    if _HTML.match(start):
        return "html"
    if _MAIL.match(start):
        return "mht" if "multipart/related" in start else "eml"
    return "csv" if extension in _SHEETS else "txt"
