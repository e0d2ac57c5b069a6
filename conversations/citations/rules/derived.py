"""Numbers that a sentence works out from what its source says. Pure."""

import re
from collections.abc import Sequence

from conversations.citations.quantities import Quantity
from conversations.citations.source import Clause, Source

_TOTAL = re.compile(r"\b(?:total(?:l?ing|s)?|altogether|in all|overall|combined|together|sum)\b|共|总计|合计", re.I)
_NEXT_YEAR = re.compile(r"\b(?:next|following) year\b|\b(?:a|one) year later\b|\byear after\b|[次翌]年|第二年", re.I)
_BETWEEN_ITEMS = re.compile(r"\s*[,、]\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*(?:以及|和|与|及)\s*")
_END_OF_LIST = re.compile(r"[.;。；:：]\s*$|[.;。；]\s")
# What a sentence may count by listing it.
_COUNTED = range(2, 13)


def is_worked_out(quantity: Quantity, said: str, mine: Sequence[Quantity], source: Source) -> bool:
    """Whether a number of a sentence follows from others there or from its source.

    It counts what the sentence goes on to list; or it is the year after one, the years between two, the sum of two
    numbers where the sentence speaks of a total, or the percentage that makes up a factor.
    """
    return (
        _counts_a_list(quantity, said)
        or (quantity.unit == "year" and _is_span(quantity, [mine, *(clause.quantities for clause in source.clauses)]))
        or any(_is_next_year(quantity, sentence) for sentence in source.sentences)
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
    years = ({other.value for other in clause if other.may_be_a_year} for clause in clauses)
    return any(year + quantity.value in values for values in years for year in values)


def _is_next_year(quantity: Quantity, sentence: Clause) -> bool:
    """Whether a sentence goes on from one year to the next: "in 1925, the year after"."""
    return (
        quantity.may_be_a_year
        and any(other.may_be_a_year and other.value + 1 == quantity.value for other in sentence.quantities)
        and _NEXT_YEAR.search(sentence.text) is not None
    )


def _is_sum(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    like = {other.value for other in others if other.unit == quantity.unit}
    return bool(quantity.unit) and any(quantity.value - one in like and quantity.value != 2 * one for one in like)


def _is_factor(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether so many per cent more are a factor: 38 % more are 1.38 times as much."""
    return quantity.unit == "%" and any(
        other.unit == "times" and other.value == 1 + quantity.value / 100 for other in others
    )
