"""Finds the documents that a question names as its source, also by a part of their titles. Pure.

"In the 2022 report", "according to the switch handbook", 《年度报告》, 员工手册里: all words of the name must be in a
document's title or file name. The name of a thing that is only asked about ("how do I export the annual report?") isn't
a source. docs/decisions/named-documents.md
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from conversations.pipeline.writing.quoting.editions import bare_name
from ragsite.language.analysis import terms
from ragsite.language.content_words import content_terms
from ragsite.language.detection import HAN_BMP
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import alternatives

# The most documents that a name may fit; a name that fits more says too little.
MOST_FITTING = 5

_NOUN, _NOUN_ZH = alternatives("title_nouns")
_STANDING, _STANDING_ZH = alternatives("standing_nouns")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MENTION = re.compile(
    rf"\b(?:in|from|within|under|per|according\s+to|summari[sz]e|does|do)\s+(?:the|our|my)\s+"
    rf"(?P<name>(?:[\w'’&-]+\s+){{0,5}}?(?:{_NOUN}))(?P<plural>s?)\b(?:\s+(?:(?:of|for|from)\s+)?(?P<year>(?:19|20)\d\d))?",
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
_ENDS_WITH_STANDING = re.compile(rf"\b(?:{_STANDING})$|(?:{_STANDING_ZH})$", re.IGNORECASE)
# Nouns whose plural is one document: "the minutes".
_PLURAL_IS_ONE = re.compile(r"\b(?:minute|bylaw|regulation|specification)$", re.IGNORECASE)
# What is asked of several documents at once: a comparison, or in which of them something is.
_OF_SEVERAL = re.compile(
    rf"\b(?:compar(?:e|ed|ison)|differ(?:s|ed|ences?|ent)?|versus|vs|between|across|over\s+the\s+years)\b"
    rf"|\b(?:which|what)\s+(?:of\s+the\s+)?(?:\w+\s+){{0,2}}?(?:year|document|file|source|version|edition|{_NOUN})s?\b"
    rf"|各|每|所有|全部|历年|多年|哪一?[份个本年版次]|[几两二三四五多][份个本年版]|这些|那些"
    rf"|对比|比较|相比|区别|差异|不同|分别|之间|变化",
    re.IGNORECASE,
)
_NEWEST = re.compile(r"\b(?:latest|newest|current|most\s+recent)\b\s*|最新|现行|当前", re.IGNORECASE)
# Chinese nouns that alone are rules in general rather than a document: 按规定.
_RULES_ZH = {"规定", "制度", "政策", "办法", "通知", "方案", "公告"}


@dataclass(frozen=True, slots=True)
class Titled:
    """A document by its id, its title and its file name, either of which may be empty."""

    pk: int
    title: str
    filename: str = ""

    @property
    def names(self) -> list[str]:
        """The title, and the file name without its ending."""
        return [name for name in (self.title, re.sub(r"\.\w{1,5}$", "", self.filename)) if name]


@dataclass(frozen=True, slots=True)
class Named:
    """The documents that a question names as its source, at most `MOST_FITTING`, and the words that name them.

    `phrases` are these words with what makes a source of them, such as "in the"; both are in simplified Chinese. With
    `one_is_meant`, the question is about one of them, and its words don't say which.
    """

    document_ids: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    one_is_meant: bool = False

    def without(self, text: str) -> str:
        """Return a question without the phrases: they say where to search, and needn't be in a passage.

        A question of which nothing else is left is returned unchanged.
        """
        rest = text
        for phrase in self.phrases:
            if (start := simplified(rest).find(phrase)) >= 0:
                rest = rest[:start] + rest[start + len(phrase) :]
        if rest == text or not content_terms(rest):
            return text
        rest = re.sub(r"\s+(?=[\s,.?!])", "", rest).strip(" ,，、:：")
        return rest[:1].upper() + rest[1:]


@dataclass(frozen=True, slots=True)
class _Mention:
    """The name of a source in a question; `phrase` is how English puts it there, empty if it can't be left out."""

    name: str
    is_plural: bool = False
    is_newest: bool = False
    phrase: str | None = None


def names_a_source(question: str) -> bool:
    """Return whether a question may name a document as its source; most don't, so that no titles need be read."""
    return bool(_mentions(simplified(question)))


