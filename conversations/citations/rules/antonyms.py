"""Words and their opposites, in English and Chinese. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ragsite.language.word_lists import lines_of
from ragsite.language.word_tokens import cut, is_han, key_of

# The beginning of a pair's id, which no term of a text has.
_PAIR = "±"


@dataclass(frozen=True, slots=True)
class Side:
    """A side of pairs of opposites: the ids of the pairs, and whether it is their second side."""

    pairs: frozenset[str]
    second: bool


def side_of(word: str) -> Side | None:
    """Return the side of a word, or None for a word without an opposite."""
    return None if word.endswith("ingly") else _sides().get(_key(word))


def is_opposite(terms: Iterable[str]) -> bool:
    """Return whether any of a word's terms is the id of a pair of opposites."""
    return any(term.startswith(_PAIR) for term in terms)


@cache
def phrases() -> re.Pattern[str]:
    """Return the pattern of opposites of more than one word; the longest match is preferred."""
    longest_first = sorted(_sides(), key=len, reverse=True)
    english = "|".join(item.replace(" ", "(?:s|es|ed|ing)? ") for item in longest_first if " " in item)
    # Those that jieba splits, or that would be taken for a negation.
    chinese = "|".join(
        item for item in longest_first if is_han(item[0]) and (item[0] in "不无" or len(list(cut(item))) > 1)
    )
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


@cache
def _sides() -> dict[str, Side]:
    sides: dict[str, Side] = {}
    for number, line in enumerate(lines_of("antonyms")):
        for second, items in enumerate(line.split(" / ")):
            for key in map(_key, items.split(", ")):
                known = sides[key].pairs if key in sides else frozenset()
                sides[key] = Side(known | {f"{_PAIR}{number}"}, bool(second))
    return sides


def _key(item: str) -> str:
    return " ".join(map(key_of, item.split()))
