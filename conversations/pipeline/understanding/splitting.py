"""Splits questions that compare, join or chain things into parts to search one by one, by rules. Pure.

The figures are in docs/decisions/thorough.md.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ragsite.language.content_words import content_terms
from ragsite.language.detection import language_of
from ragsite.language.facts import names
from ragsite.language.questions import AUXILIARIES
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH

Kind = Literal["", "questions", "comparison", "aspects", "chain"]

MOST_PARTS = 4
# The most characters of a question in which comparisons and chains are sought: the patterns' time grows superlinearly.
LONGEST = 400
# The most characters of a member of a comparison; anything longer is a clause.
LONGEST_MEMBER = 80

_ASKS_EN = f"(?:{INTERROGATIVES_EN}|{AUXILIARIES})"
_ASKS_ZH = f"{INTERROGATIVES_ZH}|几[个种项步天次年]|是否|能否|可否|多[长大久高快]|吗|呢|有何|何时|何处"
# The end of one question of several.
_SENTENCES = re.compile(r"(?<=[?？;；。！!])\s*|(?<=[a-z)]\.)\s+(?=[A-Z])")
_AND_ASKS = re.compile(
    rf",?\s+(?:and|or|but|plus|as well as)\s+(?:also\s+|then\s+|if\s+so,?\s+)?(?={_ASKS_EN}\b)"
    rf"|[,，;；]\s*(?:then\s+|also\s+)?(?=(?:what|how|why)\b)",
    re.IGNORECASE,
)
_AND_ASKS_ZH = re.compile(
    r"[，,；;]\s*(?:以及|还有|并且|而且|同时|另外|此外|然后|那么|那|又|和|且|再)?|(?:以及|还有|并且|同时)"
)

_AFTER = (
    r"(?P<after>\s+(?:in|when|for|with|regarding|on|as|during|if|at|within|under|concerning|in\s+terms\s+of)\s.*?)?"
)
_END = r"\s*[?？.!。！]*$"
_COMPARISONS = tuple(
    re.compile(pattern + _END, re.IGNORECASE)
    for pattern in (
        rf"^(?P<before>.*?)\b(?:\w+\s+)?between\s+(?P<a>.+?)\s+and\s+(?P<b>.+?){_AFTER}",
        rf"^(?P<before>.*?)\bcompare[sd]?\s+(?P<a>.+?)\s+(?:and|with|to|against)\s+(?P<b>.+?){_AFTER}",
        rf"^(?P<before>.*?)\bhow\s+(?:do|does|is|are)\s+(?P<a>.+?)\s+differ(?:ent)?\s+from\s+(?P<b>.+?){_AFTER}",
        rf"^(?P<before>.*?)(?P<a>\S+(?:\s+\S+)?)\s+(?:vs\.?|versus|compared\s+(?:to|with)|rather\s+than)\s+(?P<b>.+?){_AFTER}",
        rf"^(?P<before>.*?)\b(?:both|either)\s+(?P<a>.+?)\s+(?:and|or)\s+(?P<b>.+?){_AFTER}",
        r"^(?P<before>.*?)[,:]\s*(?P<a>[^,:]+?)\s+or\s+(?P<b>[^,]+?)",
        rf"^(?P<before>.*?\b(?:use|choose|pick|prefer|take|with|using|is\s+it))\s+(?P<a>.+?),?\s+or\s+(?P<b>.+?){_AFTER}",
    )
)
_JOINED_ZH = r"(?:和|与|跟|同(?!时)|及|以及|或|或者|、)"
_MEMBER_ZH = "[^，,；;：:？?]"
_WHERE_ZH = r"^(?P<before>(?:在.{1,20}?(?:中|里|上|时|下)[,，]?)?)"
_COMPARISONS_ZH = tuple(
    re.compile(pattern + _END)
    for pattern in (
        rf"^(?P<before>.*?)(?:比较|对比)(?:一下|下)?(?P<a>{_MEMBER_ZH}+?){_JOINED_ZH}(?P<b>{_MEMBER_ZH}+?)(?P<after>(?:的|在).*?)?",
        rf"{_WHERE_ZH}(?P<a>{_MEMBER_ZH}+?){_JOINED_ZH}(?P<b>{_MEMBER_ZH}+?)(?:之间|相?比)?[,，]?的?(?:有什么|有何|有啥|有哪些|存在什么)?"
        r"(?P<after>)的?(?:主要|本质|根本)?的?(?:区别|不同|不一样|差别|差异|异同|关系|联系|共同点|相同点).*?",
        rf"{_WHERE_ZH}(?P<a>{_MEMBER_ZH}+?){_JOINED_ZH}(?P<b>{_MEMBER_ZH}+?)(?P<after>[,，]?(?:分别|各自|相比).+?)",
        rf"{_WHERE_ZH}(?P<a>{_MEMBER_ZH}{{1,14}}?){_JOINED_ZH}(?P<b>{_MEMBER_ZH}{{1,14}}?)(?P<after>[,，]?(?:哪个|哪种|谁).+?)",
        r"^(?P<before>.*?(?:用|使用|选择?|采用|应该?|是|，))(?P<a>.+?)还是(?P<b>.+?)(?P<after>)",
    )
)
_CHAIN = re.compile(
    r"\b(?P<inner>(?:the|a|an|any)\s+(?:(?!(?:the|an?|any)\b)[\w.-]+\s+){1,4}?"
    r"(?:that|which|who|whose|(?:is\s+)?(?:used|needed|meant|intended)\s+(?:to|for|by)|responsible\s+for|with\s+which|by\s+which)\s+.+?)"
    + _END,
    re.IGNORECASE,
)
_CHAIN_ZH = re.compile(
    r"^(?P<inner>.{4,60}?的(?:那个|那种|那些)[^的，,。？?]{1,10})[,，](?P<rest>.{2,30}?)"
    + _END
    + r"|^(?P<of>.{4,60}?的[^的，,。？?]{1,10})的[^的，,]{2,20}?"
    + _END
)
# "NOTIFY: moment of delivery, longest payload, size of the queue."
_LISTED = re.compile(
    r"^(?P<topic>[^:：?？,，]{2,80}?)(?:\s+in\s+short|,?\s+please)?\s*[:：]\s*(?P<aspects>[^:：]+)$", re.IGNORECASE
)
_BETWEEN_ASPECTS = re.compile(
    r"[,，、;；]\s*(?:and\s+|or\s+|以及|还有|和)?|\s+and\s+(?=\S+\s*[?？.。]?$)", re.IGNORECASE
)
# References in a later question to an earlier one, nearly always the one right before.
_POINTS = re.compile(
    r"\b(?:its?|they|them|their|this|these|those|that\s+(?:one|other)|such|the\s+(?:same|latter|former|other))\b"
    r"|[它其该此这]|那[个些种]",
    re.IGNORECASE,
)
# The beginning of a further question.
_ALSO = re.compile(
    r"^(?:(?:also|and|then|next|besides|furthermore)\b,?\s*)+|^(?:另外|还有|以及|此外|同时|并且|然后)[,，]?",
    re.IGNORECASE,
)
# Words before a member that name nothing.
_EMPTY = re.compile(
    r"^(?:(?:please|can you|could you|tell me|explain|describe|show|list|give me|what['’]?s?|which|is|are|do|does|how"
    r"|the|a|an|of|on|facts|there|any|main|key)\s+)+|^(?:请问?|帮我|一下|说明|说说|解释|介绍|列出|告诉我)+",
    re.IGNORECASE,
)
# Separators between names: "work_mem, shared_buffers and temp_buffers".
_BETWEEN_NAMES = re.compile(
    r"\s*(?:,|，|、|,?\s+(?:and|or)\s+(?:(?:that\s+)?of\s+|in\s+|for\s+)?(?:the\s+)?|和|与|跟|及|以及|或者?|还是)\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a question, at most `MOST_PARTS`, and the kind of split; no parts if it asks for one thing.

    `dependent` contains the indices of parts that are searched with what the part before them finds.
    """

    parts: tuple[str, ...] = ()
    kind: Kind = ""
    dependent: tuple[int, ...] = ()


