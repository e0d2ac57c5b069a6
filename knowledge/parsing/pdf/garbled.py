"""Detects garbled text from fonts without a character mapping, where glyph numbers are read as letters.

In natural languages vowels and consonants alternate: of two adjacent letters exactly one is a vowel more often than by
chance, in each of some sixty languages written in Latin letters. In glyph numbers read as letters ("7KH" for "The")
the vowels are not where they should be. See docs/decisions/parsing.md for the figures.
"""

import unicodedata
from collections import Counter
from itertools import pairwise

MIN_LETTERS = 100  # pages with fewer are not judged
TURNS = 1.2  # times chance: the least rate at which vowels and consonants alternate
SCRIPTS = 6  # scripts with at least one letter in fifty, more than any text has; Japanese has three, and Latin
FEW = 0.02
ORNAMENTS = 0.25  # share of characters, more than in lists and tables of ticks
FOUR = 0.6  # share of the four commonest letters, more than in any language: the bases of a genome

_VOWELS = frozenset("aeiouyæœøıə")


def is_garbled(text: str, guessed: bool) -> bool:
    """Return whether the letters of a page can't be words; False if there are too few, or in other scripts than Latin.

    `guessed` means that pdfium guessed what most characters are; otherwise only the share of ornaments counts.
    """
    if sum("\u2701" <= char <= "\u27bf" for char in text) > ORNAMENTS * len(text):
        return True
    if not guessed:
        return False
    plain = [char for char in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(char)]
    scripts = [unicodedata.name(char, "?").split(" ")[0] if char.isalpha() else "" for char in plain]
    counts = Counter(filter(None, scripts))
    if counts.total() < MIN_LETTERS:
        return False
    if sum(count >= FEW * counts.total() for count in counts.values()) >= SCRIPTS:
        return True
    if sum(n for _char, n in Counter(filter(str.isalpha, plain)).most_common(4)) > FOUR * counts.total():
        return False
    vowels = sum(char in _VOWELS for char in plain) / max(1, counts["LATIN"])
    latin = [(char in _VOWELS) if script == "LATIN" else None for char, script in zip(plain, scripts, strict=True)]
    turns = [before != after for before, after in pairwise(latin) if before is not None and after is not None]
    return len(turns) >= MIN_LETTERS / 2 and sum(turns) < TURNS * 2 * vowels * (1 - vowels) * len(turns)
