"""Adds the words of the conversation that a question needs, and resolves "the former" and "the latter". Pure."""

import re
from collections.abc import Sequence

from conversations.pipeline.understanding.carry_over import Known, needed
from ragsite.language.answer_types import superlative_in
from ragsite.language.content_words import NAMES_NOTHING, content_terms, words
from ragsite.language.simplified import simplified

_ALONE = r"(?=\W|$|的|呢|怎|如|是|有)"
_FORMER = re.compile(rf"\b(?:the\s+)?(?:former|first\s+one)\b|前者|前一[个种]|第一[个种]{_ALONE}", re.I)
_LATTER = re.compile(rf"\b(?:the\s+)?(?:latter|second\s+one)\b|后者|后一[个种]|第二[个种]{_ALONE}", re.I)
# A code of letters and a number: "LS-2408".
_CODE = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{1,10})-?\d[A-Za-z0-9.-]*(?<![.-])")
# The words and marks between two things named together.
_BETWEEN = re.compile(r"\s+(?:and|or|versus|vs\.?)\s+(?:(?:an?|the)\s+)?|和|与|跟|及|或者?|还是|、", re.I)
# The most words of one of two things: "UNION ALL", "exclusion constraint".
LONGEST_NAME = 3


def with_carried_words(question: str, earlier: Sequence[str], known: Known) -> tuple[str, tuple[str, ...]]:
    """Return a question preceded by the words that it needs from earlier ones (oldest first), and these words.

    "The former" and "the latter" are replaced by one of two things that were named together; nothing else is carried
    over from the question that names them, as that would bring in the other one. A question that `asks_the_same` is
    replaced by the one that it changes.
    """
    if full := asks_the_same(question, earlier):
        own = set(words(question))
        return full, tuple(word for word in words(full) if content_terms(word) and word not in own)
    resolved, replaced, left = resolve(question, earlier)
    carried = needed(resolved, left, known)
    return " ".join([*carried, resolved]), (*replaced, *carried)


def asks_the_same(question: str, earlier: Sequence[str]) -> str:
    """Return an earlier question (oldest first) with the code or superlative that a question consists of, or "".

    "And the LS-2424?" asks the same of another thing, "and the cheapest?" for the other end.
    """
    codes = {match[0]: match[1].lower() for match in _CODE.finditer(question)}
    if len(codes) == 1 and not content_terms(_CODE.sub(" ", question)):
        ((code, kind),) = codes.items()
        for asked in reversed(earlier):
            before = {match[0] for match in _CODE.finditer(asked) if match[1].lower() == kind}
            if content_terms(_CODE.sub(" ", asked)):
                return asked.replace(before.pop(), code) if len(before) == 1 and code not in before else ""
    end = superlative_in(question)
    if end and set(content_terms(question[: end.start] + question[end.end :])) <= NAMES_NOTHING:
        for asked in reversed(earlier):
            if other := superlative_in(asked):
                return asked[: other.start] + end.text + asked[other.end :]
    return ""


def resolve(question: str, earlier: Sequence[str]) -> tuple[str, tuple[str, ...], Sequence[str]]:
    """Return the question with "the former" or "the latter" replaced, the replacements, and the remaining questions.

    If it contains neither, or no two things were named, the questions are returned unchanged.
    """
    for pattern, side in ((_FORMER, 0), (_LATTER, 1)):
        found = [match.span() for match in pattern.finditer(simplified(question))]
        if not found:
            continue
        for index in range(len(earlier) - 1, -1, -1):
            if two := pair(earlier[index]):
                resolved = question
                for start, end in reversed(found):
                    resolved = resolved[:start] + two[side] + resolved[end:]
                return resolved, (two[side],), [*earlier[:index], *earlier[index + 1 :]]
    return question, (), earlier


def pair(text: str) -> tuple[str, str] | None:
    """Return two things that a text names together, or None: "页眉和页脚", "UNION and UNION ALL"."""
    for match in _BETWEEN.finditer(simplified(text)):
        left = _name(words(text[: match.start()])[::-1])[::-1]
        right = _name(words(text[match.end() :]))
        if left and right:
            return _as_written(text, left), _as_written(text, right)
    return None


def _name(following: Sequence[str]) -> list[str]:
    """Return the words up to the first one that names nothing."""
    found: list[str] = []
    for word in following[:LONGEST_NAME]:
        if not content_terms(word):
            break
        found.append(word)
    return found


def _as_written(text: str, name: Sequence[str]) -> str:
    spaced = " ".join(name)
    return spaced if spaced in text else "".join(name)
