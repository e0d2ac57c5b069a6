"""The location of a passage in its file, as shown to readers."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from knowledge.parsing.registry import extension_of, find_format


def place(filename: str, page: int | None, heading: str = "") -> str:
    """Return the page, slide, sheet or chapter in words, or "" if the format has none.

    `heading` is the passage's heading if it is shown next to it: in a workbook it begins with the sheet's name, which
    is more useful than its number.
    """
    if not page:
        return ""
    match unit(filename):
        case "sheet":
            return "" if heading else _("sheet %(number)s") % {"number": page}
        case "slide":
            return _("slide %(number)s") % {"number": page}
        case "chapter":
            return _("chapter %(number)s") % {"number": page}
    return _("p. %(page)s") % {"page": page}


def place_in_line(filename: str, page: int | None, heading: str) -> str:
    """Return the location for use without the heading: a sheet by its name."""
    if page and heading and unit(filename) == "sheet":
        return _("sheet %(number)s") % {"number": heading.partition(" › ")[0]}
    return place(filename, page)


def places_in_line(filename: str, passages: Sequence[tuple[int | None, str]]) -> str:
    """Return the locations of several passages of a file, given as pages and headings, in one line: "pp. 3, 7"."""
    found = dict.fromkeys((page, heading) for page, heading in passages if page)
    pages = sorted({page for page, _heading in found if page})
    if len(pages) < 2:
        return next((place_in_line(filename, page, heading) for page, heading in found), "")
    numbers = _(", ").join(map(str, pages))
    match unit(filename):
        case "sheet":
            names = (heading.partition(" › ")[0] or str(page) for page, heading in found)
            return _("sheets %(numbers)s") % {"numbers": _(", ").join(dict.fromkeys(names))}
        case "slide":
            return _("slides %(numbers)s") % {"numbers": numbers}
        case "chapter":
            return _("chapters %(numbers)s") % {"numbers": numbers}
    return _("pp. %(pages)s") % {"pages": numbers}


def unit(filename: str) -> str:
    """Return the unit of a file's pages: "page", "slide", "sheet" or "chapter"."""
    found = find_format(extension_of(filename))
    return found.unit if found else "page"
