"""What a document is called by itself: a page's title, its first heading, or what the file's properties say."""

import re
from collections.abc import Iterable, Iterator

from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Title

LONGEST = 300  # characters
_NEAR = 600  # characters of text before a heading that still is the title of it all
_NO_TITLE = re.compile(
    r"(?:table of )?contents|index|untitled\b.*|无标题.*|目\s*录|document\s*\d*|microsoft (?:word|powerpoint|excel)\b.*"
    r"|(?:slide|slides|page|sheet|幻灯片)\s*\d*|powerpoint (?:presentation|演示文稿)|\S+\.\w{2,5}|\W*",
    re.I,
)


def titled(elements: Iterable[Element], by_heading: bool) -> Iterator[Element]:
    """Pass elements on, and at the end what they call the document, as one `Title`, where they call it anything.

    `by_heading` tells that the first heading, near the beginning, names a file of this format.
    """
    shown = heading = said = ""
    before = 0
    for element in elements:
        if isinstance(element, Title):
            shown, said = (element.text, said) if element.shown else (shown, element.text)
            continue
        if isinstance(element, Heading) and by_heading and not heading and before < _NEAR:
            heading = element.text
        elif isinstance(element, Paragraph | Code):
            before += len(element.text)
        yield element
    if found := tidy(shown) or tidy(heading) or tidy(said):
        yield Title(text=found)


def tidy(text: str) -> str:
    """Return a title in one line of at most `LONGEST` characters, or nothing where it says nothing."""
    line = " ".join(text.split())
    if _NO_TITLE.fullmatch(line):
        return ""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
