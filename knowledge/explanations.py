"""Messages about files that can't be read, or only in part: a sentence for each key, in the reader's language.

Parsers, which run without Django, return a key and parameters, which are stored with the document.
"""

from collections import defaultdict
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

# Short titles of errors, shown before the explanation.
TITLES: dict[str, Promise] = {
    "empty": _("The file is empty"),
    "encrypted": _("The file is password-protected"),
    "broken": _("The file is damaged"),
    "unsupported": _("This format can't be read"),
    "too_many_pages": _("Too many pages"),
    "too_many_rows": _("Too many rows"),
    "too_large": _("Too large"),
    "storage_full": _("Not enough storage"),
    "disk_full": _("The server's disk is full"),
    "no_text": _("No text was found"),
    "timeout": _("Reading took too long"),
    "memory": _("Reading needs too much memory"),
    "killed": _("Reading was interrupted"),
    "missing_tool": _("A program is missing on the server"),
    "missing": _("The stored file is missing"),
    "worker_lost": _("The worker was stopped too often"),
    "database": _("Database error"),
    "internal": _("Unexpected error"),
}
SENTENCES: dict[str, Promise] = {
    "empty": _("The file is empty."),
    "empty.white_space": _("The file contains only white space."),
    "empty.no_pages": _("The PDF has no pages."),
    "empty.pages": _("The PDF's pages contain no text."),
    "encrypted": _("The file is password-protected. Remove the password and upload it again."),
    "encrypted.pdf": _("The file is password-protected. Remove the password and upload it again."),
    "encrypted.open_document": _("The file is password-protected. Save it without a password."),
    "encrypted.book": _("The book has copy protection (DRM); only its seller's programs can read it."),
    "encrypted.mail": _("The mail is encrypted; only its recipient's mail program can read it. Save it unencrypted."),
    "encrypted.older": _(
        "The file is password-protected. Save it without a password, preferably as %(newer)s, and upload it again."
    ),
    "broken": _("The file is damaged or incomplete."),
    "broken.pdf": _("The PDF is damaged or incomplete."),
    "broken.picture": _("The image is damaged or incomplete."),
    "broken.all_pages": _("None of the PDF's pages can be read; the file is damaged."),
    "broken.zeros": _("The file contains only zero bytes; it was probably not copied completely."),
    "broken.office": _(
        "The file is damaged and can't be read. Opening it in its own program and saving it again may help."
    ),
    "broken.not_office": _(
        "This is not a valid %(kind)s file: it is damaged or incomplete, or has the wrong extension."
    ),
    "broken.no_main_part": _("This is not a %(kind)s file: it is another kind of archive, or parts are missing."),
    "broken.too_deep": _("The file is nested too deeply to be read."),
    "broken.page_too_deep": _("The page nests its elements too deeply to be read."),
    "broken.entities": _("The file was not read: it declares XML entities, which Office documents never do."),
    "broken.csv": _("Line %(line)s is not valid CSV: %(reason)s."),
    "broken.conversion": _(
        "LibreOffice, which is used to read older Office files, can't open the file: it is damaged, password-protected "
        "or needs more memory than is available. Saving it in a newer format in its own program often helps."
    ),
    "broken.json": _("The file is not valid JSON: line %(line)s, column %(column)s can't be read."),
    "broken.binary": _("This is not a text file: it contains binary data."),
    "broken.not_text": _("This is a %(kind)s file, not text: its name has the wrong extension."),
    "broken.mislabelled": _("The file is named .%(extension)s but its content is %(found)s. Rename or convert it."),
    "broken.gone": _("The file no longer exists."),
    "broken.crashed": _(
        "The parser crashed on this file (%(name)s). It is probably damaged, or needs more than %(memory)s MB of "
        "memory. Saving it again in its own program often helps."
    ),
    "broken.ended": _("The parser stopped before the end of the file (exit code %(code)s)."),
    "broken.unknown": _("The file is damaged or uses an unsupported feature (%(name)s)."),
    "unsupported": _("%(kind)s files can't be read. Supported: %(known)s."),
    "unsupported.attachment": _("%(kind)s files can't be read."),
    "unsupported.old_wps": _(
        "This %(kind)s file has an old format that can't be read. Open it in WPS Office or its own program, save it as "
        ".docx, .xlsx or .pptx, and upload it again."
    ),
    "unsupported.no_extension": _("Files without an extension can't be read. Supported: %(known)s."),
    "too_many_attachments": _("The mail, with the mails attached to it, has more than %(most)s attachments."),
    "too_many_attachments.nested": _("It is nested in more than %(most)s levels of attached mails."),
    "too_many_pages": _("The PDF has %(pages)s pages; at most %(most)s are read."),
    "too_many_pages.slides": _("The file has %(slides)s slides; %(most)s are allowed."),
    "too_many_rows": _("The file has more than %(rows)s rows. Split it into parts."),
    "too_many_rows.workbook": _("The workbook has more than %(rows)s rows. Split it into parts."),
    "too_many_rows.cells": _("The workbook has more than %(cells)s cells. Split it into parts."),
    "too_large.parts": _("The file contains %(parts)s parts; at most %(most)s are read."),
    "too_large.unpacked": _("The file unpacks to %(size)s MB; at most 1,024 MB are read."),
    "too_large.bomb": _("The file was not read: it unpacks to far more than its size, as a ZIP bomb does."),
    "too_large.office": _("The %(kind)s file was not opened: it unpacks to far more than a document contains."),
    "too_large.picture": _("The picture has too many pixels to be opened."),
    "too_large.attachment": _("It is larger than the %(limit)s MB that this site accepts."),
    "too_large.storage": _("The owner of this knowledge base has no storage left."),
    "too_large.line": _("One part of the file is too large to be read."),
    "no_text": _("No text was found in this file."),
    "no_text.fonts": _(
        "The PDF's fonts don't say which characters they show, so its text can't be read. Print it to PDF again from "
        "its original program; this site doesn't read text from pictures (RAGSITE_OCR)."
    ),
    "no_text.scanned": _(
        "The PDF contains only pictures of text, as from a scanner. This site doesn't read text from pictures "
        "(RAGSITE_OCR); run the file through an OCR program and upload the result."
    ),
    "no_text.picture": _("This site doesn't read text from pictures (RAGSITE_OCR)."),
    "no_text.document": _("The document contains no text, tables or pictures."),
    "no_text.slides": _("The slides contain no text, tables or pictures."),
    "no_text.sheets": _("The workbook's sheets are empty."),
    "no_text.page": _("The page contains no readable text."),
    "timeout": _("Reading the file took longer than %(seconds)s seconds. Split it into smaller files."),
    "timeout.conversion": _(
        "LibreOffice took longer than %(seconds)s seconds to open the file. Save it in a newer format in its own "
        "program."
    ),
    "killed": _(
        "Twice, the system ended the process that reads this file (%(name)s), perhaps for lack of memory on the "
        "server. Try again when it has less to do."
    ),
    "memory": _("Reading the file needs more than %(memory)s MB of memory. Split it into smaller files."),
    "missing_tool": _("The component that reads this kind of file is not installed (%(name)s)."),
    "missing_tool.libreoffice": _(
        "%(kind)s files are read with LibreOffice, which is missing or incomplete on this server (package "
        "%(package)s). Save the file as %(newer)s, or ask an administrator to install it."
    ),
    "missing": _("The stored file is missing. Delete this document and upload it again."),
    "cancelled": _("Reading the file was cancelled."),
    "worker_lost": _(
        "The worker reading this file was stopped %(times)s times. The file may need more memory than is available."
    ),
    "database": _("The database could not be reached or rejected the data. Retry in a moment."),
    "internal": _(
        "An unexpected error occurred (%(error)s). Retry; if it happens again, an administrator can find the details "
        "in the log under document %(number)s."
    ),
    "internal.start": _("The parser could not be started. Retry in a moment."),
    "left_out.scans": _("More than %(most)s pages are scanned, so the text in their pictures was not read."),
    "left_out.passages": _("Only the first %(most)s passages of the document can be searched."),
    "left_out.scans_failed": _("The scanned pages could not be read; the rest of the document can be searched."),
    "left_out.nested": _("Parts of the file are nested too deeply to be read; they were left out."),
    "left_out.hidden": _("Hidden sheets, rows, columns or slides were left out."),
    "read.hidden": _("Hidden sheets, rows, columns or slides were read too; they are marked as hidden."),
    "left_out.struck": _("Text that is struck out was left out."),
    "left_out.formulas": _(
        "%(cells)s cells have formulas that were never calculated; they were left out. Open the file in its program "
        "and save it, or ask an administrator to install LibreOffice (package %(package)s)."
    ),
    "left_out.attachments": _(
        "%(left)s attachments were left out: at most %(most)s of a mail are read, up to a total size limit."
    ),
    "left_out.caption": _("A caption of a picture or table has more than %(most)s characters; the rest was left out."),
    "left_out.pictures": _("The file contains more than %(most)s pictures; the rest were left out."),
    "left_out.pictures_of_page": _("A page contains more than %(most)s pictures; the rest of them were left out."),
    "left_out.large_pictures": _("Pictures above %(size)s MB or %(pixels)s megapixels were left out."),
    "left_out.points": _("A chart has %(points)s points; only the first %(most)s were read."),
    "left_out.columns": _("A table has %(columns)s columns; only the first %(most)s were read."),
    "left_out.cell": _("A table cell has %(characters)s characters; only the first %(most)s were read."),
    "left_out.row": _("A table row has %(characters)s characters; only the first %(most)s were read."),
}

