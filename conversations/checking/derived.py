"""Numbers that a sentence works out from what its source says. Pure."""

import re
from collections.abc import Sequence
from itertools import combinations

from conversations.checking.quantities import Quantity
from conversations.checking.source import Source

_TOTAL = re.compile(r"\b(?:total(?:l?ing|s)?|altogether|in all|overall|combined|together|sum)\b|共|总计|合计", re.I)
_BETWEEN_ITEMS = re.compile(r"\s*[,、]\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*(?:以及|和|与|及)\s*")
_END_OF_LIST = re.compile(r"[.;。；:：]\s*$|[.;。；]\s")
# What a sentence may count by listing it.
_COUNTED = range(2, 13)


def is_worked_out(quantity: Quantity, said: str, mine: Sequence[Quantity], source: Source) -> bool:
    """Whether a number of a sentence follows from others there or from its source.

    It counts what the sentence goes on to list; or it is the years between two years, the sum of two numbers where the
    sentence speaks of a total, or the percentage that makes up a factor.
    """
    return (
        _counts_a_list(quantity, said)
        or (quantity.unit == "year" and _is_span(quantity, [mine, *(clause.quantities for clause in source.clauses)]))
        or (_TOTAL.search(said) is not None and any(_is_sum(quantity, other.quantities) for other in source.sentences))
        or _is_factor(quantity, source.quantities)
    )


def _counts_a_list(quantity: Quantity, said: str) -> bool:
    """Whether so many items follow: "two parameters, a and b", "三种颜色：红、黄和蓝"."""
    if quantity.value not in _COUNTED or quantity.kind not in ("", "count"):
        return False
    rest = _END_OF_LIST.split(said[quantity.end :].rstrip(".。 "), maxsplit=1)[0]
    for lead in (":", "：", ",", "，", "(", "（", " - ", "—"):
        _, found, listed = rest.partition(lead)
        if found and len([item for item in _BETWEEN_ITEMS.split(listed) if item.strip()]) == quantity.value:
            return True
    return False


def _is_span(quantity: Quantity, clauses: Sequence[Sequence[Quantity]]) -> bool:
    """Whether a number of years lies between two years of a clause."""
    years = ([other.value for other in clause if other.may_be_a_year] for clause in clauses)
    return any(abs(one - two) == quantity.value for values in years for one, two in combinations(values, 2))


def _is_sum(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    like = [other.value for other in others if other.unit == quantity.unit]
    return bool(quantity.unit) and any(one + two == quantity.value for one, two in combinations(like, 2))


def _is_factor(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether so many per cent more are a factor: 38 % more are 1.38 times as much."""
    return quantity.unit == "%" and any(
        other.unit == "times" and other.value == 1 + quantity.value / 100 for other in others
    )
