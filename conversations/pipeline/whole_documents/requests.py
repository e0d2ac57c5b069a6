"""Recognises requests about whole documents: to summarise, to list something or to compare. Pure.

It also recognises the question which documents there are.

A question counts only if all of it is understood as such a request: "Summarise this report in ten lines" does,
"Summarise the warranty conditions" is a question that a search answers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ragsite.language.simplified import as_written, simplified
from ragsite.language.word_lists import alternatives

Kind = Literal["summary", "list", "changes", "documents"]
# How a request refers to its documents: by their names, as documents mentioned before ("this report"), as something
# ("this"), or not at all ("Summarise").
Means = Literal["names", "documents", "something", "nothing"]

# Placeholder for a document's name in a question.
_NAME = "\ue000"
# The most characters of a request; longer questions say more than these rules cover.
_LONGEST = 400
_QUOTED = re.compile(rf"[《「『“\"'‘]\s*{_NAME}\s*[》」』”\"'’]")

_DOC, _DOC_ZH = alternatives("document_nouns")
_SUM, _SUM_ZH = alternatives("summary_verbs")
_SUMMARY, _SUMMARY_ZH = alternatives("summary_nouns")
_POINTS, _POINTS_ZH = alternatives("point_nouns")
_LIST, _LIST_ZH = alternatives("list_verbs")
_DIFFERENCE, _DIFFERENCE_ZH = alternatives("difference_nouns")

_NUMBER = r"(?:a|an|one|two|three|four|five|ten|both|all|\d+)"
_POLITE = (
    r"(?:(?:please|kindly|hi|hello|ok|now|just|then|(?:can|could|would|will)\s+you|i\s+(?:need|want)(?:\s+you\s+to)?"
    r"|i(?:['’]d|\s+would)\s+like(?:\s+you\s+to)?|can\s+i\s+(?:get|have))[\s,]+)*"
)
_END = (
    rf"(?:[\s,]*(?:please|for\s+me|for\s+us|briefly|shortly|thanks"
    rf"|(?:in|into|within|on|with)\s+(?:at\s+most\s+|about\s+|no\s+more\s+than\s+)?{_NUMBER}\s+[\w-]+(?:\s+[\w-]+)?"
    rf"|as\s+(?:a\s+)?(?:list|table|bullet\s+points?)))*"
)
_DOCUMENTS = (
    rf"(?:(?P<name>(?:the\s+)?(?:(?:{_DOC})s?\s+)?{_NAME}(?:(?:\s*,\s*|\s+and\s+){_NAME})*)"
    rf"|(?P<doc>(?:(?:the\s+)?(?:contents?|text|whole|entirety)\s+of\s+)?"
    rf"(?:(?:all|both)\s+{_NUMBER}?\s*|(?:(?:all\s+(?:of\s+)?|both\s+)?(?:this|that|the|these|those|my|our)\s+))(?:(?:whole|entire|full|complete|attached|uploaded|above|{_NUMBER})\s+)*"
    rf"(?:{_DOC})s?)"
    rf"|(?P<it>(?:all\s+of\s+)?(?:this|it|these|them|that)(?:\s+(?:one|two|here))?))"
)
_PAIR = (
    rf"(?:(?P<name>{_NAME}\s*(?:,|and|to|with|vs\.?|versus)\s*{_NAME})"
    rf"|(?P<doc>(?:both|the|these|those|my|our)\s+(?:(?:two|both|2)\s+)?(?:{_DOC})s)"
    rf"|(?P<it>(?:these|those|the)\s+two|them))"
)
_ADJECTIVES = r"(?:(?:short|brief|quick|concise|full|complete|detailed|long|rough|general|executive|one-page|good)\s+)*"
_GIVE = (
    r"(?:(?:give|write|make|provide|prepare|create|draft|show|produce|get|have|send)(?:\s+(?:me|us))?(?:\s+with)?\s+)?"
)
_BASE = r"(?:this|the|your|my|our)\s+(?:knowledge\s+)?(?:base|collection|library|chat)"
_HERE = rf"(?:\s+(?:here|(?:in|of|from)\s+(?:here|{_BASE})))?"
_FILES = r"(?:documents|docs|files|sources)"
_ENGLISH: tuple[tuple[Kind, str], ...] = (
    (
        "documents",
        rf"(?:(?:what|which)\s+(?:kinds?\s+of\s+)?|how\s+many\s+){_FILES}(?:\s+(?:do\s+you\s+(?:have|know|use|hold)"
        rf"|can\s+(?:you|i)\s+(?:search|read|ask|see|use)|are(?:\s+(?:there|available|uploaded))?))?{_HERE}",
    ),
    ("documents", rf"(?:{_LIST})\s+(?:(?:all|all\s+of)\s+)?(?:(?:the|your|my|our)\s+)?{_FILES}{_HERE}"),
    ("summary", rf"(?:{_SUM})(?:\s+(?:(?:the\s+)?(?:{_POINTS})\s+of\s+)?{_DOCUMENTS})?"),
    ("summary", rf"sum\s+{_DOCUMENTS}\s+up"),
    (
        "summary",
        rf"{_GIVE}(?:(?:a|an|the)\s+)?{_ADJECTIVES}(?:{_SUMMARY}|{_POINTS})(?:\s+(?:of|for|from)\s+{_DOCUMENTS})?",
    ),
    ("summary", rf"what\s+(?:are|is|were)\s+(?:the\s+)?(?:{_SUMMARY}|{_POINTS})\s+(?:of|in|from)\s+{_DOCUMENTS}"),
    ("summary", r"tl;?\s?dr"),
    ("summary", rf"what(?:['’]s|\s+(?:is|stands))\s+in\s+(?P<name>{_NAME})"),
    ("summary", rf"what\s+(?:is|does)\s+(?P<name>{_NAME})\s+(?:about|say|cover|contain|deal\s+with)"),
    (
        "list",
        rf"(?:{_LIST})\s+(?:all|every|each)\s+(?:(?:of\s+)?(?:the|its|their)\s+)?(?P<subject>\S.*?)"
        rf"(?:\s+(?:(?:that\s+(?:is|are)\s+)?(?:named|mentioned|given|listed)\s+)?(?:in|from|of|within)\s+{_DOCUMENTS})?",
    ),
    (
        "list",
        rf"(?:{_GIVE})(?:(?:a|the)\s+)?(?:(?:full|complete)\s+list\s+of|list\s+of\s+(?:all|every|each))\s+"
        rf"(?:(?:all|every|the|its)\s+)*(?P<subject>\S.*?)(?:\s+(?:(?:(?:that|who)\s+(?:is|are)\s+)?"
        rf"(?:named|mentioned|given|listed)\s+)?(?:in|from|of|within)\s+{_DOCUMENTS})?",
    ),
    (
        "changes",
        rf"what(?:['’]s|\s+(?:is|has|have|was))?\s+(?:changed|different|new)(?:\s+(?:between|in|from)\s+{_PAIR})?",
    ),
    (
        "changes",
        rf"(?:(?:show|list|give|tell|find)(?:\s+(?:me|us))?\s+|what\s+(?:are|is)\s+)(?:all\s+)?(?:the\s+)?"
        rf"(?:{_DIFFERENCE})s?\s+(?:between|from|of)\s+{_PAIR}",
    ),
    ("changes", rf"compare\s+{_PAIR}"),
    ("changes", rf"how\s+(?:do|does|did)\s+{_PAIR}\s+differ"),
)

_PLEASE = (
    r"(?:(?:请|麻烦|帮|替|给|我|你|您|能否|能不能|可不可以|可以|可否|想|要|需要|再)[，,]?"
    r"|用\w{1,4}(?:句话|个?字|点|段话?|条))*"
)
_COUNT_ZH = r"(?:一|两|二|三|四|五|几|些|\d)?"
_MEASURE_ZH = r"(?:份|篇|个|本|部|套|版|项)?"
_DOCUMENTS_ZH = (
    rf"(?:(?P<name>(?:(?:{_DOC_ZH}))?{_NAME}(?:[和与、及]{_NAME})*(?:这{_MEASURE_ZH}(?:{_DOC_ZH}))?)"
    rf"|(?P<doc>(?:(?:这|该|此|本|那|上述|整|所有|全部){_COUNT_ZH}{_MEASURE_ZH}(?:{_DOC_ZH})(?:全文)?|全文|全篇|通篇|文(?=中)|(?:{_DOC_ZH})(?:全文)?))"
    rf"|(?P<it>它们?|这{_COUNT_ZH}{_MEASURE_ZH}|这些))"
)
_PAIR_ZH = (
    rf"(?:从?(?P<name>{_NAME}[和与跟同、到至比]{_NAME})|(?P<doc>(?:这|那|上述)?[两二2]{_MEASURE_ZH}(?:{_DOC_ZH}))"
    rf"|(?P<it>这[两二2](?:者|份|个|篇|本)|它们))"
)
_WITHIN_ZH = rf"(?:{_DOCUMENTS_ZH}(?:里面?|中|内|当中)?(?:所?提到|提及|涉及|出现)?的?)?"
_ALL_ZH = r"(?:所有|全部|每一?[个条项份]?|一切|全体)的?"
_WHAT_ZH = r"(?:是|有)(?:什么|哪些|啥)"
_HERE_ZH = r"(?:你们?|您|我们?)?(?:的?知识库|这里|这儿|那里|手上|手里)?(?:里面?|中|内)?的?"
_FILES_ZH = r"(?:文档|文件|资料)"
_CHINESE: tuple[tuple[Kind, str], ...] = (
    (
        "documents",
        rf"{_HERE_ZH}(?:现在|目前|都|一共|总共|共)*(?:有|能查|可以查|收录了?|上传了?)(?:哪些|什么|些什么|多少|几)[个份篇]?{_FILES_ZH}",
    ),
    ("documents", rf"{_HERE_ZH}{_FILES_ZH}(?:现在|目前|都|一共|总共|共)*有(?:哪些|什么|多少[个份篇]?|几[个份篇])"),
    ("documents", rf"(?:{_LIST_ZH})(?:一?下)?{_HERE_ZH}(?:所有|全部)的?{_FILES_ZH}(?:的?(?:名称?|名字|标题|清单))?"),
    ("summary", rf"(?:{_SUM_ZH})(?:一?下)?(?:{_DOCUMENTS_ZH}(?:的?(?:{_POINTS_ZH}|{_SUMMARY_ZH}))?)?"),
    ("summary", rf"把?{_DOCUMENTS_ZH}(?:的?(?:{_POINTS_ZH}))?(?:{_SUM_ZH})(?:一?下|出来)?"),
    (
        "summary",
        rf"(?:写|做|列|提供|生成|出|一[份个篇段]|简[要短]的?)*{_DOCUMENTS_ZH}?的?(?:一[份个])?(?:{_SUMMARY_ZH}|{_POINTS_ZH})(?:{_WHAT_ZH})?",
    ),
    (
        "summary",
        rf"(?P<name>{_NAME})(?:里面?|中|内)?(?:主要)?(?:讲|说|写|介绍|包含)了?的?是?(?:什么|些什么|哪些内容|啥)(?:内容)?",
    ),
    ("summary", rf"(?P<name>{_NAME})(?:里面?|中|内)?有(?:什么|哪些)内容"),
    ("list", rf"(?:{_LIST_ZH})(?:一?下)?{_WITHIN_ZH}{_ALL_ZH}(?P<subject>\S.*?)"),
    ("list", rf"把{_WITHIN_ZH}{_ALL_ZH}(?P<subject>\S.*?)(?:都|全|全都)?(?:列|找|提取|整理|罗列|列举|摘)出来"),
    (
        "changes",
        rf"(?:(?:对比|比较)(?:一?下)?)?{_PAIR_ZH}(?:之间|相比)?[，,]?(?:有|的|存在|发生了?|都?有)?(?:什么|哪些|何|啥)?(?:{_DIFFERENCE_ZH})"
        rf"(?:{_WHAT_ZH}|在哪里?)?",
    ),
    ("changes", rf"(?:对比|比较)(?:一?下)?{_PAIR_ZH}"),
    ("changes", rf"{_PAIR_ZH}(?:都)?[改变](?:动|化)?了(?:什么|哪些|些什么)(?:内容|地方)?"),
    ("changes", r"(?:有|都)?(?:什么|哪些)(?:变化|改动|变更|不同)"),
)
_SEVERAL = (rf"(?:(?:\s*,\s*|\s+and\s+){_NAME})*", rf"(?:[和与、及]{_NAME})*")


@dataclass(frozen=True, slots=True)
class WholeRequest:
    """A request about whole documents: what to do, how it refers to them, and for lists the `subject`."""

    kind: Kind
    means: Means
    subject: str = ""


@cache  # compiled on first use: it would take a tenth of every process's start
def _patterns() -> list[tuple[Kind, re.Pattern[str]]]:
    return [
        *((kind, re.compile(rf"{_POLITE}{pattern}{_END}\s*[.?!…。]*", re.IGNORECASE)) for kind, pattern in _ENGLISH),
        *(
            (kind, re.compile(rf"{_PLEASE}{pattern}(?:吗|呢|吧|一下|好吗|谢谢|[，,])*\s*[。？！?.!…]*"))
            for kind, pattern in _CHINESE
        ),
    ]


@cache
def _patterns_without_names() -> list[re.Pattern[str]]:
    """Return the same patterns with any text in place of a document's name, or of several names."""
    return [
        re.compile(
            pattern.pattern.replace(_SEVERAL[0], "").replace(_SEVERAL[1], "").replace(_NAME, r"\s?\S.{0,150}?"),
            re.IGNORECASE,
        )
        for _kind, pattern in _patterns()
    ]


