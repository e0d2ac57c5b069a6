"""A page that applies htmx's out-of-band fragments like a browser."""

import re

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement

from conversations.rendering.text_frames import MARK, NAMED, SEPARATOR

_CITATION = re.compile(
    rf'{NAMED}([^{NAMED}]*){NAMED}|<sup class="citation([^"]*)"><a [^<>]*?data-citation="(\d+)".*?</sup>', re.DOTALL
)


class Page:
    """A page's HTML, to which frames of the socket are applied."""

    def __init__(self, html: str) -> None:
        self.soup = BeautifulSoup(html, "html.parser")
        self._citations: dict[str, str] = {}
        self._sent: dict[str, str] = {}  # HTML of the open end of each block, as it was sent

    def apply(self, frame: str) -> None:
        """Apply a frame: records of text, or elements with `hx-swap-oob`."""
        if frame.startswith(MARK):
            for record in frame.split(SEPARATOR):
                self._take(record)
            return
        elements = [item for item in BeautifulSoup(frame, "html.parser").contents if isinstance(item, Tag)]
        tables = [element for element in elements if element.name in ("tbody", "tr")]
        assert not tables or len(elements) == 1, "a parser drops rows beside other elements"
        for element in elements:
            self._swap(element)

    def _take(self, record: str) -> None:
        """Apply a record of text like `text-frames.js`."""
        _empty, head, short = record.split(MARK, 2)
        html = _CITATION.sub(self._cited, short)
        place, drop, finished, events = [*head.split(","), "", "", ""][:4]
        mark = self.soup.select_one(f"#answer-{place.partition('-')[0]}-mark")
        assert mark is not None
        mark["data-seq"] = str(int(str(mark["data-seq"])) + int(events or 1))
        target = self.soup.select_one(f"#answer-{place}-open")
        if place.endswith("-blocks"):
            whole = self.soup.select_one(f"#answer-{place}")
            assert whole is not None
            whole.clear()
            whole.extend(_parsed(html))
            return
        if target is None:
            found = [self.soup.select_one(f"#answer-{place}-{part}") for part in ("code", "rows", "text")]
            next(filter(None, found)).extend(_parsed(html))
            return
        if drop == "*":
            self._sent[place] = ""
        before = self._sent[place].encode("utf-16-le")
        closing = re.search(r"(?:</\w+>\n?)*\Z", self._sent[place])
        dropped = len(closing[0]) * 2 if closing else 0
        if drop:
            dropped = 2 * int(drop.replace("*", "") or 0)
        place_of_new = len(before) - dropped
        kept = before[:place_of_new] + html.encode("utf-16-le") + (b"" if drop else before[place_of_new:])
        end = len(kept) if finished == "*" else 2 * int(finished or 0)
        target.insert_before(*_parsed(kept[:end].decode("utf-16-le")))
        self._sent[place] = kept[end:].decode("utf-16-le")
        target.clear()
        target.extend(_parsed(self._sent[place]))
        if finished == "*":
            target.decompose()

    def _cited(self, match: re.Match[str]) -> str:
        if match[1] is not None:
            return self._citations[match[1]]
        self._citations[match[3] + match[2]] = match[0]
        return match[0]

    def _swap(self, element: Tag) -> None:
        style, colon, selector = str(element.attrs.pop("hx-swap-oob")).partition(":")
        target = self.soup.select_one(selector if colon else f"#{element['id']}")
        if target is None and style == "delete":
            return  # as in the page's script
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
            case "afterend":
                target.insert_after(*inside)
            case "beforebegin":
                target.insert_before(*inside)
            case "delete":
                target.decompose()
            case _:
                raise AssertionError(f"unknown swap {style}")

    def html(self, selector: str) -> str:
        """Return an element's HTML without whitespace between elements."""
        return squeeze(str(self.soup.select_one(selector)))


def _parsed(html: str) -> list[PageElement]:
    return list(BeautifulSoup(html, "html.parser").contents)


def squeeze(html: str) -> str:
    """Return HTML, normalised by the parser, without whitespace between elements."""
    text = str(BeautifulSoup(html, "html.parser"))
    return re.sub(r"\s+", " ", re.sub(r">\s+|\s+<", lambda match: match[0].strip(), text)).strip()
