"""A page that takes htmx's out-of-band fragments as a browser does."""

import re

from bs4 import BeautifulSoup, Tag


class Page:
    """HTML to which frames of the socket are applied."""

    def __init__(self, html: str) -> None:
        self.soup = BeautifulSoup(html, "html.parser")

    def apply(self, frame: str) -> None:
        """Apply one message; its top-level elements say by `hx-swap-oob` where they go."""
        elements = [item for item in BeautifulSoup(frame, "html.parser").contents if isinstance(item, Tag)]
        tables = [element for element in elements if element.name in ("tbody", "tr")]
        assert not tables or len(elements) == 1, "a parser drops rows beside other elements"
        for element in elements:
            self._swap(element)

    def _swap(self, element: Tag) -> None:
        style, colon, selector = str(element.attrs.pop("hx-swap-oob")).partition(":")
        target = self.soup.select_one(selector if colon else f"#{element['id']}")
        assert target is not None, f"nothing is at {selector or element['id']}"
        inside = list(element.contents)
        match style:
            case "true" | "outerHTML":
                target.replace_with(element)
            case "innerHTML":
                target.clear()
                target.extend(inside)
            case "beforeend":
                target.extend(inside)
            case "beforebegin":
                target.insert_before(*inside)
            case "delete":
                target.decompose()
            case _:
                raise AssertionError(f"unknown swap {style}")

    def html(self, selector: str) -> str:
        """Return an element's HTML without the white space between elements."""
        return squeeze(str(self.soup.select_one(selector)))


def squeeze(html: str) -> str:
    """Return HTML, as this parser writes it, without white space between elements."""
    text = str(BeautifulSoup(html, "html.parser"))
    return re.sub(r"\s+", " ", re.sub(r">\s+|\s+<", lambda match: match[0].strip(), text)).strip()
