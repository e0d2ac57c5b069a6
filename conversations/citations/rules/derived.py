"""Numbers that a sentence derives from those in its source. Pure."""

import re
from collections.abc import Sequence
from itertools import combinations

from conversations.citations.source import Source
from ragsite.language.quantities import SCALES, Quantity

_NEXT_YEAR = re.compile(r"\b(?:next|following) year\b|\b(?:a|one) year later\b|\byear after\b|[次翌]年|第二年", re.I)
_BETWEEN_ITEMS = re.compile(r"\s*[,、]\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*(?:以及|和|与|及)\s*")
_END_OF_LIST = re.compile(r"[.;。；:：]\s*$|[.;。；]\s")
# The numbers of items that a sentence may announce before listing them.
_COUNTED = range(2, 13)


def is_derived(quantity: Quantity, text: str, mine: Sequence[Quantity], source: Source) -> bool:
    """Return whether a number of a sentence follows from other numbers in the sentence or its source.

    It may count the items that the sentence lists, be the year after another, the number of years between two, the
    percentage of a factor, or a table's number in the unit of its heading, such as "EUR million" or 单位：万元.
    """
    for scale, factor in SCALES.items():
        if scale in source.text and any(other.value * factor == quantity.value for other in source.quantities):
            return True
    # "two parameters, a and b", "三种颜色：红、黄和蓝"
    if quantity.value in _COUNTED and quantity.kind in ("", "count"):
        rest = _END_OF_LIST.split(text[quantity.end :].rstrip(".。 "), maxsplit=1)[0]
        for lead in (":", "：", ",", "，", "(", "（", " - ", "—"):
            _, found, listed = rest.partition(lead)
            if found and len([item for item in _BETWEEN_ITEMS.split(listed) if item.strip()]) == quantity.value:
                return True
    if quantity.unit == "year":
        for numbers in (mine, *(clause.quantities for clause in source.clauses)):
            ends = {other.value for other in numbers if other.may_be_a_year}
            if any(year + quantity.value in ends for year in ends):
                return True
    for sentence in source.sentences:
        years = (other.value for other in sentence.quantities if other.may_be_a_year)
        if quantity.may_be_a_year and quantity.value - 1 in years and _NEXT_YEAR.search(sentence.text):
            return True
    # 38 % more is 1.38 times as much.
    return quantity.unit == "%" and any(
        other.unit == "times" and other.value == 1 + quantity.value / 100 for other in source.quantities
    )


def may_be_calculated(quantity: Quantity, source: Source) -> bool:
    """Return whether a number is the sum or the difference of two numbers of its kind in the source."""
    values = {other.value for other in source.quantities if other.kind == quantity.kind}
    return any(quantity.value in (one + other, abs(one - other)) for one, other in combinations(values, 2))
