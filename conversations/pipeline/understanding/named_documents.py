"""Finds the documents that a question names as its source, also by a part of their titles. Pure.

"In the 2022 report", "according to the switch handbook", 《年度报告》, 员工手册里: all words of the name must be in a
document's title or file name. The name of a thing that is only asked about ("how do I export the annual report?") isn't
a source.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ragsite.language.analysis import terms
from ragsite.language.detection import HAN_BMP
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import alternatives

# The most documents that a name may fit; a name that fits more says too little.
MOST_FITTING = 5

_NOUN, _NOUN_ZH = alternatives("title_nouns")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MENTION = re.compile(
    rf"\b(?:in|from|within|under|per|according\s+to|summari[sz]e|does|do)\s+(?:the|our|my)\s+"
    rf"(?P<name>(?:[\w'’&-]+\s+){{0,5}}?(?:{_NOUN}))s?\b(?:\s+(?:of|for|from)\s+(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
# "What does the handbook say": the document is asked for what it says.
_SAYS = re.compile(r"^\s*(?:say|state|mention|require|contain|tell|prescribe|cover)s?\b", re.IGNORECASE)
_QUOTED = re.compile(r"《([^《》]{2,60})》")
_MENTION_ZH = re.compile(
    rf"(?:(?:根据|按照|依据|按|在|从|总结|概括)(?P<led>[{HAN_BMP}\w]{{0,12}}?(?:{_NOUN_ZH}))"
    rf"|(?P<followed>[{HAN_BMP}\w]{{0,12}}?(?:{_NOUN_ZH}))(?:里|中|内|上|怎么说|怎么写|如何规定|规定|要求|提到|写明|写着))"
)
_ENDS_WITH_NOUN = re.compile(rf"(?:{_NOUN_ZH})$")


@dataclass(frozen=True, slots=True)
class Titled:
    """A document by its id, with its title and file name in one text."""

    pk: int
    title: str


def names_a_source(question: str) -> bool:
    """Return whether a question may name a document as its source; most don't, so that no titles need be read."""
    return bool(_mentions(simplified(question)))


def documents_named(question: str, documents: Iterable[Titled]) -> list[int]:
    """Return the ids of the documents that a question names as its source, at most `MOST_FITTING`, else none."""
    titles = [(each.pk, simplified(each.title)) for each in documents]
    named: dict[int, None] = {}
    for mention in _mentions(simplified(question)):
        fitting = [pk for pk, title in titles if _fits(mention, title)]
        if len(fitting) <= MOST_FITTING:
            named |= dict.fromkeys(fitting)
    return list(named)


def _mentions(text: str) -> list[str]:
    found = [match[1] for match in _QUOTED.finditer(text)]
    for match in _MENTION.finditer(text):
        if match[0].lower().startswith("do") and not _SAYS.match(text[match.end() :]):
            continue
        found.append(" ".join(filter(None, (match["name"], match["year"]))))
    found += [match["led"] or match["followed"] for match in _MENTION_ZH.finditer(text)]
    return found


def _fits(mention: str, title: str) -> bool:
    if not set(_YEAR.findall(mention)) <= set(_YEAR.findall(title)):
        return False
    if noun := _ENDS_WITH_NOUN.search(mention):
        # The words before a Chinese name aren't separated from it: as many of the last characters as the title has.
        bare = _YEAR.sub("", mention).removeprefix("年")
        longest = next((bare[start:] for start in range(len(bare)) if bare[start:] in title), "")
        return len(longest) >= len(noun[0])
    asked = set(terms(mention))
    return bool(asked) and asked <= set(terms(re.sub(r"[_.]", " ", title)))
