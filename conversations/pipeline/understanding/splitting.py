"""Splits texts that ask several things into parts to search one by one, by rules. Pure.

The figures are in docs/decisions/thorough.md.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragsite.language.content_words import content_terms
from ragsite.language.detection import language_of
from ragsite.language.questions import AUXILIARIES
from ragsite.language.simplified import as_written, simplified
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH

Kind = Literal["", "questions", "aspects"]

MOST_PARTS = 4
LONGEST_ASPECT = 80  # characters; anything longer is a clause

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
# Words before a topic that name nothing.
_EMPTY = re.compile(
    r"^(?:(?:please|can you|could you|tell me|explain|describe|show|list|give me|what['’]?s?|which|is|are|do|does|how"
    r"|the|a|an|of|on|facts|there|any|main|key)\s+)+|^(?:请问?|帮我|一下|说明|说说|解释|介绍|列出|告诉我)+",
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
    written = " ".join(question.split())
    text = simplified(written)
    if listed := _LISTED.match(text):
        aspects = [aspect.strip(" ?？.。!！") for aspect in _BETWEEN_ASPECTS.split(listed["aspects"])]
        # A sentence that is not a list may have a comma too.
        if len(aspects) > 1 and all(aspect and len(aspect) <= LONGEST_ASPECT for aspect in aspects):
            topic, space = _EMPTY.sub("", listed["topic"]), "" if language_of(text) == "zh" else " "
            before = as_written(topic, written) + space
            return Split(tuple(before + as_written(aspect, written) for aspect in aspects[:MOST_PARTS]), "aspects")
    asked = list(_questions(text))[:MOST_PARTS]
    if len(asked) > 1:
        dependent = tuple(place for place, (_text, depends) in enumerate(asked) if depends)
        return Split(tuple(as_written(part, written) for part, _depends in asked), "questions", dependent)
    return Split()


def usable_parts(parts: Sequence[str], question: str) -> tuple[str, ...]:
    """Return a model's parts of a question, without duplicates, overlong ones and those that name nothing."""
    found: dict[frozenset[str], str] = {}
    for part in parts:
        if (named := frozenset(content_terms(part))) and len(part) <= 2 * max(len(question), LONGEST_ASPECT):
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
