"""Conversion of values for JSON and PostgreSQL: custom nodes and providers may report values of any kind."""

import json
import math
from typing import Any

from ragsite.llm.stream.unicode_repair import whole

# No value that the site itself stores of a turn is nested deeper.
_DEEPEST = 20


def json_safe(value: Any) -> Any:
    """Return a value that can be stored: types unknown to JSON or the database become text, deep nesting is cut."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return _plain(value)
    # Nulls and lone surrogates, whose escapes begin like those of some valid characters.
    return _plain(value) if "\\u0000" in text or "\\ud" in text else value


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {whole(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return whole(str(value))
