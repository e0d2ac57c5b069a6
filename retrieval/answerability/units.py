"""The parts of a passage that can answer by themselves: sentences, code blocks or table rows. Pure."""

import re
from functools import lru_cache
from itertools import zip_longest

from ragsite.language.analysis import terms
from ragsite.language.sentences import split_sentences
from retrieval.types import Hit

_UNIT_ABOVE = re.compile(r"[(（]([^()（）]{1,12})[)）]\s*$")
_FENCED = re.compile(r"^```.*?^```[^\S\n]*\n*", re.MULTILINE | re.DOTALL)


def units(hit: Hit) -> list[str]:
    """Return the quotable parts of a passage: its sentences and fenced code blocks, or its table's rows.

    The parts of a text keep their trailing white space, so that joining them gives the passage. Figures in a table get
    the unit in their column's heading, e.g. "Price (EUR)".
    """
    if hit.kind == "table" and hit.rows:
        above = [_UNIT_ABOVE.search(str(column)) for column in hit.columns or ()]
        measured = [f" {found[1]}" if found else "" for found in above]
        return [
            " | ".join(f"{cell}{unit}" for cell, unit in zip_longest(map(str, row), measured[: len(row)], fillvalue=""))
            for row in hit.rows
        ]
    found: list[str] = []
    end = 0
    for match in _FENCED.finditer(hit.content):
        found += split_sentences(hit.content[end : match.start()])
        found.append(match.group())
        end = match.end()
    return found + split_sentences(hit.content[end:])


@lru_cache(4_096)  # needed when an answer is judged and again when it is quoted
def unit_terms(unit: str) -> frozenset[str]:
    """Return the terms of a sentence."""
    return frozenset(terms(unit))


def terms_above(hit: Hit) -> frozenset[str]:
    """Return the terms of a passage's headings, file name and table columns."""
    columns = " ".join(map(str, hit.columns or ())) if hit.kind == "table" else ""
    return unit_terms(f"{hit.heading} {hit.filename.rpartition('.')[0]} {columns}")