def warm_up() -> None:
    """Compile the patterns, so that the first question does not have to wait for them."""
    may_want_whole("")


def may_want_whole(question: str) -> bool:
    """Return whether a question may be such a request, whatever the documents' names are; most can't."""
    text = simplified(" ".join(question.split()))
    return len(text) <= _LONGEST and any(pattern.fullmatch(text) for pattern in _patterns_without_names())


def whole_request(question: str, names: Iterable[str] = ()) -> WholeRequest | None:
    """Return the request about whole documents in a question, or None; `names` are the documents' names."""
    written = " ".join(question.split())
    text = simplified(written)
    if len(text) > _LONGEST:
        return None
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = _pattern(name).sub(_NAME, text)
    text = _QUOTED.sub(_NAME, text)
    close = re.sub(rf"\s*{_NAME}\s*", _NAME, text)  # Chinese is written without spaces
    for kind, pattern in _patterns():
        if (match := pattern.fullmatch(text) or pattern.fullmatch(close)) is not None:
            found = match.groupdict()
            subject = (found.get("subject") or "").strip(" .?!。？！，,")
            if _NAME in subject:  # the subject is also a document's name
                return whole_request(question)
            means: Means = "nothing"
            if found.get("name"):
                means = "names"
            elif found.get("doc"):
                means = "documents"
            elif found.get("it"):
                means = "something"
            return WholeRequest(kind, means, as_written(subject, written))
    return None


