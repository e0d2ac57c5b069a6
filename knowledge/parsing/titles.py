"""What a document is called by itself: a page's title, its first heading, or what the file's properties say."""

import re
from collections.abc import Iterable, Iterator

from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Title

LONGEST = 300  # characters
_NEAR = 600  # characters of text before a heading that still is the title of it all
# Names of parts, of programs and of files, numbers, addresses, and common words that manuals set in capitals.
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
# What ends like this is a sentence, or the beginning of one.
_SENTENCE = re.compile(r".*[。！？；;，,]|(?:\S+\s+){7,}\S*[.!]")
_MARKS = re.compile(r"(?<=\S)\s*[*∗†‡]+$")  # of a note below
_CONTENTS = re.compile(r"(?i:(?:table of )?contents)|目\s*[录錄]")
_OF_CONTENTS = re.compile(r"\S.*\S {2,}(?:\d{1,4}|[ivxl]+)")  # a line of contents: a page's number, set apart
_GOES_ON = re.compile(r".*(?:\b(?:and|or|of|the|an?|for|in|on|to|with|by|from|at|as)|[:：,，、–—-]|[和与的及])", re.I)


def titled(elements: Iterable[Element], by_heading: bool) -> Iterator[Element]:
    """Pass elements on, and at the end what they call the document, as one `Title`, where they call it anything.

    `by_heading` tells that the first heading that reads as a title, near the beginning, names a file of this format;
    one after the contents does so for want of another name.
    """
    shown = heading = said = chapter = ""
    after_contents = False
    before = 0
    last: Heading | None = None
    for element in elements:
        if isinstance(element, Title):
            shown, said = (element.text, said) if element.shown else (shown, element.text)
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
    said = tidy(said)
    if said.casefold().startswith(heading.casefold()):  # a heading of two lines may be but half of it
        heading = said
    if found := tidy(shown) or tidy(heading) or said or chapter:
        yield Title(text=found)


def tidy(text: str) -> str:
    """Return a title in one line of at most `LONGEST` characters, or nothing where it says nothing."""
    line = _MARKS.sub("", " ".join(text.split()))
    if _NO_TITLE.fullmatch(line) or _SENTENCE.fullmatch(line) or _OF_CONTENTS.fullmatch(text):
        return ""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
