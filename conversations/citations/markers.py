"""Citation markers in the text of an answer: `[1]`, `[1, 2]`, `【1】`."""

import re

from conversations.events import NUMBERS, in_brackets
from ragsite.markup.mathematics import split_formulas

_SQUARE, _LENTICULAR, _ = in_brackets(f"({NUMBERS})")
# `\sqrt[3]{x}` contains no marker.
MARKER = re.compile(rf"(?<!\\sqrt){_SQUARE}(?!\()|{_LENTICULAR}")
_NUMBER = re.compile(r"\d+")


def numbers_of(marker: re.Match[str]) -> list[int]:
    """Return the numbers of a marker."""
    return [int(number) for number in _NUMBER.findall(marker[1] or marker[2])]


def numbers_in(text: str) -> list[int]:
    """Return the numbers of a text's markers in order, with repeats; formulas are skipped."""
    parts = (part for part, is_formula in split_formulas(text) if not is_formula)
    return [number for part in parts for marker in MARKER.finditer(part) for number in numbers_of(marker)]
