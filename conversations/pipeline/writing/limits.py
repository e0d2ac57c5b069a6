"""Recognises questions for the things below or above a limit: "cheaper than 30 euros", 低于200元. Pure."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from conversations.pipeline.writing.columns import CURRENCIES, Dimension, dimensions_of
from ragsite.language.answer_types import asks_which, wants_list
from ragsite.language.quantities import Quantity, quantities
from ragsite.language.simplified import simplified

Sign = Literal["<", "≤", ">", "≥"]

_MORE = r"more|higher|greater|larger|bigger|heavier|longer|taller|wider|faster|costlier|pricier|dearer"
_LESS = r"less|lower|fewer|smaller|lighter|shorter|narrower|slower|cheaper"
# What precedes the number; a word such as "cheaper" or "heavier" also says what is compared.
_BEFORE: tuple[tuple[Sign, re.Pattern[str]], ...] = tuple(
    (sign, re.compile(rf"(?:\b(?:{english})|{chinese})\s*$", re.IGNORECASE))
    for sign, english, chinese in (
        ("≤", rf"at most|up to|(?:no|not) (?:{_MORE}) than", "不超过|不高于|不多于|不大于|至多"),
        ("≥", rf"at least|(?:no|not) (?:{_LESS}) than", "不低于|不少于|不小于|至少"),
        ("<", rf"(?P<word>{_LESS})(?:\s+expensive)? than|under|below", "低于|少于|小于|短于|轻于|不到|不足"),
        (">", rf"(?P<word>{_MORE})(?:\s+expensive)? than|over|above|exceed(?:s|ing)?", "[高多大长重]于|超过|超出"),
    )
)  # fmt: skip
# What follows it; after 比, an adjective.
_AFTER: tuple[tuple[Sign, re.Pattern[str]], ...] = (
    ("≤", re.compile(r"\s*(?:以下|以内|之内|及以下|或以下|or (?:less|fewer|below|cheaper)\b)", re.I)),
    ("≥", re.compile(r"\s*(?:及以上|或以上|以上|or (?:more|above)\b)", re.I)),
    ("<", re.compile(r"(?:还|更)?(?P<word>便宜|轻|短|慢|窄|少|低)(?=的|[？?]|$)")),
    (">", re.compile(r"(?:还|更)?(?P<word>贵|重|长|快|宽|多|高)(?=的|[？?]|$)")),
)
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


def limit_in(question: str) -> Limit | None:
    """Return the limit by which a question chooses among things, or None; with several numbers, the one limited."""
    question = simplified(question)
    if not (asks_which(question) or wants_list(question) or _HOW_MANY.search(question)):
        return None
    for quantity in quantities(question):
        if quantity.spelled:  # "over a year"
            continue
        before, after = question[: quantity.start].rstrip("€$£¥￥ "), question[quantity.end :]
        for sign, pattern in _BEFORE:
            if found := pattern.search(before):
                return _limit(question, quantity, sign, found, question[found.start() : quantity.end])
        for sign, pattern in _AFTER:
            found = pattern.match(after)
            if found and ("word" not in found.groupdict() or _THAN_ZH.search(before)):
                return _limit(question, quantity, sign, found, question[quantity.start : quantity.end + found.end()])
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
