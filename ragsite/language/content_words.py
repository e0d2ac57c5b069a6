"""Content words: the words that name the subject of a text. Pure."""

import re
from functools import lru_cache

from ragsite.language.analysis import LONGEST_WORD, terms
from ragsite.language.detection import HAN, HAN_CHARACTER
from ragsite.language.questions import question_words
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import words_of

# How often people carry over a verb or a particle from an earlier question, relative to a noun or a name
# (docs/decisions/followups.md). Parts of speech are known for Chinese words only.
VERB, PARTICLE = 0.3, 0.1

# English words that name nothing to look up, as stems.
NAMES_NOTHING = frozenset(terms(" ".join(words_of("names_nothing_en"))))

_NOT_HAN = rf"(?:(?![{HAN}])\w)"
# A Chinese title is one word, and so is a name with punctuation: TL-SE2109, pg_hba.conf, C++.
_TOKEN = re.compile(rf"《[^《》\s]{{1,40}}》|[{HAN}]+|{_NOT_HAN}+(?:[.'’/+#@&:-]{_NOT_HAN}+)*(?:\+\+|\#)?", re.UNICODE)
# jieba's tags for words that name something (nouns, names, set phrases and roots), and for function words.
_NAMES = re.compile(r"n|[ijlxz]|[av]n$|eng|.*g$")
_PROPER = frozenset(["nr", "nrt", "ns", "nt", "nz"])
_PARTICLES = re.compile(r"[cdefmopruy]")


def content_terms(text: str) -> list[str]:
    """Return the terms of a text without question words, in order, including repeats."""
    return [term for term in terms(text) if term not in question_words()]


@lru_cache(256)  # every question of a conversation analyses the same turns again
def words(text: str) -> tuple[str, ...]:
    """Split a text into words, in order; Chinese text with jieba, including its guesses at names.

    Words longer than `LONGEST_WORD`, such as hashes, are left out.
    """
    import rjieba  # reads its dictionary when loaded

    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token, place = match.group(), match.start()
        for word in rjieba.cut(simplified(token), True) if HAN_CHARACTER.match(token) else [token]:
            found.append(text[place : place + len(word)])
            place += len(word)
    return tuple(word for word in found if len(word) <= LONGEST_WORD)


@lru_cache(4_096)
def naming_likelihood(word: str) -> float:
    """Return how likely a word is to name the subject, by its part of speech: 1 for nouns, names and Latin words."""
    import rjieba  # reads its dictionary when loaded

    if not HAN_CHARACTER.match(word):
        return 1.0
    kind = rjieba.tag(simplified(word), True)[-1][1]
    if _NAMES.match(kind):
        return 1.0
    return PARTICLE if _PARTICLES.match(kind) else VERB


@lru_cache(4_096)
def is_proper_name(word: str) -> bool:
    """Return whether a word is a code, such as `LS-2408`, or a Chinese name of a person, place or work."""
    import rjieba  # reads its dictionary when loaded

    if not HAN_CHARACTER.match(word):
        return bool(re.search(r"[A-Za-z]-?\d", word))
    return len(word) > 1 and rjieba.tag(word, True)[-1][1] in _PROPER
