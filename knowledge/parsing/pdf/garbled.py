"""Tells words from what is read where a font doesn't say what its characters mean: numbers of glyphs taken for letters.

In a language vowels and consonants take turns: of two letters side by side one is a vowel more often than by chance, in
each of some sixty languages in Latin letters. Numbers of glyphs in place of letters ("7KH" for "The") keep their order,
but what is a vowel then is none. docs/decisions/parsing.md has the figures.
"""

import unicodedata
from collections import Counter
from itertools import pairwise

MIN_LETTERS = 100  # of a page with fewer nothing is said
TURNS = 1.2  # times chance: how often vowels and consonants must take turns
SCRIPTS = 6  # in which at least one letter in fifty is written: no text is; Japanese has three, and Latin beside
FEW = 0.02
ORNAMENTS = 0.25  # share of characters: more than lists and tables of ticks have
FOUR = 0.6  # share of the four commonest letters, beyond which they are no language's: the bases of a genome

_VOWELS = frozenset("aeiouyæœøıə")


def is_garbled(text: str, guessed: bool) -> bool:
    """Whether the letters of a page can't be words; False where they are too few, or in a script of its own.

    `guessed` tells that what most characters mean is a guess of pdfium; else only ornaments amid the letters count.
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
