"""Recognises sentences that announce what follows them, and what belongs to it. Pure."""

import re
from collections.abc import Sequence

from ragsite.language.sentences import split_sentences

# The number of list lines that are quoted with the line introducing them.
MAX_LIST_LINES = 7

LIST_ITEM = re.compile(r"\s*(?:[-*•·▪◦]\s|\d{1,2}[.)、](?!\d)|[(（]?[a-z\d一二三四五六七八九十]{1,2}[)）、]\s*\S)")
_COLON = (":", "：")
# "… brings the following.", "… are as follows.", 如下。; not "on the following day".
_ANNOUNCES = re.compile(
    r"\b(?:as follows|the following(?:\s+(?!(?:day|week|month|year|morning)\b)\w+){0,3})\s*[.。]?\s*$"
    r"|(?:如下|以下|下列|下述|下面)[^，。；]{0,8}[。.]?\s*$",
    re.IGNORECASE,
)


def ends_in_colon(text: str) -> bool:
    """Return whether a sentence ends in a colon."""
    return text.rstrip().endswith(_COLON)


def announces(text: str) -> bool:
    """Return whether a sentence announces what follows: with a colon, or with "the following", 如下 and the like."""
    return ends_in_colon(text) or bool(_ANNOUNCES.search(text))


def introduces_what_follows(content: str) -> bool:
    """Return whether a passage ends with a sentence that announces what follows."""
    return announces(content.rstrip().rpartition("\n")[2] or content)


def announced(texts: Sequence[str], number: int) -> range:
    """Return the texts that one announces: the list after it or, after a colon, the next texts whatever they are."""
    end = number + 1
    while end < len(texts) and end - number <= MAX_LIST_LINES and LIST_ITEM.match(texts[end]):
        end += 1
    if end == number + 1 and ends_in_colon(texts[number]):
        end = min(number + 1 + MAX_LIST_LINES, len(texts))
    return range(number + 1, end)


def beginning(content: str) -> list[str]:
    """Return the texts at the beginning of a passage that the one before it announces: its list or first paragraph."""
    texts = split_sentences(content)
    items = 0
    while items < min(len(texts), MAX_LIST_LINES) and LIST_ITEM.match(texts[items]):
        items += 1
    if items:
        return texts[:items]
    end = next((number for number, text in enumerate(texts, 1) if "\n\n" in text[len(text.rstrip()) :]), len(texts))
    return texts[: min(end, MAX_LIST_LINES)]
