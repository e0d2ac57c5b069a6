"""The words of the parsers, who run without Django, for the catalogue: shown in the reader's language.

Messages with figures in them stay as they were stored.
"""

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
    gettext_noop("The page nests its elements too deeply to be read."),
    gettext_noop("The parser could not be started. Retry in a moment."),
    gettext_noop("The slides hold no text, tables or pictures."),
    gettext_noop("The workbook's sheets are empty."),
    gettext_noop("This is not a text file: it holds binary data."),
)


def translated(message: str) -> str:
    """Return a stored message in the reader's language, where the catalogue has it."""
    return gettext(message) if message in MESSAGES else message
