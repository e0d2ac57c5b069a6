"""Text analysis: turns passages and queries, in Chinese, English or both, into terms. Pure.

Latin words are lower-cased, stripped of stop words and stemmed. Chinese, taken in simplified characters in whichever
script it is written, is segmented into words by jieba. Codes, identifiers, URLs and e-mail addresses are kept whole and
in parts. A term may repeat: its count is BM25's term frequency.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise

import Stemmer

from ragsite.language.detection import HAN
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import words_of

STOP_WORDS = frozenset(words_of("stop_words"))
CHINESE_STOP_WORDS = frozenset(words_of("stop_words_zh"))
# The number of dimensions of sparse vectors; a term's dimension is a stable hash below it.
TERM_DIMENSIONS = 1_000_000_000
# Longer tokens are data (hashes, base64), not words: they are indexed whole only.
LONGEST_WORD = 64
# PostgreSQL's lexemes have at most 2 KB, and nobody searches for more than the beginning of such a term.
LONGEST_TERM = 256
# The most components of a version number that are indexed.
LONGEST_VERSION = 16
# The most characters of a piece; few Chinese words have more.
LONGEST_PIECE = 4

# With 々, which repeats a character, and the zero 〇.
_HAN = rf"\u3005\u3007{HAN}"
_RUN_OF_HAN = re.compile(rf"[{_HAN}]+")
# Scripts written without spaces between words, other than Han: kana, Thai, Lao, Khmer, Burmese; and Hangul.
_UNSPACED = r"\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uac00-\ud7af"
# Vowel signs of Indian scripts, which belong to words although they are not letters.
_SIGNS = r"\u0900-\u0963\u0966-\u0dff"
# Each character matches one alternative only: with two, backtracking would be exponential.
_LETTER = rf"(?:[^\W_{_HAN}{_UNSPACED}{_SIGNS}]|[{_SIGNS}])"
_EMOJI = r"\u2600-\u26ff\U0001f000-\U0001faff"
# The kinds of tokens, in the order in which they are tried.
_PATTERNS = {
    "url": rf"(?i:(?:https?|ftp)://[^\s<>\"'(){{}}\[\]，。；、！？）】》”’{_HAN}]+|www\.[\w.-]+\.[a-z]{{2,}}[^\s<>\"'{_HAN}]*)",
    "email": r"(?<![0-9A-Za-z_.+-])[\w.+-]++@(?i:[a-z0-9-]+(?:\.[a-z0-9-]+)+)",
    "han": f"[{_HAN}]+",
    "unspaced": f"[{_UNSPACED}]+",
    "emoji": f"[{_EMOJI}]",
    "number": r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?![0-9])",
    "word": rf"{_LETTER}+(?:['’]{_LETTER}+)+(?!{_LETTER})",
    "code": rf"[._#@$]?{_LETTER}+(?:[-_./:+#@&\\]+{_LETTER}+)*(?:\+\+|\#)?",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()))
# Without groups: the kind of a token is looked up once per distinct token, not at every occurrence. Most tokens are
# plain words, so those are tried first.
_SPLIT = re.compile("|".join([r"[A-Za-z]++(?=[\s,;)])", *(f"(?:{pattern})" for pattern in _PATTERNS.values())]))
# Characters that searches ignore: soft hyphens, joiners, and the vowel signs of Arabic and Hebrew.
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200d\u2060\ufeff\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")
# Separators at which a code is split, coarsest first: of paths and addresses; dots (not in numbers); words; all dots.
_LEVELS = tuple(map(re.compile, (r"[/:@\\?&=%~;,!*$]+", r"(?<![0-9])\.+|\.+(?![0-9])", r"[-_+#]+", r"\.+")))
_SCHEME = re.compile(r"(?:[a-z]+://)?(?:www\.)?", re.IGNORECASE)
# The parts of an identifier such as camelCase, HTTPServer, SE2109.
_INNER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W_A-Za-z0-9]+")
_PLAIN_WORD = re.compile(r"[^\W\d_]+")
_VERSION = re.compile(r"v?[0-9]+(?:\.[0-9]+)+", re.IGNORECASE)
_MEASURE = re.compile(r"([0-9]+(?:\.[0-9]+)+)([^\W\d_]+)")
_HYPHENATED = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
_HEXADECIMAL = re.compile(r"0x([0-9a-f]+)", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]{2,}")
_CONTRACTIONS = frozenset(["s", "re", "ve", "ll", "d", "m"])
_ABBREVIATION = re.compile(r"[A-Z]{2,4}")
# Letters that Unicode doesn't decompose, in plain Latin letters.
_PLAIN_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)

_local = threading.local()


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, including repeats."""
    return list(chain.from_iterable(map(_token_terms, _SPLIT.findall(_folded(text)))))


