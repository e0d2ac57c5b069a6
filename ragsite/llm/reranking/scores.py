"""Parse the scores that a language model was asked to return as JSON. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from ragsite.llm.errors import BadReply
from ragsite.llm.stream.json_reply import number, values

_INDEXES = ("index", "number", "passage", "id")
_SCORES = ("score", "relevance_score", "relevance")


def parse_scores(text: str, count: int) -> list[float | None]:
    """Return the scores of passages 1 to `count`, from 0 to 1; None for those that the reply omits.

    Accepts `[{"index": 1, "score": 7}, …]`, the same inside an object, `{"1": 7, …}` and `[7, …]`, with prose or code
    fences around it and cut off anywhere; the rest is ignored. Scores are out of 10, or out of 1 or 100 if the numbers
    suggest that. Raises `BadReply` if no passage has a score.
    """
    found: dict[int, float] = {}
    for value in values(text):
        for index, score in _pairs(value, count):
            found.setdefault(index, score)
    if 0 in found and count not in found:
        found = {index + 1: score for index, score in found.items()}
    found = {index: score for index, score in found.items() if 1 <= index <= count}
    if not found:
        raise BadReply(f"No scores in the reply: {text.strip()[:80]!r}")
    # Determine the scale.
    scores = list(found.values())
    if max(scores) > 10:
        most = 100.0
    elif max(scores) <= 1 and any(score != int(score) for score in scores):
        most = 1.0
    else:
        most = 10.0
    return [min(max(found[index] / most, 0.0), 1.0) if index in found else None for index in range(1, count + 1)]


def _pairs(value: Any, count: int) -> Iterator[tuple[int, float]]:
    """Yield (passage number, score) from a value in any of the accepted forms."""
    if isinstance(value, list):
        scores = [number(item) for item in value]
        if len(value) == count and all(score is not None for score in scores):
            yield from ((index, score) for index, score in enumerate(scores, 1) if score is not None)
            return
        for item in value:
            if isinstance(item, dict):
                yield from _pairs(item, count)
    elif isinstance(value, dict):
        index, score = _first(value, _INDEXES), _first(value, _SCORES)
        if index is not None and score is not None and index == int(index):
            yield int(index), score
            return
        for name, inner in value.items():
            if isinstance(inner, list | dict):
                yield from _pairs(inner, count)
            elif name.strip().isdecimal() and (score := number(inner)) is not None:
                yield int(name), score


def _first(value: dict[str, Any], names: Sequence[str]) -> float | None:
    return next((found for name in names if (found := number(value.get(name))) is not None), None)
