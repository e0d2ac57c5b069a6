"""Where in its file a passage stands, as a reader looks for it there."""

from django.utils.translation import gettext as _

from knowledge.parsing.registry import extension_of, find_format


def place(filename: str, page: int | None, heading: str = "") -> str:
    """Return a page, slide, sheet or chapter in words, or nothing where the format has none.

    `heading` is the passage's heading where it is shown beside: in a workbook it begins with the sheet's name, which
    says more than its number.
    """
    if not page:
        return ""
    match _unit(filename):
        case "sheet":
            return "" if heading else _("sheet %(number)s") % {"number": page}
        case "slide":
            return _("slide %(number)s") % {"number": page}
        case "chapter":
            return _("chapter %(number)s") % {"number": page}
    return _("p. %(page)s") % {"page": page}


def place_in_line(filename: str, page: int | None, heading: str) -> str:
    """Return the same where the heading is not shown: a sheet by its name."""
    if page and heading and _unit(filename) == "sheet":
        return _("sheet %(number)s") % {"number": heading.partition(" › ")[0]}
    return place(filename, page)


def _unit(filename: str) -> str:
    found = find_format(extension_of(filename))
    return found.unit if found else "page"
