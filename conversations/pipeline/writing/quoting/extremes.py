"""Recognise questions that count things or ask for the one with the lowest or highest value. Pure."""

import re
from dataclasses import dataclass
from typing import Literal

from ragsite.language.answer_types import asks_which, superlative_in
from ragsite.language.quantities import is_unit, quantities
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import lines_of, words_of

_MEASURE_WORDS = "个种名位款类项家间台辆条本份张道只件座所处门部艘架支套栋"
_HOW_MANY = re.compile(
    r"\b(?:how many|(?:what is |give me )?the (?:total )?number of)\s+(?:different\s+|kinds of\s+|types of\s+)?"
    r"(?P<thing>(?:[\w-]+\s+){0,2}?[\w-]+)"
    r"(?=\s+(?:are|is|do|does|did|have|has|had|can|were|was|in|of|on|at|there|will|must|should|exist|with|from)\b|\W*$)",
    re.IGNORECASE,
)
_HOW_MANY_ZH = re.compile(
    rf"(?:多少|几)(?P<measure>[{_MEASURE_WORDS}]?)(?P<thing>[\u4e00-\u9fff]{{0,6}}?)"
    r"(?=[？?，,。！!\s]|$|在|是|可|能|要|吗|呢|参|有)"
)
# What 多少 and 几 measure, besides units.
_AMOUNTS = frozenset({"钱", "点", "点钟", "时候", "次", "倍"})
_OF_PRICES = frozenset(f"{lines_of('lowest')[0]} {lines_of('highest')[0]} expensive".split())
_LOW = frozenset(words_of("lowest"))
# "最便宜的是什么", "最便宜的配件叫什么" ask for one of all things without 哪.
_OF_ALL = re.compile(r"的.{0,12}?(?:什么|啥|多少)")
_OTHER_ADJECTIVE = re.compile(r"\W*(?:\w+(?:able|ible|ful|ive|ant|ent|ous|al|ed|ing)|of|suit\w*|common\w*)\b", re.I)


@dataclass(frozen=True, slots=True)
class Counted:
    """The thing that a question counts, its Chinese measure word, and the words that ask for the number."""

    thing: str
    measure: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Extreme:
    """The superlative of a question, the end of the order that it asks for, and whether it is one of prices."""

    word: str
    end: Literal["lowest", "highest"]
    is_price: bool


def counted_in(question: str) -> Counted | None:
    """Return what a question counts, as in "How many dishes …?", or None; units, as of time, are measured."""
    question = simplified(question)
    if found := _HOW_MANY.search(question):
        return None if is_unit(found["thing"]) else Counted(found["thing"], words=found[0])
    found = _HOW_MANY_ZH.search(question)
    if found is None or not found["measure"] + found["thing"]:
        return None
    # What follows a unit is measured, not counted: 多少天年假. With a measure word, it is a thing: 几个分馆.
    thing = found["thing"]
    beginnings = (thing,) if found["measure"] else (thing[:1], thing[:2], thing)
    if any(each in _AMOUNTS or is_unit(each) for each in beginnings):
        return None
    return Counted(found["thing"], found["measure"], found[0])


def extreme_in(question: str) -> Extreme | None:
    """Return the superlative by which a question chooses among things, or None."""
    question = simplified(question)
    found = superlative_in(question)
    if found is None:
        return None
    is_price = bool(found.adjective) or found.word in _OF_PRICES
    if found.text.startswith("最"):
        chooses = asks_which(question) or bool(_OF_ALL.match(question, found.end))
    elif found.word in {"most", "least"} and not found.adjective and _OTHER_ADJECTIVE.match(question, found.end):
        chooses = False
    else:
        chooses = is_price or asks_which(question)
    end: Literal["lowest", "highest"] = "lowest" if found.word in _LOW else "highest"
    return Extreme(found.text.lower(), end, is_price) if chooses else None


def states_count(counted: Counted, terms: frozenset[str], text: str, sentence: frozenset[str]) -> bool:
    """Return whether a sentence with some terms states the number of a thing, which has `terms`."""
    if not quantities(text):
        return False
    by_measure = counted.measure and re.search(
        rf"[\d一二两三四五六七八九十百千万]\s*{counted.measure}", simplified(text)
    )
    return bool(by_measure) or (bool(terms) and terms <= sentence)
