"""Extract JSON from a model's reply, in whatever form the model wrote it. Pure.

Models add code fences and prose, write several objects, break off, leave trailing commas or use single quotes. Valid
JSON is parsed; the text is repaired only if it contains none.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from ragsite.llm.stream.unicode_repair import whole

_DECODER = json.JSONDecoder()
_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:/\s*\d+|[%％])?\s*")
# A limit for replies full of brackets, at each of which parsing is tried.
_MAX_TRIES = 2000
# Characters that are skipped where brackets are nested too deeply.
_NO_REPLY = 500
# Characters that are repaired, which takes quadratic time; no useful reply is longer.
_MAX_REPAIRED = 2500
_TRUE = {"true", "yes", "y", "1", "是", "对", "真"}
_FALSE = {"false", "no", "n", "0", "否", "不是", "不", "假"}
_SEPARATORS = re.compile(r"\s*[,，、;；|\n]\s*")


def values(text: str) -> Iterator[Any]:
    """Yield the outermost JSON values in a text; if one is cut off, the complete values inside it."""
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
        except RecursionError:  # no valid reply is nested this deeply, and each try takes a millisecond
            position = start + _NO_REPLY
            continue
        yield value


def objects(text: str, *known: str) -> list[dict[str, Any]]:
    """Return the objects in a reply that have at least one of the known fields, in order.

    Objects inside lists and other objects are included, so that a plan wrapped in `{"result": …}` is found. If none is
    complete, the text from the first brace on is repaired.
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


def is_cut_off(text: str, *known: str) -> bool:
    """Return whether a reply ends within an object: none with a known field is complete, and more open than close."""
    complete = any(_has(item, known) for value in values(text) for item in _inside(value))
    return not complete and text.count("{") > text.count("}")


def truth(value: Any) -> bool | None:
    """Return a flag, written as a boolean, a word or a number, or None if it isn't one."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    word = value.strip().lower() if isinstance(value, str) else None
    if word in _TRUE:
        return True
    return False if word in _FALSE else None


def number(value: Any) -> float | None:
    """Return a finite number, also from a string (the first number of `"7"`, `"7/10"`, `"70%"`), or None."""
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
    """Return a list of distinct texts without surrounding white space; a single text is split at commas."""
    if isinstance(value, str):
        value = _SEPARATORS.split(value)
    if not isinstance(value, list):
        return []
    texts = (line(str(item)) for item in value if isinstance(item, str | int | float))
    return list(dict.fromkeys(text for text in texts if text))


def line(value: Any) -> str:
    """Return a text on one line, without characters that can't be stored; empty if it isn't a string."""
    return " ".join(whole(value).split()) if isinstance(value, str) else ""


def _inside(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects in a value, outer before inner ones."""
    if depth > 4:
        return
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _inside(item, depth + 1)


def _has(item: dict[str, Any], known: tuple[str, ...]) -> bool:
    return any(name in item for name in known)