def split(question: str) -> Split:
    """Split a question in English or Chinese."""
    text = " ".join(question.split())
    if listed := _LISTED.match(text):
        aspects = [aspect.strip(" ?？.。!！") for aspect in _BETWEEN_ASPECTS.split(listed["aspects"])]
        # A sentence that is not a list may have a comma too.
        if len(aspects) > 1 and all(aspect and len(aspect) <= LONGEST_MEMBER for aspect in aspects):
            topic, space = _EMPTY.sub("", listed["topic"]), "" if language_of(text) == "zh" else " "
            return Split(tuple(f"{topic}{space}{aspect}" for aspect in aspects[:MOST_PARTS]), "aspects")
    asked = list(_questions(text))[:MOST_PARTS]
    if len(asked) > 1:
        dependent = tuple(place for place, (_text, depends) in enumerate(asked) if depends)
        return Split(tuple(part for part, _depends in asked), "questions", dependent)
    if len(text) > LONGEST:
        return Split()
    members = _compared(text)
    if len(members) > 1:
        return Split(members[:MOST_PARTS], "comparison")
    chain = _CHAIN_ZH.search(text) if language_of(text) == "zh" else _CHAIN.search(text)
    if chain is not None:
        name = "inner" if chain["inner"] else "of"
        inner = chain[name].strip()
        rest = set(content_terms(text[: chain.start(name)] + text[chain.end(name) :]))
        if rest - set(content_terms(inner)) and len(set(content_terms(inner))) > 1:
            return Split((inner, text), "chain", (1,))
    return Split()


