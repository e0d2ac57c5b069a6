"""The words of a text that name what it is about. Pure."""

import re
from functools import lru_cache

from ragsite.language.analysis import LONGEST_WORD, terms
from ragsite.language.detection import HAN
from ragsite.language.questions import question_words

# How often people carry over a verb or a particle from an earlier question, relative to a noun or a name
# (docs/decisions/followups.md). The kind of English words isn't known.
VERB, PARTICLE = 0.3, 0.1

_HAN = HAN.pattern[1:-1]
_NOT_HAN = rf"(?:(?![{_HAN}])\w)"
# Chinese titles are one word, and so are names with their marks: TL-SE2109, pg_hba.conf, C++.
_TOKEN = re.compile(rf"《[^《》\s]{{1,40}}》|[{_HAN}]+|{_NOT_HAN}+(?:[.'’/+#@&:-]{_NOT_HAN}+)*(?:\+\+|\#)?", re.UNICODE)
# The dictionary's marks of what names something, nouns, names, set phrases and roots, and of words without a matter.
_NAMES = re.compile(r"n|[ijlxz]|[av]n$|eng|.*g$")
_PARTICLES = re.compile(r"[cdefmopruy]")


def content_terms(text: str) -> list[str]:
    """Return the terms of a text without question words, in order, including repeats."""
    return [term for term in terms(text) if term not in question_words()]


@lru_cache(256)  # the same turns are looked at for each question of a conversation
def words(text: str) -> tuple[str, ...]:
    """Split a text into words, in order; Chinese by jieba, with guesses at names.

    Longer strings, such as hashes, are left out.
    """
    import rjieba  # reads its dictionary when loaded

    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        found += rjieba.cut(token, True) if HAN.match(token) else [token]
    return tuple(word for word in found if len(word) <= LONGEST_WORD)


@lru_cache(4_096)
def naming_likelihood(word: str) -> float:
    """Return how likely a Chinese word of its kind names what is spoken of: 1 for nouns and names, and for Latin."""
    import rjieba  # reads its dictionary when loaded

    if not HAN.match(word):
        return 1.0
    kind = rjieba.tag(word, True)[-1][1]
    if _NAMES.match(kind):
        return 1.0
    return PARTICLE if _PARTICLES.match(kind) else VERB
