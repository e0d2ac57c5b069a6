"""Recognises the limits that questions choose by ("cheaper than 30 euros", 低于200元), and ranges in tables. Pure."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from conversations.pipeline.writing.quoting.columns import CURRENCIES, Dimension, dimensions_of
from ragsite.language.answer_types import asks_which, wants_list
from ragsite.language.quantities import Quantity, quantities
from ragsite.language.simplified import simplified

Sign = Literal["<", "≤", ">", "≥"]

_MORE = r"more|higher|greater|larger|bigger|heavier|longer|taller|wider|faster|costlier|pricier|dearer"
_LESS = r"less|lower|fewer|smaller|lighter|shorter|narrower|slower|cheaper"
# What precedes the number; a word such as "cheaper" or "heavier" also says what is compared.
_STATED: tuple[tuple[Sign, str, str], ...] = (
    ("≤", rf"at most|up to|(?:no|not) (?:{_MORE}) than", "不超过|不高于|不多于|不大于|至多"),
    ("≥", rf"at least|(?:no|not) (?:{_LESS}) than", "不低于|不少于|不小于|至少"),
    ("<", rf"(?P<word>{_LESS})(?:\s+expensive)? than|under|below", "低于|少于|小于|短于|轻于|不到|不足|不满|未满"),
    (">", rf"(?P<word>{_MORE})(?:\s+expensive)? than|over|above|exceed(?:s|ing)?", "[高多大长重]于|超过|超出"),
)
_BEFORE = tuple(
    (sign, re.compile(rf"(?:\b(?:{english})|{chinese})\s*$", re.IGNORECASE)) for sign, english, chinese in _STATED
)
# What follows it; after 比, an adjective.
_AFTER: tuple[tuple[Sign, re.Pattern[str]], ...] = (
    ("≤", re.compile(r"\s*(?:以下|以内|之内|及以下|或以下|(?:or|and) (?:less|fewer|below|under|cheaper)\b)", re.I)),
    ("≥", re.compile(r"\s*(?:及以上|或以上|以上|起|(?:or|and) (?:more|above|over)\b)", re.I)),
    ("<", re.compile(r"(?:还|更)?(?P<word>便宜|轻|短|慢|窄|少|低)(?=的|[？?]|$)")),
    (">", re.compile(r"(?:还|更)?(?P<word>贵|重|长|快|宽|多|高)(?=的|[？?]|$)")),
)
_TO = re.compile(r"\s*(?:to|and|until|[-–—~～至到])\s*")
_THAN_ZH = re.compile(r"比\s*$")
_HOW_MANY = re.compile(r"\bhow many\b|(?:多少|几)[个种款项件家台把辆条本位名]", re.I)
_OF_PRICES = re.compile(r"\b(?:cheaper|costlier|pricier|dearer|expensive|costs?|prices?d?)\b|便宜|贵|价|费")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on things: its sign, its number with the unit ("" if unknown), and what is compared.

    `text` is the number as written, and `words` all words of the question that state the limit.
    """

    sign: Sign
    value: Decimal
    unit: str
    text: str
    words: str
    dimensions: tuple[Dimension, ...] = ()
    is_price: bool = False

    def admits(self, value: Decimal) -> bool:
        """Return whether a value is within the limit."""
        if self.sign in "<≤":
            return value < self.value or (self.sign == "≤" and value == self.value)
        return value > self.value or (self.sign == "≥" and value == self.value)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range of a quantity, in the common unit of its kind; either end may be open (None) or included."""

    kind: str
    lowest: Decimal | None = None
    highest: Decimal | None = None
    includes_lowest: bool = True
    includes_highest: bool = True

    def meets(self, other: "Bounds") -> bool:
        """Return whether two ranges of the same kind have a value in common."""
        return self.kind == other.kind and self._begins_within(other) and other._begins_within(self)

    def _begins_within(self, other: "Bounds") -> bool:
        if self.lowest is None or other.highest is None or self.lowest < other.highest:
            return True
        return self.lowest == other.highest and self.includes_lowest and other.includes_highest


def limit_in(question: str) -> Limit | None:
    """Return the limit by which a question chooses among things, or None; with several numbers, the one limited."""
    question = simplified(question)
    if not (asks_which(question) or wants_list(question) or _HOW_MANY.search(question)):
        return None
    for quantity in quantities(question):
        if not quantity.spelled and (stated := _stated(question, quantity)):  # "over a year"
            sign, found, words = stated
            return _limit(question, quantity, sign, found, words)
    return None


def bounds_in(cell: str) -> Bounds | None:
    """Return the range that a table's cell states, such as "500 g to 2 kg", 六年以上 or "up to 10", or None."""
    cell = simplified(cell)
    found = quantities(cell)
    if len(found) == 2 and _TO.fullmatch(cell[found[0].end : found[1].start]):
        first = found[0] if found[0].unit else replace(found[0], unit=found[1].unit)
        return Bounds(found[1].kind, first.size, found[1].size) if first.kind == found[1].kind else None
    if len(found) != 1 or _stated(cell, found[0]) is None:
        return None
    return bounds_of(cell, found[0])


def bounds_of(text: str, quantity: Quantity) -> Bounds:
    """Return the range that a text in simplified Chinese or English limits its quantity to, or the quantity alone."""
    sign, size = (_stated(text, quantity) or ("", None))[0], quantity.size
    if not sign:
        return Bounds(quantity.kind, size, size)
    if sign in "<≤":
        return Bounds(quantity.kind, highest=size, includes_highest=sign == "≤")
    return Bounds(quantity.kind, lowest=size, includes_lowest=sign == "≥")


def _stated(text: str, quantity: Quantity) -> tuple[Sign, re.Match[str], str] | None:
    """Return the sign of the limit that a quantity is in a text, with what states it and its words, or None."""
    before, after = text[: quantity.start].rstrip("€$£¥￥ "), text[quantity.end :]
    for sign, pattern in _BEFORE:
        if found := pattern.search(before):
            return sign, found, text[found.start() : quantity.end]
    for sign, pattern in _AFTER:
        found = pattern.match(after)
        if found and ("word" not in found.groupdict() or _THAN_ZH.search(before)):
            return sign, found, text[quantity.start : quantity.end + found.end()]
    return None


def _limit(question: str, quantity: Quantity, sign: Sign, found: re.Match[str], words: str) -> Limit:
    said = [found.groupdict().get("word") or "", *re.findall(r"[a-z]+", question.casefold())]
    dimensions = {each.names: each for word in said if word for each in dimensions_of(word.casefold())}
    # "km/h" is no unit of length, and things that are counted have none.
    per = re.match(r"/[^\W\d_]+", question[quantity.end :])
    unit = "" if per or quantity.kind == "count" else quantity.unit
    asking = [word for word in said if any(word in each.asking for each in dimensions.values())]
    of_prices = _OF_PRICES.findall(question.casefold())
    return Limit(
        sign,
        quantity.value,
        unit,
        question[quantity.start : quantity.end].strip() + (per[0] if per else ""),
        " ".join([words + (per[0] if per else ""), *asking, *of_prices]),
        tuple(dimensions.values()),
        unit in CURRENCIES or bool(of_prices),
    )
