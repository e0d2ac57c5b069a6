"""The words of the parsers, who run without Django, for the catalogue: shown in the reader's language."""

import re

from django.utils.translation import gettext, gettext_noop

MESSAGES = (
    gettext_noop("No text was found in this file."),
    gettext_noop("None of the PDF's pages can be read; the file is damaged."),
    gettext_noop("The PDF has no pages."),
    gettext_noop("The PDF is damaged or was not copied completely."),
    gettext_noop("The PDF is protected by a password. Remove the password and upload it again."),
    gettext_noop("The PDF's pages hold no text."),
    gettext_noop("The document holds no text, tables or pictures."),
    gettext_noop("The file holds nothing but white space."),
    gettext_noop("The file holds only zero bytes; it was probably not copied completely."),
    gettext_noop("The file is damaged or was not copied completely."),
    gettext_noop("The file is damaged and can't be read. Opening and saving it in its program may help."),
    gettext_noop("The file is empty."),
    gettext_noop("The file is nested too deeply to be read."),
    gettext_noop("The file is protected by a password. Remove the password and upload it again."),
    gettext_noop("The file is protected by a password. Save it without one."),
    gettext_noop("Parts of the file are nested too deeply to be read; they were left out."),
    gettext_noop("The page nests its elements too deeply to be read."),
    gettext_noop("The parser could not be started. Retry in a moment."),
    gettext_noop("The slides hold no text, tables or pictures."),
    gettext_noop("The workbook's sheets are empty."),
    gettext_noop("This is not a text file: it holds binary data."),
    gettext_noop("One part of the file is too large to be read."),
    gettext_noop("Reading the file was cancelled."),
    gettext_noop(
        "The PDF holds only pictures of text, as from a scanner. Reading text from pictures (OCR) is not available "
        "yet; run the file through an OCR program and upload the result."
    ),
    gettext_noop(
        "The PDF's fonts do not say which characters they show, so its text can't be read. Print it anew to PDF from "
        "its own program; reading text from pictures (OCR) is not available yet."
    ),
    gettext_noop("The file declares XML entities, which Office documents never do. It is not read."),
    gettext_noop("The file is no longer there."),
    gettext_noop("The file unpacks to far more than its size, as a ZIP bomb does. It is not read."),
    gettext_noop("The page holds no readable text."),
)

# Messages with figures and names in them, which are taken out of what was stored and put into the translation.
FIGURED = (
    gettext_noop("%(kind)s files can't be read. Supported: %(known)s."),
    gettext_noop("Files without an extension can't be read. Supported: %(known)s."),
    gettext_noop("Line %(line)s is not valid CSV: %(reason)s."),
    gettext_noop("Reading the file needs more than %(memory)s MB of memory. Split it into smaller files."),
    gettext_noop("Reading the file took longer than %(seconds)s seconds. Split it into smaller files."),
    gettext_noop("The %(kind)s file declares XML entities, which no Office program writes."),
    gettext_noop("The %(kind)s file unpacks to far more than a document holds; it is not opened."),
    gettext_noop("The PDF has %(pages)s pages; at most %(most)s are read."),
    gettext_noop("The file has %(slides)s slides; %(most)s are allowed."),
    gettext_noop("The file has more than %(rows)s rows. Split it into parts."),
    gettext_noop("The file holds %(parts)s parts; at most %(most)s are read."),
    gettext_noop("The file is named .%(extension)s but its content is %(found)s. Rename or convert it."),
    gettext_noop(
        "The file is protected by a password, or is an older Office file with a new extension. "
        "Save it without a password as %(kind)s."
    ),
    gettext_noop("The file unpacks to %(size)s MB; at most 1,024 MB are read."),
    gettext_noop(
        "The parser crashed on this file (%(name)s). It is probably damaged, or needs more than %(memory)s MB of "
        "memory. Saving it anew in its own program often helps."
    ),
    gettext_noop("The parser ended before the file did (exit code %(code)s)."),
    gettext_noop("The workbook has more than %(cells)s cells. Split it into parts."),
    gettext_noop("The workbook has more than %(rows)s rows. Split it into parts."),
    gettext_noop("A chart has %(points)s points; only the first %(most)s were read."),
    gettext_noop("A caption of a picture or table holds more than %(most)s characters; the rest was left out."),
    gettext_noop("The file holds more than %(most)s pictures; the rest were left out."),
    gettext_noop("A page holds more than %(most)s pictures; the rest of them were left out."),
    gettext_noop("Pictures above %(size)s MB or %(pixels)s megapixels were left out."),
    gettext_noop("A table cell holds %(characters)s characters; only the first %(most)s were read."),
    gettext_noop("A table has %(columns)s columns; only the first %(most)s were read."),
    gettext_noop("A table row holds %(characters)s characters; only the first %(most)s were read."),
    gettext_noop("This is a %(kind)s file, not text: its name has the wrong extension."),
    gettext_noop("This is not a %(kind)s file: it is another kind of archive, or parts are missing."),
    gettext_noop("This is not a valid %(kind)s file: it is damaged or cut off, or has the wrong extension."),
    gettext_noop("a .%(extension)s document"),
)

# What stands in them for what was found in a file.
FOUND = (
    gettext_noop("a 7-Zip archive"),
    gettext_noop("a GIF picture"),
    gettext_noop("a JPEG picture"),
    gettext_noop("a PDF"),
    gettext_noop("a PNG picture"),
    gettext_noop("a RAR archive"),
    gettext_noop("a ZIP archive or Office document"),
    gettext_noop("a gzip archive"),
    gettext_noop("a program"),
    gettext_noop("a text file"),
    gettext_noop("an Office 97-2003 document"),
    gettext_noop("an RTF document"),
    gettext_noop("an empty ZIP archive"),
    gettext_noop("something else"),
)

_PATTERNS = {
    words: re.compile(re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.+?)", re.escape(words)), re.DOTALL) for words in FIGURED
}


def translated(message: str) -> str:
    """Return a stored message in the reader's language, where the catalogue has it."""
    if message in MESSAGES or message in FOUND:
        return gettext(message)
    for words, pattern in _PATTERNS.items():
        if match := pattern.fullmatch(message):
            return gettext(words) % {name: translated(value) for name, value in match.groupdict().items()}
    return message
