"""Text functions for data and evaluation: words, sentences, removal of sentences, and BM25."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_BREAK = re.compile(r"(?<=[。！？；])|\n|(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(\[])")
_RUN = re.compile(r"[A-Za-z0-9]+|[\u4e00-\u9fff]+")
_ENDING = re.compile(r"(ing|ies|ied|es|ed|s)$")
_STOPPED = """the a an of in on at to for and or is are was were be been by with as that this it its from which who what
when where how why did do does has have had not i my we you can"""
_STOP = frozenset(_STOPPED.split())


def words(text: str) -> list[str]:
    """Return a text's words in lower case without common endings, and pairs of its Han characters."""
    found: list[str] = []
    for run in _RUN.findall(text):
        if not run.isascii():
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        elif (word := run.lower()) not in _STOP:
            found.append(_ENDING.sub("", word) if len(word) > 4 else word)
    return found


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the start and end of a text's sentences and lines, in characters."""
    bounds, start = [], 0
    for found in _BREAK.finditer(text):
        bounds.append((start, found.start() if found.group() else found.end()))
        start = found.end()
    return [(start, end) for start, end in [*bounds, (start, len(text))] if text[start:end].strip()]


def without(text: str, part: str) -> str | None:
    """Return a text without one of its parts, or None if too little would be left."""
    at = text.find(part)
    if at < 0:
        return None
    before, after = text[:at].rstrip(" "), text[at + len(part) :]
    if not before or before.endswith("\n"):
        after = after.lstrip(" \n")
    rest = (before + after).strip()
    return rest if len(rest) > 40 and len(rest) > 0.3 * len(text) else None


def headed(title: str, text: str) -> str:
    """Return a passage in the reader's input format: its title on the line above."""
    return f"{title}\n{text}" if title else text


def language_of(text: str) -> str:
    """Return `zh` for a text with more than a fifth Han characters, else `en`."""
    characters = re.sub(r"\s", "", text)
    return "zh" if sum("\u4e00" <= c <= "\u9fff" for c in characters) > 0.2 * len(characters) else "en"


def _weight(times: int, length: int, mean: float) -> float:
    return times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / mean))


class BM25:
    """BM25 over passages (k1 1.2, b 0.75), as a baseline."""

    def __init__(self, passages: Sequence[str]) -> None:
        texts = [words(passage) for passage in passages]
        self._mean = sum(map(len, texts)) / max(1, len(texts)) or 1
        self._count = len(texts)
        self._postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, text in enumerate(texts):
            for word, times in Counter(text).items():
                self._postings[word].append((number, _weight(times, len(text), self._mean)))

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return each passage's score."""
        scores = np.zeros(self._count)
        for word in sorted(set(words(question))):
            for number, weight in self._postings.get(word, []):
                scores[number] += self._rarity(word) * weight
        return scores

    def score(self, question: str, text: str) -> float:
        """Return the score of any text, with the passages' inverse document frequencies."""
        found = Counter(words(text))
        length = sum(found.values())
        return sum(
            self._rarity(word) * _weight(found[word], length, self._mean) for word in sorted(set(words(question)))
        )

    def _rarity(self, word: str) -> float:
        holding = len(self._postings.get(word, []))
        return math.log(1 + (self._count - holding + 0.5) / (holding + 0.5))

    def best(self, question: str, count: int) -> list[int]:
        """Return the numbers of the best passages, best first."""
        return [int(number) for number in np.argsort(-self.scores(question), kind="stable")[:count]]
