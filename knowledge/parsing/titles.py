"""Determines a document's title: a page's title, its first heading, or that in the file's properties."""

import re
from collections.abc import Iterable, Iterator

from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Title

LONGEST = 300  # characters
_NEAR = 600  # maximum number of characters before a heading that is the title
# Names of parts, programs and files, numbers, addresses, and common words that manuals set in capitals.
_NO_TITLE = re.compile(
    r"(?i:(?:[\dIVX.]+\s+)?(?:(?:table of )?contents|index|abstract|introduction|preface|summary|overview|references)"
    r"|untitled\b.*|无标题.*|目\s*[录錄]|前\s*言|序|摘\s*要|引\s*言|document\s*\d*"
    r"|microsoft (?:word|powerpoint|excel)\b.*|r graphics output"
    r"|(?:slide|slides|page|sheet|幻灯片)\s*\d*|(?:chapter|part|section|lecture|appendix)\s*[\dIVXLC]*"
    r"|第[\d一二三四五六七八九十百]{1,4}[章节讲部篇页]|powerpoint (?:presentation|演示文稿)|\S+\.\w{2,5}"
    r"|(?:doi:|https?://).*|.*\\.*)|[\W\d_]*"
    r"|NAME|SYNOPSIS|DESCRIPTION|OPTIONS|USAGE|COPYRIGHT|LICENSE|NOTICE|NOTES?|AUTHORS?|HISTORY|EXAMPLES?|FILES|WARNING"
    r"|CAUTION|IMPORTANT|CONFIDENTIAL|DRAFT|MEMO|MEMORANDUM|REPORT|TITLE|SUBJECT|DATE|BACKGROUND|PURPOSE|SCOPE|ATTACHMENT"
    r"|ANNEX|FORM|TABLE|FIGURE|LIST|ADDRESS|AGENDA|MANUAL|GUIDE|INVOICE"
)
# Text that ends like this is a sentence, or the beginning of one.
_SENTENCE = re.compile(r".*[。！？；;，,]|(?:\S+\s+){7,}\S*[.!]")
_MARKS = re.compile(r"(?<=\S)\s*[*∗†‡]+$")  # of footnotes
_CONTENTS = re.compile(r"(?i:(?:table of )?contents)|目\s*[录錄]")
_OF_CONTENTS = re.compile(
    r"\S.*\S {2,}(?:\d{1,4}|[ivxl]+)"
)  # a line in a table of contents, with the page number set apart
_GOES_ON = re.compile(r".*(?:\b(?:and|or|of|the|an?|for|in|on|to|with|by|from|at|as)|[:：,，、–—-]|[和与的及])", re.I)


def titled(elements: Iterable[Element], by_heading: bool) -> Iterator[Element]:
    """Yield the elements, and finally the document's title as one `Title`, if there is any.

    `by_heading` means that in this format the first heading that looks like a title, near the beginning, is the title;
    one after the table of contents is used only if there is no other title.
    """
    shown = heading = stored = chapter = ""
    after_contents = False
    before = 0
    last: Heading | None = None
    for element in elements:
        if isinstance(element, Title):
            shown, stored = (element.text, stored) if element.shown else (shown, element.text)
            continue
        if isinstance(element, Heading) and by_heading and before < _NEAR:
            if last is not None and heading and _GOES_ON.fullmatch(heading) and element.level == last.level:
                heading = f"{heading} {element.text}"
            after_contents = after_contents or bool(_CONTENTS.fullmatch(element.text.strip()))
            if after_contents:
                chapter = chapter or tidy(element.text)
            else:
                heading = heading or tidy(element.text)
        last = element if isinstance(element, Heading) else None
        if isinstance(element, Paragraph | Code):
            before += len(element.text)
        yield element
    stored = tidy(stored)
    if stored.casefold().startswith(heading.casefold()):  # a heading of two lines may be only half of it
        heading = stored
    if found := tidy(shown) or tidy(heading) or stored or chapter:
        yield Title(text=found)


def tidy(text: str) -> str:
    """Return a title in one line of at most `LONGEST` characters, or "" if it is not a meaningful title."""
    line = _MARKS.sub("", " ".join(text.split()))
    if _NO_TITLE.fullmatch(line) or _SENTENCE.fullmatch(line) or _OF_CONTENTS.fullmatch(text):
        return ""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
