"""Tokenisation of mixed English and Chinese text into words. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ragsite.language.analysis import STOP_WORDS, terms
from ragsite.language.detection import HAN_BMP
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import words_of

_HAN = re.compile(f"[{HAN_BMP}]")
_WORD = re.compile(rf"[{HAN_BMP}]+|[^\W{HAN_BMP}]+(?:[.,'’/-][^\W{HAN_BMP}]+)*")
# Function words that paraphrases add or leave out. Most English ones are stop words already.
PARTICLES = frozenset(words_of("chinese_particles")) | frozenset(words_of("english_particles"))


@dataclass(frozen=True, slots=True)
class WordToken:
    """A word as written, its position in the text, and a key that all its forms share."""

    text: str
    start: int
    key: str

    @property
    def is_content_word(self) -> bool:
        """Whether it is neither a stop word nor a particle."""
        return self.key not in STOP_WORDS and self.key not in PARTICLES


def word_tokens(text: str) -> list[WordToken]:
    """Return the words, numbers and codes of a text."""
    return [
        WordToken(word, match.start() + start, key_of(word))
        for match in _WORD.finditer(text)
        for start, word in cut(match.group())
    ]


def cut(token: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a token with their positions: Chinese segmented by jieba, any other token as one word."""
    if not is_han(token[0]):
        yield 0, token
        return
    import rjieba  # reads its dictionary when loaded

    place = 0
    for word in rjieba.cut(simplified(token), True):
        yield place, token[place : place + len(word)]
        place += len(word)


def is_han(character: str) -> bool:
    """Return whether a character is Chinese."""
    return _HAN.match(character) is not None


@lru_cache(16_384)  # texts repeat the same words
def key_of(word: str) -> str:
    """Return the key that all forms of a word share."""
    found = terms(word) if word.isascii() else []
    return found[0] if len(found) == 1 else simplified(word).lower()
