"""Corrects misspelt English words of a question that no passage contains.

The index holds hashes of terms, so its words can't be listed; but whether a word is in it can be looked up. A word is
misspelt if it is neither in the index nor in the dictionary: a word that is merely missing from the documents must stay
missing. docs/decisions/terms.md has the figures.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from string import ascii_lowercase

from django.db import connection

from ragsite.language.analysis import terms
from ragsite.language.content_words import content_terms
from retrieval.engine.fulltext import Frequencies, frequencies

# Shorter words have too many neighbours. From `TWO_EDITS` letters on, two wrong letters are corrected too.
SHORTEST, TWO_EDITS = 4, 8
# The highest costs of the edits: of one, of one in a word of `SHORTEST` letters, and of two together. Edits that people
# rarely make cost more: with them, technical terms would become everyday words.
ONE_EDIT, ONE_OF_SHORTEST, BOTH_EDITS = 1.0, 0.75, 1.7
# The most candidates that are looked up in passages; the likeliest are first.
_MOST_LOOKED_UP = 3

# A plain word in small letters, or capitalised at the beginning: neither a name nor a part of a code or an address.
_WORD = re.compile(r"(?<![A-Za-z0-9_@./#'’-])(?:^[A-Z])?[a-z]+(?![A-Za-z0-9_@/#'’-]|\.[A-Za-z0-9])")
_LATIN = re.compile(r"[A-Za-z]+")
_ENDINGS = frozenset(["", "s", "es", "d", "ed", "ing", "r", "er", "ly"])
_LONG_STEM = 5  # letters; shorter ones are shared by unrelated words: basis, basie
_VOWELS = frozenset("aeiouy")
_SOUND_ALIKE = {frozenset(pair) for pair in ("cs", "ck", "sz", "fv", "gj", "kq")}
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SAME_ROW = {frozenset(pair) for row in _ROWS for pair in pairwise(row)}
_PASSAGES = """
SELECT string_agg(concat_ws(' ', array_to_string(heading_path, ' '), title, original_filename, content), ' ')
FROM (SELECT chunk_id FROM retrieval_indexentry WHERE terms @@ %(query)s::tsquery LIMIT 3) AS found
JOIN knowledge_chunk ON knowledge_chunk.id = chunk_id JOIN knowledge_document ON knowledge_document.id = document_id
"""


def warm_up() -> None:
    """Read the dictionary, so that the first question doesn't wait for it."""
    _dictionary()