def documents_named(question: str, documents: Iterable[Titled]) -> Named:
    """Return the documents that a question names as its source; none if a name fits more than `MOST_FITTING`."""
    question = simplified(question)
    titled = [Titled(each.pk, simplified(each.title), simplified(each.filename)) for each in documents]
    found: dict[str, list[Titled]] = {}
    words: list[str] = []
    phrases: list[str] = []
    mentions = _mentions(question)
    for mention in mentions:
        fitting = [each for each in titled if _fits(mention.name, " ".join((each.title, each.filename)))]
        exact = [each for each in fitting if _is_name(mention.name, each)]
        fitting = exact if exact and not mention.is_plural else fitting
        if mention.is_newest:
            fitting = _newest(fitting)
        if 0 < len(fitting) <= MOST_FITTING:
            found[mention.name] = fitting
            said = _matched(mention.name, fitting)
            words += said
            phrases += [match[0] for match in re.finditer(_phrase(mention, said), question) if match[0]]
    ids = tuple(dict.fromkeys(each.pk for fitting in found.values() for each in fitting))
    one_is_meant = (
        len(found) == len(mentions) == 1
        and len(ids) > 1
        and not mentions[0].is_plural
        and mentions[0].name not in _RULES_ZH
        and not _OF_SEVERAL.search(question)
        and not _are_versions_of_one(mentions[0].name, found[mentions[0].name])
    )
    return Named(ids, tuple(words), tuple(phrases), one_is_meant)


def _mentions(text: str) -> list[_Mention]:
    found = [_Mention(match[1]) for match in _QUOTED.finditer(text)]
    for match in _MENTION.finditer(text):
        verb = match[0].split()[0].lower()
        if verb in ("do", "does") and not _SAYS.match(text[match.end() :]):
            continue
        is_plural = bool(match["plural"]) and not _PLURAL_IS_ONE.search(match["name"])
        name = " ".join(filter(None, (match["name"], match["year"])))
        can_be_left_out = verb not in ("do", "does", "summarise", "summarize")
        found.append(_Mention(name, is_plural, phrase=match[0] if can_be_left_out else ""))
    found += [_Mention(match["led"] or match["followed"]) for match in _MENTION_ZH.finditer(text)]
    mentions = [
        replace(each, name=_NEWEST.sub("", each.name), is_newest=bool(_NEWEST.search(each.name))) for each in found
    ]
    return list({mention.name: mention for mention in mentions}.values())


def _fits(mention: str, title: str) -> bool:
    if not set(_YEAR.findall(mention)) <= set(_YEAR.findall(title)):
        return False
    if noun := _ENDS_WITH_NOUN.search(mention):
        return len(_longest_end(mention, title)) >= len(noun[0])
    asked = set(terms(mention))
    return bool(asked) and asked <= set(terms(re.sub(r"[_.]", " ", title)))


def _newest(documents: Sequence[Titled]) -> list[Titled]:
    """Return the document with the latest year in its names; all of them if that doesn't tell one from the others."""
    years = {each.pk: max(map(int, _YEAR.findall(" ".join(each.names))), default=0) for each in documents}
    newest = [each for each in documents if years[each.pk] == max(years.values())]
    return newest if len(newest) == 1 and years[newest[0].pk] else list(documents)


def _longest_end(mention: str, title: str) -> str:
    """Return as many of the last characters of a Chinese name as a title has; may be empty.

    The words before a Chinese name aren't separated from it.
    """
    bare = _YEAR.sub("", mention).removeprefix("年")
    return next((bare[start:] for start in range(len(bare)) if bare[start:] in title), "")


def _matched(mention: str, documents: Sequence[Titled]) -> list[str]:
    """Return the words of a mention that are in the documents' names."""
    if not _ENDS_WITH_NOUN.search(mention):
        return [mention]
    ends = (_longest_end(mention, name) for each in documents for name in each.names)
    return [*_YEAR.findall(mention), max(ends, key=len)]


def _phrase(mention: _Mention, said: Sequence[str]) -> str:
    """Return a pattern for the words of a mention that are no part of what is asked; it may match nothing."""
    if mention.phrase is not None:
        return re.escape(mention.phrase)
    *years, name = said
    before = rf"(?:{'|'.join(years)})?年?(?:{_NEWEST.pattern})?的?"
    return rf"(?:根据|按照|依据|按|在|从)?{before}《?{before}{re.escape(name)}》?(?:里面?|中|内|上)?的?"


def _is_name(mention: str, document: Titled) -> bool:
    """Return whether a mention is all of a document's name, apart from dates and versions."""
    for name in document.names:
        said = _longest_end(mention, name) if _ENDS_WITH_NOUN.search(mention) else mention
        if bare_name(said) == bare_name(re.sub(r"[_.]", " ", name)):
            return True
    return False


def _are_versions_of_one(mention: str, documents: Sequence[Titled]) -> bool:
    """Return whether documents are versions of one thing that is in force until the newest of them replaces it."""
    shared = set.intersection(*({bare_name(name) for name in each.names} for each in documents))
    return bool(shared) and bool(_ENDS_WITH_STANDING.search(mention))
