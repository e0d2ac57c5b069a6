"""Splitting a question that compares, joins or chains into parts that can be searched one by one, by rules. Pure.

The figures are in docs/decisions/thorough.md.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from conversations.citations.facts import names
from conversations.pipeline.understanding.context_dependence import dependence_on_context
from conversations.pipeline.understanding.keywords import content_terms, words
from conversations.pipeline.understanding.rules import POINTING
from ragsite.language import language_of

Kind = Literal["", "questions", "comparison", "chain"]

MOST_PARTS = 4
# Characters of a member of a comparison; more is a clause.
LONGEST_MEMBER = 80

_ASKS_EN = (
    r"(?:what|how|when|where|which|who|whose|why|is|are|was|were|does|do|did|can|could|should|will|would|must|may)"
)
_ASKS_ZH = (
    "什么|怎么|怎样|如何|哪|为什么|为何|多少|几[个种项步天次年]|是否|能否|可否|多[长大久高快]|吗|呢|有何|何时|何处|谁"
)
# Where one question of several ends.
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
_JOINED_ZH = r"(?:和|与|跟|同|及|以及|或|或者|、)"
_COMPARISONS_ZH = tuple(
    re.compile(pattern + _END)
    for pattern in (
        rf"^(?P<before>.*?)(?:比较|对比)(?:一下|下)?(?P<a>.+?){_JOINED_ZH}(?P<b>.+?)(?P<after>(?:的|在).*?)?",
        rf"^(?P<before>(?:在.+?(?:中|里|上|时|下)[,，]?)?)(?P<a>.+?){_JOINED_ZH}(?P<b>.+?)(?:之间)?的?(?:有什么|有何|有啥|有哪些|存在什么)?"
        r"(?P<after>)的?(?:主要|本质|根本)?的?(?:区别|不同|差别|差异|异同|关系|联系|共同点|相同点).*?",
        rf"^(?P<before>(?:在.+?(?:中|里|上|时|下)[,，]?)?)(?P<a>.+?){_JOINED_ZH}(?P<b>.+?)(?P<after>(?:分别|各自|各|相比|哪个|哪种|谁).+?)",
        r"^(?P<before>.*?(?:用|使用|选择?|采用|应该?|是|，))(?P<a>.+?)还是(?P<b>.+?)(?P<after>)",
    )
)
_CHAIN = re.compile(
    r"\b(?P<inner>(?:the|a|an|any)\s+(?:(?!(?:the|an?|any)\b)[\w.-]+\s+){1,4}?"
    r"(?:that|which|who|whose|(?:is\s+)?(?:used|needed|meant|intended)\s+(?:to|for|by)|responsible\s+for|with\s+which|by\s+which)\s+.+?)"
    + _END,
    re.IGNORECASE,
)
_CHAIN_ZH = re.compile(r"^(?P<inner>.{4,60}?的[^的，,。？?]{1,10})的(?P<rest>[^的，,]{2,20}?)" + _END)
# What stands before a member and names nothing.
_EMPTY = re.compile(
    r"^(?:(?:please|can you|could you|tell me|explain|describe|show|list|give me|what['’]?s?|which|is|are|do|does|how"
    r"|the|a|an|of|there|any|main|key)\s+)+|^(?:请问?|帮我|一下|说明|解释|介绍|列出|告诉我|请解释|请说明)+",
    re.IGNORECASE,
)
# What joins names: "work_mem, shared_buffers and temp_buffers".
_BETWEEN_NAMES = re.compile(
    r"\s*(?:,|，|、|,?\s+(?:and|or)\s+(?:the\s+)?|和|与|跟|及|以及|或者?|还是)\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a question, at most `MOST_PARTS`, and by what they were told; none of a question that is one.

    Of a `chain` the first part finds what the second, the question itself, needs to be searched by.
    """

    parts: tuple[str, ...] = ()
    kind: Kind = ""


def split(question: str) -> Split:
    """Split a question in English or Chinese."""
    text = " ".join(question.split())
    asked = tuple(_questions(text))
    if len(asked) > 1:
        return Split(asked[:MOST_PARTS], "questions")
    members = _compared(text)
    if len(members) > 1:
        return Split(members[:MOST_PARTS], "comparison")
    chain = (_CHAIN_ZH.search if language_of(text) == "zh" else _CHAIN.search)(text)
    if chain is not None:
        inner = chain["inner"].strip()
        rest = set(content_terms(text[: chain.start("inner")] + text[chain.end("inner") :]))
        if rest - set(content_terms(inner)) and len(set(content_terms(inner))) > 1:
            return Split((inner, text), "chain")
    return Split()


def usable_parts(parts: Sequence[str], question: str) -> tuple[str, ...]:
    """Return what a model gives as the parts of a question: on one line each, named ones only, none twice."""
    found: dict[frozenset[str], str] = {}
    for part in parts:
        if (named := frozenset(content_terms(part))) and len(part) <= 2 * max(len(question), LONGEST_MEMBER):
            found.setdefault(named, part)
    return tuple(found.values())[:MOST_PARTS]


def _questions(text: str) -> Iterator[str]:
    """Yield the questions in a text that each ask for something, a later one with what it points at."""
    first = ""
    for sentence in filter(None, _SENTENCES.split(text)):
        clauses = _clauses(sentence.strip())
        for clause in clauses:
            clause = clause.strip(" ,，;；?？.。!！")
            if not content_terms(clause):
                continue
            known = set(content_terms(clause))
            points = first and dependence_on_context(clause) in POINTING
            lacking = [word for word in words(first) if points and not known.issuperset(content_terms(word))]
            yield " ".join([clause, *dict.fromkeys(lacking)])
            first = first or clause


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence, if each asks; else the sentence."""
    chinese = language_of(sentence) == "zh"
    found = [clause for clause in (_AND_ASKS_ZH if chinese else _AND_ASKS).split(sentence) if clause and clause.strip()]
    asks = re.compile(_ASKS_ZH) if chinese else re.compile(rf"\b{_ASKS_EN}\b", re.IGNORECASE)
    if len(found) > 1 and all(asks.search(clause) and content_terms(clause) for clause in found):
        return found
    return [sentence]


def _compared(text: str) -> tuple[str, ...]:
    """Return what a question compares or joins, each with the rest of the question; nothing where it does neither."""
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
            after = (match.groupdict().get("after") or "").replace("分别", "")
            space = "" if language_of(text) == "zh" else " "
            return tuple(space.join(filter(None, (before.strip(), member, after.strip()))) for member in (a, b))
    return _named_together(text)


def _named_together(text: str) -> tuple[str, ...]:
    """Return the question for each of the names that it joins: "the defaults of work_mem and temp_buffers"."""
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
    return tuple(f"{before}{text[start:end]}{after}".strip(" ?？") for start, end in run)