# Descriptions of the values of `found`, other than the extensions of Office documents.
FOUND: dict[str, Promise] = {
    "pdf": _("a PDF"),
    "zip": _("a ZIP archive or Office document"),
    "empty_zip": _("an empty ZIP archive"),
    "other_zip": _("another kind of ZIP archive"),
    "ole": _("an Office 97-2003 document"),
    "rtf": _("an RTF document"),
    "png": _("a PNG image"),
    "jpeg": _("a JPEG image"),
    "gif": _("a GIF image"),
    "program": _("a program"),
    "gzip": _("a gzip archive"),
    "7z": _("a 7-Zip archive"),
    "rar": _("a RAR archive"),
    "text": _("a text file"),
    "unknown": _("something else"),
}


def explain(key: str = "", text: str = "", **params: Any) -> str:
    """Return the message of a key in the reader's language, or "" without a key.

    `text` is a message without a key, such as that of a language model's error; it is returned unchanged.
    """
    if text or not key:
        return text
    if key not in SENTENCES:  # stored by another version
        return gettext("The file can't be read (%(code)s).") % {"code": key}
    shown = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in params.items()}
    if found := params.get("found"):
        shown["found"] = str(FOUND.get(found) or gettext("a .%(extension)s document") % {"extension": found})
    return str(SENTENCES[key]) % defaultdict(lambda: "?", shown)