def corrections(text: str, knowledge_base_ids: Sequence[int]) -> dict[str, str]:
    """Return the misspelt words of a text as they are written there, each with the word of the documents it stands for.

    Makes a database query if a word is not in the dictionary, and some more if no passage contains it. If more
    than two words and more than half of them are missing, the documents are about something else or in another
    language, and nothing is corrected.
    """
    asked = {match[0]: content_terms(match[0]) for match in _WORD.finditer(text)}
    asked = {word: found for word, found in asked.items() if found and len(word) >= SHORTEST}
    unusual = [word for word in asked if not _is_a_word(word.lower())]
    if not unusual:
        return {}
    known = frequencies({term for found in asked.values() for term in found}, knowledge_base_ids)
    missing = [word for word, found in asked.items() if not any(known.holding[term] for term in found)]
    if len(missing) > max(2, len(asked) // 2):
        return {}
    found = {}
    for word in unusual:
        if word in missing and (right := _nearest(word.lower(), knowledge_base_ids)):
            found[word] = right.capitalize() if word[0].isupper() else right
    return found


def corrected(text: str, words: Mapping[str, str]) -> str:
    """Return a text with its misspelt words replaced."""
    if not words:
        return text
    pattern = rf"(?<![A-Za-z])(?:{'|'.join(map(re.escape, words))})(?![A-Za-z])"
    return re.sub(pattern, lambda match: words[match[0]], text)


def _nearest(word: str, knowledge_base_ids: Sequence[int]) -> str:
    """Return the likeliest word of the passages that a misspelt one stands for; empty if there is none."""
    most = ONE_OF_SHORTEST if len(word) == SHORTEST else ONE_EDIT
    costs = {other: _cost(word, other) for other in _one_edit(word) if other[0] == word[0]}
    right = _held({other: cost for other, cost in costs.items() if cost <= most}, knowledge_base_ids)
    if not right and len(word) >= TWO_EDITS:
        right = _held(_two_edits(word), knowledge_base_ids)
    return right


def _held(candidates: Mapping[str, float], knowledge_base_ids: Sequence[int]) -> str:
    """Return the candidate of the lowest cost that passages contain; empty if there is none."""
    stems = {word: found[0] for word in candidates if len(found := terms(word)) == 1}
    known = frequencies(set(stems.values()), knowledge_base_ids)
    held = [word for word, stem in stems.items() if known.holding[stem]]
    held.sort(key=lambda word: (candidates[word], not _is_a_word(word), -known.holding[stems[word]], word))
    return next((word for word in held[:_MOST_LOOKED_UP] if _is_in_passage(word, stems[word], known)), "")


def _is_in_passage(word: str, stem: str, known: Frequencies) -> bool:
    """Return whether a passage has a word, perhaps with another ending.

    Among hundreds of candidates, some have the stem or the hash of another word.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PASSAGES, {"query": "|".join(f"'{lexeme}'" for lexeme in known.lexemes[stem])})
        (text,) = cursor.fetchone()
    held = {found.lower() for found in _LATIN.findall(text or "")}
    if len(stem) >= _LONG_STEM and word.startswith(stem) and any(other.startswith(stem) for other in held):
        return True
    pairs = (sorted((word, other), key=len) for other in held if other[:1] == word[0])
    return any(longer.removeprefix(shorter) in _ENDINGS for shorter, longer in pairs)


def _is_a_word(word: str) -> bool:
    return f"\n{word}\n" in _dictionary()


@cache
def _dictionary() -> str:
    """Return 160,000 English words in small letters, each between line breaks; read on first use.

    As one string they take 2 MB, in a set 20.
    """
    from spellchecker import SpellChecker

    return "\n".join(["", *SpellChecker(language="en").word_frequency.words(), ""])


@lru_cache(64)
def _one_edit(word: str) -> frozenset[str]:
    """Return all strings with one letter more, less or different, or with two letters swapped."""

    def edits() -> Iterator[str]:
        for place in range(len(word) + 1):
            before, after = word[:place], word[place:]
            if after:
                yield before + after[1:]
                yield from (before + letter + after[1:] for letter in ascii_lowercase)
            if len(after) > 1:
                yield before + after[1] + after[0] + after[2:]
            yield from (before + letter + after for letter in ascii_lowercase)

    return frozenset(edits()) - {word}


@lru_cache(64)
def _two_edits(word: str) -> dict[str, float]:
    """Return the words of the dictionary that differ by two likely edits, each with its cost."""
    pattern = rf"(?<=\n){word[0]}[a-z]{{{len(word) - 3},{len(word) + 1}}}(?=\n)"
    alike = (other for other in re.findall(pattern, _dictionary()) if len(set(word) ^ set(other)) <= 4)
    costs = ((other, _cost(word, other)) for other in alike)
    return {other: cost for other, cost in costs if cost <= BOTH_EDITS}


def _cost(word: str, other: str) -> float:
    """Return the sum of the edits from one word to another; likely slips cost less than 1, a wrong letter 1.2."""
    before: list[float] = []
    row = [float(place) for place in range(len(other) + 1)]
    for at, letter in enumerate(word, 1):
        last, row = row, [float(at)]
        for place, wanted in enumerate(other, 1):
            doubled = 0.7 if letter == word[at - 2 : at - 1] else 1.0
            missed = 0.7 if wanted == other[place - 2 : place - 1] else 1.0
            cheapest = min(last[place] + doubled, row[place - 1] + missed, last[place - 1] + _other(letter, wanted))
            if at > 1 and place > 1 and letter == other[place - 2] and word[at - 2] == wanted != letter:
                cheapest = min(cheapest, before[place - 2] + 0.8)
            row.append(cheapest)
        before = last
    return row[-1]


def _other(letter: str, wanted: str) -> float:
    if letter == wanted:
        return 0.0
    pair = frozenset((letter, wanted))
    return 0.8 if pair <= _VOWELS or pair in _SOUND_ALIKE or pair in _SAME_ROW else 1.2
