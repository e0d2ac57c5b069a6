"""Citation markers in the text of an answer: `[1]`, `[1, 2]`, `【1】`."""

import re

MARKER = re.compile(r"\[(\d{1,3}(?:\s*[,，、;；]\s*\d{1,3})*)\](?!\()|【(\d{1,3}(?:\s*[,，、;；]\s*\d{1,3})*)】")
_NUMBER = re.compile(r"\d+")


def numbers_of(marker: re.Match[str]) -> list[int]:
    """Return the numbers of one marker."""
    return [int(number) for number in _NUMBER.findall(marker[1] or marker[2])]


def numbers_in(text: str) -> list[int]:
    """Return the numbers of a text's markers, in their order, repeats included."""
    return [number for marker in MARKER.finditer(text) for number in numbers_of(marker)]
