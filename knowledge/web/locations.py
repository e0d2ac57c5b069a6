"""Where in its file a passage stands, as a reader looks for it there."""

from pathlib import PurePath

from django.utils.translation import gettext as _


def place(filename: str, page: int | None, heading: str = "") -> str:
    """Return a page, slide or sheet in words, or nothing where the format has none.

    `heading` is the passage's heading where it is shown beside: in a workbook it begins with the sheet's name, which
    says more than its number.
    """
    if not page:
        return ""
    match PurePath(filename).suffix.lower():
        case ".xlsx":
            return "" if heading else _("sheet %(number)s") % {"number": page}
        case ".pptx":
            return _("slide %(number)s") % {"number": page}
    return _("p. %(page)s") % {"page": page}
