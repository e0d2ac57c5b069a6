"""Quotes of passages: the sentences that answer, with those that they can't be understood without. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from conversations.pipeline.writing.quoting.candidates import Candidate
from conversations.pipeline.writing.quoting.introductions import (
    LIST_ITEM,
    MAX_LIST_LINES,
    announced,
    announces,
    ends_in_colon,
)
from knowledge.chunking.sections import MARK
from ragsite.language.answer_types import asks_which
from retrieval.answerability.question_weights import QuestionWord, coverage
from retrieval.answerability.units import unit_terms
from retrieval.search import Hit

# Chosen by hand on the same questions as the limits in `extractive`: the most columns of a procedure quoted from its
# beginning; the longest heading, in columns, that a sentence is quoted with, and the least share of a question that it
# adds.
MAX_PROCEDURE_COLUMNS = 620
MAX_LABEL_COLUMNS, LABEL_SHARE = 90, 0.05

# The beginning of a definition: the term and a colon.
_TERM = re.compile(r"[^\s-][^.。:：\n]{1,80}[:：] ?\S")
_STEP = re.compile(r"\s*(?:[-*•]\s|\d{1,2}[.)、](?!\d)|[(（]?[a-z\d]{1,2}[)）]|步[骤驟])\s*\S", re.IGNORECASE)
# The beginning of a sentence that can't be understood without the one before it.
_REFERS_BACK = re.compile(
    r"(?:It|They|Th(?:is|ese|at|ose)|He|She|Its|Their|In this case|If so|Otherwise|The (?:default|same|[lf]\w+er))\b"
    r"|[它他她牠这這该該此其]|默[认認]|否[则則]|如果是"
)
_SECTION_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*\.?|第[一二三四五六七八九十\d]+[章节条部分]+)\s+")
_SENTENCE_END = re.compile(r"[.!?。！？…；;][\"'”’」』）)\]]*\s*$")


@dataclass(slots=True)
class Quote:
    """Sentences of one passage: the one that answers, then others in their order there.

    Each keeps the whitespace after it. `hit` is the passage's position among the hits; `gaps` contains the indices of
    sentences before which something is left out. `label` is the heading, or the document, that says what the first one
    is about; empty if it says so itself. With `in_order`, it is a list or a procedure.
    """

    hit: int
    sentences: list[str] = field(default_factory=list)
    gaps: set[int] = field(default_factory=set)
    label: str = ""
    in_order: bool = False


def quote_of(
    position: int,
    texts: Sequence[str],
    taken: Sequence[Candidate],
    ranked: Sequence[Candidate],
    procedural: bool,
    whole: bool,
) -> Quote:
    """Return the quote of a text: its best sentence, then the others and those that they can't be understood without.

    A `whole` section is quoted from its beginning, since it describes step by step how to do what the question asks.
    """
    best = taken[0].position
    wanted = {unit.position for unit in taken}
    for unit in taken:
        wanted |= _needed(unit, texts, ranked)
        if procedural and (_STEP.match(unit.text) or announces(texts[unit.position])):
            wanted |= _procedure(texts, unit.position)
    if whole:
        begun = [
            number
            for number, columns in enumerate(accumulate(map(_columns, texts)))
            if columns <= MAX_PROCEDURE_COLUMNS
        ]
        code = {number - 1 for number in wanted if texts[number].startswith("```")}  # its introduction stays
        while begun and begun[-1] not in code and is_label(texts[begun[-1]]):
            begun.pop()
        wanted |= set(begun)
    rest = sorted(position for position in wanted - {best} if texts[position].strip())
    # A list follows the line that introduces it, and steps are quoted in order.
    in_steps = any(_STEP.match(texts[number]) for number in (best, *rest))
    in_order = whole or in_steps or announces(texts[best])
    order = sorted([best, *rest]) if in_order else [best, *rest]
    order = [number for number in order if not texts[number].startswith(MARK)]
    while len(order) > 1 and (last := order[-1]) != best:
        before_code = last + 1 < len(texts) and texts[last + 1].startswith("```") and is_label(texts[last])
        if not before_code and not ends_in_colon(texts[last]):
            break
        order.pop()  # it only introduces the text after it
    gaps = {index for index in range(1, len(order)) if order[index] != order[index - 1] + 1}
    return Quote(position, [texts[number] for number in order], gaps, in_order=in_order)


def _needed(unit: Candidate, texts: Sequence[str], ranked: Sequence[Candidate]) -> set[int]:
    """Return the sentences that one can't be understood without.

    They are the ones that it introduces, or the line that introduces its list; the one before it, if it starts with a
    word that refers back; and the term that its paragraph defines.
    """
    needed: set[int] = set()
    number = unit.position
    if LIST_ITEM.match(unit.text):
        above = number
        while above > 0 and not announces(texts[above]) and number - above <= MAX_LIST_LINES:
            above -= 1
        introduces = above < number and not LIST_ITEM.match(texts[above]) and announces(texts[above])
        if introduces and LIST_ITEM.match(texts[above + 1]):
            needed.add(above)
    if announces(texts[number]):
        needed.update(announced(texts, number))
    mine = [other.position for other in ranked if (other.hit, other.paragraph) == (unit.hit, unit.paragraph)]
    first = min(mine, default=number)
    if number > first and _REFERS_BACK.match(unit.text):
        needed.add(number - 1)
    if number > first and _TERM.match(texts[first]):
        needed.add(first)
    return needed


def is_label(text: str) -> bool:
    """Return whether a text is neither a sentence nor a step nor code."""
    return not (text.startswith("```") or _STEP.match(text) or _SENTENCE_END.search(text))


def _procedure(texts: Sequence[str], number: int) -> set[int]:
    """Return the steps around one, from the line that introduces them."""
    first = number
    while first > 0 and _STEP.match(texts[first]):
        first -= 1
    taken: set[int] = set()
    columns = 0
    for position in range(first, len(texts)):
        columns += _columns(texts[position])
        if columns > MAX_PROCEDURE_COLUMNS or (position > number and not _STEP.match(texts[position])):
            break
        taken.add(position)
    return taken


def _columns(text: str) -> int:
    """Return the width of a text in columns; a Chinese character counts as two."""
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)


def label_of(
    question: str, asked: Sequence[QuestionWord], hit: Hit, texts: Sequence[str], quoted: Sequence[str]
) -> str:
    """Return the headings that say what a quote is about, if its sentences don't; else an empty string.

    They are needed if the question asks which thing something is true of, if the first sentence refers back, or if they
    hold words of the question that the sentences lack.
    """
    above = [part for part in hit.heading.split(" › ") if part]
    first = texts.index(quoted[0])
    above += [text.removeprefix(MARK).strip() for text in texts[:first] if text.startswith(MARK)][-1:]
    if len(above) > 1 and above[0] == hit.title:
        above = above[1:]
    # The subject of a sentence that refers back may be in a sentence that is quoted after it.
    refers_back = bool(_REFERS_BACK.match(quoted[0]))
    said = frozenset[str]().union(*map(unit_terms, quoted[:1] if refers_back else quoted))
    own = [bare for part in above if not unit_terms(bare := _SECTION_NUMBER.sub("", part)) <= said]
    label = " › ".join(own[-2:]).rstrip(":：")
    if not own or _columns(label) > MAX_LABEL_COLUMNS or label.endswith(("?", "？")) or quoted[0].startswith("```"):
        return ""
    adds = coverage(asked, said | unit_terms(label)) - coverage(asked, said) >= LABEL_SHARE
    return label if adds or refers_back or asks_which(question) else ""