def names_in(question: str, names: Iterable[str]) -> list[str]:
    """Return the names that appear in a question as words, in its order, except those that are part of a longer one.

    A name of one word or of two Chinese characters must be written exactly so or quoted: "Leave" is not "leave".
    """
    text = simplified(" ".join(question.split()))
    found: list[tuple[int, int, str]] = []
    for name in sorted(set(filter(None, names)), key=len, reverse=True):
        for match in _pattern(name).finditer(text):
            start, end = match.span()
            quoted = bool(_QUOTED.fullmatch(text[:start][-1:] + _NAME + text[end:][:1]))
            common = len(name) < 3 if not name.isascii() else name.isalpha() and (name.islower() or name != match[0])
            if (quoted or not common) and not any(begin <= start and end <= last for begin, last, _name in found):
                found.append((start, end, name))
    return list(dict.fromkeys(name for _start, _end, name in sorted(found)))


def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for a document's name that is not preceded or followed by a Latin letter or digit.

    It is for texts in simplified Chinese.
    """
    name = simplified(name)
    before = r"(?<![A-Za-z0-9_])" if name[0].isascii() else ""
    after = r"(?![A-Za-z0-9_])" if name[-1].isascii() else ""
    return re.compile(before + re.escape(" ".join(name.split())) + after, re.IGNORECASE)