def border_pairs(text: str) -> list[str]:
    """Return the distinct pairs of characters at word borders in Chinese text: a word's last, the next word's first.

    They distinguish phrases from words that merely occur in the same passage, and join words that the dictionary
    separates: 油漆桶 is segmented into 油漆 and 桶, which the pair "漆 桶" joins. The space distinguishes a pair from a
    term.
    """
    import rjieba  # as in _chinese

    cut = (rjieba.cut(run, False) for run in _RUN_OF_HAN.findall(_folded(text)))
    return list(dict.fromkeys(f"{left[-1]} {right[0]}" for words in cut for left, right in pairwise(words)))


def pieces(text: str, words: Collection[str]) -> set[str]:
    """Return every Chinese substring of a text, of up to four characters, that overlaps one of these words.

    A word that no passage contains may come from a wrong segmentation: 用油漆桶 is segmented into 用油 and 漆桶, while
    passages have 油漆 and 桶. The index shows which of the substrings are terms.
    """
    found = set()
    for match in _RUN_OF_HAN.finditer(_folded(text)):
        run = match.group()
        for word in words:
            for begin in (index for index in range(len(run)) if run.startswith(word, index)):
                end = begin + len(word)
                found |= {
                    run[start:stop]
                    for start in range(max(0, begin - LONGEST_PIECE + 1), end)
                    for stop in range(max(start, begin) + 1, min(len(run), start + LONGEST_PIECE) + 1)
                }
    return found - set(words) - CHINESE_STOP_WORDS


def importance(term: str) -> float:
    """Return the weight of a query term: 0.3 for a border pair, 0.7 for a single Chinese character, otherwise 1.

    Figures: docs/decisions/terms.md.
    """
    if " " in term:
        return 0.3
    return 0.7 if len(term) == 1 and _RUN_OF_HAN.match(term) else 1.0


def _folded(text: str) -> str:
    """Return a text in Unicode normal form and simplified Chinese, without characters that searches ignore."""
    return simplified(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))