def usable_parts(parts: Sequence[str], question: str) -> tuple[str, ...]:
    """Return a model's parts of a question, without duplicates, overlong ones and those that name nothing."""
    found: dict[frozenset[str], str] = {}
    for part in parts:
        if (named := frozenset(content_terms(part))) and len(part) <= 2 * max(len(question), LONGEST_MEMBER):
            found.setdefault(named, part)
    return tuple(found.values())[:MOST_PARTS]


def _questions(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the clauses in a text that name something, and whether each refers to the one before it."""
    begun = False
    for sentence in filter(None, _SENTENCES.split(text)):
        for clause in _clauses(sentence.strip()):
            clause = _ALSO.sub("", clause.strip(" ,，;；?？.。!！"))
            if named := content_terms(clause):
                chinese = language_of(clause) == "zh"
                points = _POINTS.search(clause) or (chinese and len(named) < 2)
                yield clause, begun and bool(points)
                begun = True


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence if each asks, or if the last asks about the others; else the sentence."""
    chinese = language_of(sentence) == "zh"
    found = [clause for clause in (_AND_ASKS_ZH if chinese else _AND_ASKS).split(sentence) if clause and clause.strip()]
    asks = re.compile(_ASKS_ZH) if chinese else re.compile(rf"\b{_ASKS_EN}\b", re.IGNORECASE)
    if len(found) < 2 or not all(content_terms(clause) for clause in found):
        return [sentence]
    points = asks.search(found[-1]) and _POINTS.search(found[-1])
    return found if points or all(asks.search(clause) for clause in found) else [sentence]


def _compared(text: str) -> tuple[str, ...]:
    """Return the things that a question compares or joins, each with the rest of the question; empty if it doesn't."""
    for pattern in _COMPARISONS_ZH if language_of(text) == "zh" else _COMPARISONS:
        if match := pattern.search(text):
            first, second = (match[name].strip(' ,，"“”') for name in ("a", "b"))
            a, b = _EMPTY.sub("", first), _EMPTY.sub("", second)
            if not (content_terms(a) and content_terms(b)) or max(len(a), len(b)) > LONGEST_MEMBER:
                continue
            if "的" in b and "的" not in a:
                a += b[b.index("的") :]  # 甲和乙的价格
            elif a.isalpha() and a.islower() and " " in b and second == b and b.islower():
                a = f"{a} {b.split()[-1]}"  # "full and incremental backups"
            before = _EMPTY.sub("", match["before"].strip() + " ")
            after = (match.groupdict().get("after") or "").replace("分别", "").strip(" ,，")
            space = "" if language_of(text) == "zh" else " "
            return tuple(space.join(filter(None, (before.strip(), member, after.strip()))) for member in (a, b))
    return _named_together(text)


def _named_together(text: str) -> tuple[str, ...]:
    """Return the question once for each of the names that it joins: "the defaults of work_mem and temp_buffers"."""
    places = sorted((text.find(name), text.find(name) + len(name)) for name in names(text) if name in text)
    run: list[tuple[int, int]] = []
    for one, other in pairwise(places):
        if one[1] <= other[0] and _BETWEEN_NAMES.fullmatch(text[one[1] : other[0]]):
            run = run or [one]
            if run[-1] == one:
                run.append(other)
    if len(run) < 2:
        return ()
    before, after = text[: run[0][0]], text[run[-1][1] :]
    of_last = text[: run[-1][1] + 2].endswith(("'s", "’s")) or text[: run[-1][1]].endswith(("'s", "’s"))
    return tuple(
        f"{before}{text[start:end]}{'' if of_last and end != run[-1][1] else after}".strip(" ?？") for start, end in run
    )
