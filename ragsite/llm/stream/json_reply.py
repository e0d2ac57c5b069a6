"""The JSON in what a model wrote when it was asked for JSON, however it wrote it. Pure.

Models fence it, talk before and after it, write two objects, break off, leave commas over or take Python's quotes.
What is JSON as it stands is read as that; only where nothing is, the text is repaired.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from ragsite.llm.stream.unicode_repair import whole

_DECODER = json.JSONDecoder()
_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:/\s*\d+|[%％])?\s*")
# A reply of nothing but brackets would be tried at every one of them.
_MAX_TRIES = 2000
# Characters that are passed over where brackets open without end.
_NO_REPLY = 500
# Characters that are repaired: repairing takes time that grows with their square, and no plan is longer.
_MAX_REPAIRED = 2500
_TRUE = {"true", "yes", "y", "1", "是", "对", "真"}
_FALSE = {"false", "no", "n", "0", "否", "不是", "不", "假"}
_SEPARATORS = re.compile(r"\s*[,，、;；|\n]\s*")


def values(text: str) -> Iterator[Any]:
    """Yield the JSON values that a text holds, outermost ones; of one that is cut off, those inside it."""
    position = 0
    for _ in range(_MAX_TRIES):
        start = min((at for mark in "[{" if (at := text.find(mark, position)) >= 0), default=-1)
        if start < 0:
            return
        try:
            value, position = _DECODER.raw_decode(text, start)
        except ValueError:
            position = start + 1
            continue
        except RecursionError:  # no reply is nested so deep; it takes a millisecond to see at each of its brackets
            position = start + _NO_REPLY
            continue
        yield value


def objects(text: str, *known: str) -> list[dict[str, Any]]:
    """Return the objects of a reply that have at least one of the known fields, in their order.

    Objects inside lists and inside others count too, so that a plan wrapped in `{"result": …}` is found. Where none
    is whole, what begins with the first brace is repaired.
    """
    found = [item for value in values(text) for item in _inside(value) if _has(item, known)]
    start = text.find("{")
    if found or start < 0:
        return found
    import json_repair  # seldom needed

    try:
        repaired = json_repair.loads(text[start : start + _MAX_REPAIRED])
    except (ValueError, RecursionError):
        return []
    return [item for item in _inside(repaired) if _has(item, known)]


def truth(value: Any) -> bool | None:
    """Return a flag, be it written as a word or a number, or None when it is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    word = value.strip().lower() if isinstance(value, str) else None
    if word in _TRUE:
        return True
    return False if word in _FALSE else None


def number(value: Any) -> float | None:
    """Return a finite number, be it written as a text (`"7"`, `"7/10"`, `"70%"`: the first number of it), or None."""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value[:20])
        return float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def words(value: Any) -> list[str]:
    """Return a list of texts, each once and without surrounding space; a single text is taken apart at its commas."""
    if isinstance(value, str):
        value = _SEPARATORS.split(value)
    if not isinstance(value, list):
        return []
    texts = (line(str(item)) for item in value if isinstance(item, str | int | float))
    return list(dict.fromkeys(text for text in texts if text))


def line(value: Any) -> str:
    """Return a text on one line, without what no database takes, empty for what is no text."""
    return " ".join(whole(value).split()) if isinstance(value, str) else ""


def _inside(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects of a value, outer ones before those inside them."""
    if depth > 4:
        return
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _inside(item, depth + 1)


def _has(item: dict[str, Any], known: tuple[str, ...]) -> bool:
    return any(name in item for name in known)