@lru_cache(65_536)
def term_id(term: str) -> int:
    """Return the term's dimension, 0 ≤ id < 1,000,000,000: its 64-bit BLAKE2b hash, the same on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") % (
        TERM_DIMENSIONS
    )


@lru_cache(65_536)  # texts repeat the same words
def _token_terms(token: str) -> tuple[str, ...]:
    match = _TOKEN.match(token)
    kind = (match and match.lastgroup) or "code"
    # An address such as `http://www.` has no terms.
    return tuple(term[:LONGEST_TERM] for term in _KINDS[kind](token) if term)


def _chinese(run: str) -> Iterator[str]:
    """Return dictionary words as segmented for search; unknown words, such as names, as single characters.

    jieba's guesses at new words are switched off: they depend on the context, so that a name might be segmented one way
    in a passage and another way in a question. Stop words are dropped. Figures: docs/decisions/terms.md.
    """
    import rjieba  # imported late: it reads its dictionary when loaded, which would slow the start of each process

    return (word for word in rjieba.cut_for_search(run, False) if word not in CHINESE_STOP_WORDS)


def _word(word: str) -> Iterator[str]:
    """Yield the stem of a plain word, with and without accents; an abbreviation in capitals is never a stop word."""
    lower = word.lower()
    if lower in STOP_WORDS and not _ABBREVIATION.fullmatch(word):
        return
    yield _stem(lower)
    if not lower.isascii():
        plain = unicodedata.normalize("NFD", lower.translate(_PLAIN_LETTERS))
        bare = "".join(c for c in plain if not unicodedata.combining(c))
        if bare != lower:
            yield _stem(bare)


def _apostrophe(token: str) -> Iterator[str]:
    """Yield the terms of a word with an apostrophe: `patient` for `patient's`, `obrien` and `brien` for `O'Brien`.

    Negations such as `don't` are stop words.
    """
    parts = re.split("['’]", token)
    last = parts[-1].lower()
    if last == "t" and parts[-2].lower().endswith("n"):
        return
    if last in _CONTRACTIONS:
        parts = parts[:-1]
    if len(parts) > 1:
        yield "".join(parts).lower()
    for part in parts:
        if len(part) > 1:
            yield from _word(part)


def _address(token: str) -> Iterator[str]:
    """Yield the terms of a URL or e-mail address: whole, its host, and its parts, without `https://www.`."""
    yield from _code(_SCHEME.sub("", token, count=1).rstrip(".,;:!?-/"))


def _code(token: str) -> Iterator[str]:
    """Yield the terms of a word or a code: anything but a plain word whole and, recursively, in parts."""
    token = token.lstrip("._@$")
    if _VERSION.fullmatch(token):
        yield from _version(token.lower())
        return
    if measure := _MEASURE.fullmatch(token):
        yield token.lower()
        yield from _version(measure[1])
        yield from _word(measure[2])
        return
    parts = _split(token)
    if len(parts) < 2:
        yield from _part("".join(parts) if not token.endswith(("++", "#")) else token)
        return
    # Two plain words with a slash, such as `and/or`, are not a single term.
    if not (len(parts) == 2 and "/" in token and all(len(part) > 1 and _PLAIN_WORD.fullmatch(part) for part in parts)):
        yield token.lower()
    if _HYPHENATED.fullmatch(token):  # `Wi-Fi` is also written `wifi`
        yield _stem(token.replace("-", "").lower())
    for part in parts:
        yield from _code(part)


def _split(token: str) -> list[str]:
    """Split a token at the coarsest level that yields several parts; else return it without separators."""
    for level in _LEVELS:
        parts = [part for part in level.split(token) if part]
        if len(parts) != 1:
            return parts
        if parts[0] != token and not token.endswith(("++", "#")):
            token = parts[0]
    return [token]


def _part(part: str) -> Iterator[str]:
    """Yield the terms of a token without separators: whole, and in parts if it mixes letters and digits or cases."""
    if _PLAIN_WORD.fullmatch(part) and not _CAMEL.search(part):
        yield from _word(part) if len(part) <= LONGEST_WORD else (part.lower(),)
        return
    whole = part.lower()
    yield _stem(whole)  # as people type it: `iPhone` is `iphone`
    if hexadecimal := _HEXADECIMAL.fullmatch(whole):
        yield hexadecimal[1]
    elif len(part) <= LONGEST_WORD:
        for piece in _INNER.findall(part):
            if len(piece) > 1 and piece.lower() != whole:
                yield from _word(piece)


def _version(version: str) -> Iterator[str]:
    """Yield the terms of a version: v1.2.3, 1.2.3, 1.2 and 1, but not 2 or 3; decimal numbers are treated alike."""
    yield version
    numbers = version.lstrip("v").split(".")[:LONGEST_VERSION]
    for length in range(len(numbers), 0, -1):
        prefix = ".".join(numbers[:length])
        if prefix != version:
            yield prefix


def _stem(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:  # one per thread: a stemmer is not safe to share
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


_KINDS: dict[str, Callable[[str], Iterator[str]]] = {
    "url": _address,
    "email": _address,
    "han": _chinese,
    "unspaced": lambda run: (run[start : start + 2] for start in range(max(1, len(run) - 1))),  # bigrams
    "emoji": lambda token: iter((token,)),
    "number": lambda token: _code(token.replace(",", "")),  # without its thousands separators
    "word": _apostrophe,
    "code": _code,
}
