"""Finds the columns of a table that hold what a question compares: numbers, prices, weights and so on. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache

from ragsite.language.detection import HAN_CHARACTER
from ragsite.language.quantities import quantities
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import lines_of, words_of
from retrieval.answerability.question_weights import QuestionWord
from retrieval.answerability.units import unit_terms

# The share of a column's cells that must be numbers for it to be one of numbers.
NUMERIC_SHARE = 0.8
# The shortest name of a column or a row that a question may contain.
LEAST_NAME = 2
# The units of money.
CURRENCIES = frozenset({"yuan", "eur", "usd", "gbp"})
IN_BRACKETS = re.compile(r"\s*[(（\[].*?[)）\]]")
_NUMBER = re.compile(r"[^\d\w\s-]{0,2}\s*(-?\d[\d.,' \u00a0]*)\s*(?:%|[^\W\d_]{1,4}|[€$£¥])?")
_DECIMAL_COMMA = re.compile(r"\d{1,3}(?:\.\d{3})*,\d{1,2}|\d+,\d{1,2}")
# "How heavy", 多重; 多高 asks for a height, while 最高 may ask for a value of anything.
_HOW = re.compile(r"\bhow\s+(heavy|long|tall|wide|fast)\b|多(重|长|高|宽|快)(?!时间|久|少)", re.IGNORECASE)
_PRICE_WORDS = words_of("price_words")


@dataclass(frozen=True, slots=True)
class Dimension:
    """Words that ask for a dimension, such as "lightest", words in the names of its columns, and its units."""

    asking: frozenset[str]
    names: tuple[str, ...]
    units: frozenset[str]


@cache
def _dimensions() -> tuple[Dimension, ...]:
    parts = ([part.split() for part in line.split("|")] for line in lines_of("dimensions"))
    return tuple(Dimension(frozenset(asking), tuple(names), frozenset(units)) for asking, names, units in parts)


def dimensions_of(word: str) -> list[Dimension]:
    """Return the dimensions that a word may ask for: one, several ("longest"), or none ("largest")."""
    return [each for each in _dimensions() if word.removeprefix("最") in each.asking]


def measured_in(question: str) -> list[Dimension]:
    """Return the dimensions of which a question asks a thing's value, such as "How heavy is …?"."""
    found = _HOW.search(simplified(question))
    return dimensions_of((found[1] or found[2]).lower().replace("高", "tall")) if found else []


def number_in(cell: str) -> Decimal | None:
    """Return a cell's number without its unit, or None if it is something else."""
    match = _NUMBER.fullmatch(cell.strip())
    if match is None:
        return None
    digits = re.sub(r"[' \u00a0]", "", match[1])
    digits = digits.replace(".", "").replace(",", ".") if _DECIMAL_COMMA.fullmatch(digits) else digits.replace(",", "")
    try:
        return Decimal(digits.rstrip("."))
    except InvalidOperation:
        return None


def numeric_columns(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the positions of the columns of numbers."""
    found = []
    for number in range(len(columns)):
        cells = [row[number] for row in rows if number < len(row) and row[number].strip()]
        if cells and sum(number_in(cell) is not None for cell in cells) >= NUMERIC_SHARE * len(cells):
            found.append(number)
    return found


def is_price(name: str) -> bool:
    """Return whether a column's name says that it contains prices."""
    return _has_word(name, _PRICE_WORDS) or bool(re.search("[€$£¥￥]", name))


def holds_dimension(name: str, dimension: Dimension) -> bool:
    """Return whether a column's name says that it holds a dimension, in words or by its unit."""
    return _has_word(IN_BRACKETS.sub("", name), dimension.names) or unit_of(name)[0] in dimension.units


def unit_of(name: str) -> tuple[str, Decimal]:
    """Return the unit in a column's name, and how many of it a number counts: "yuan" and 10,000 for 价格（万元）.

    The unit is empty if the name has none.
    """
    name = simplified(name)
    for text in [*re.findall(r"[(（\[]\s*(.*?)\s*[)）\]]", name), *name.split()]:
        for amount in (f"1 {text}", f"{text}1"):  # "€" precedes its number
            found = quantities(amount)
            if len(found) == 1 and found[0].unit and found[0].end == len(amount):
                return found[0].unit, found[0].value
    return "", Decimal(1)


def named_share(name: str, asked: Sequence[QuestionWord], folded: str) -> float:
    """Return how far a question names a column: 2 if with its whole name, else the share of the name's terms."""
    bare = simplified(IN_BRACKETS.sub("", name)).strip().casefold()
    if len(bare) >= LEAST_NAME and bare in folded:
        return 2.0
    own = unit_terms(bare)
    held = sum(word.held_by(own) > 0 or (bool(HAN_CHARACTER.match(word.text)) and word.text in bare) for word in asked)
    return min(1.0, held / len(own)) if own else 0.0


def _has_word(name: str, wanted: Sequence[str]) -> bool:
    name = simplified(name)
    own = set(re.findall(r"[a-z]+", name.casefold()))
    return any(word in own if word.isascii() else word in name for word in wanted)
