"""Full-text search in messages and citations: index expressions and queries.

PostgreSQL's parser treats a run of Chinese characters as one word, and keeps URLs and paths whole. Here every Chinese
character is a word of its own and punctuation separates words, so a Chinese word is a phrase of characters. URLs of
pictures, which are on this site, are not indexed.

A Chinese character of a query stands for all characters with the same simplified form, so that messages in both scripts
are found.

A GIN index stores which words a text has, but not their positions. So the index finds the texts that contain all parts
of a phrase, and a regular expression checks those: a phrase query of PostgreSQL would parse each of these texts again,
which takes twenty times as long.
"""

import re
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVectorField
from django.db.models import Expression, F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

from ragsite.language.simplified import forms

_PARTS = r"([㐀-鿿])|\]\(/[^)\s]*\)|[!-/:-@[-`{-~]"
_HAN_OR_WORD = re.compile(r"[㐀-鿿]|[^\s㐀-鿿!-/:-@\[-`{-~]+")
_IS_HAN = re.compile(r"[㐀-鿿]")
# The characters allowed between the parts of a phrase: whitespace, and the punctuation of both languages.
_BETWEEN = r"[\s!-/:-@[-`{-~\u00a0\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"


def word_vector(*fields: str) -> Func:
    """Return the expression of the index on text fields; queries must use the same expression."""
    text = Func(
        _text(fields), Value(_PARTS), Value(r" \1 "), Value("g"), function="regexp_replace", output_field=TextField()
    )
    return Func(Value("simple"), text, function="to_tsvector", output_field=SearchVectorField())


def word_query(word: str) -> SearchQuery | None:
    """Return the query for texts with all parts of a word, or None if it has none; the last part is a prefix."""
    parts = _HAN_OR_WORD.findall(word)
    if not parts:
        return None
    terms = ["(" + "|".join(f"'{form}'" for form in _forms(part)) + ")" for part in parts]
    if not _IS_HAN.match(parts[-1]):
        terms[-1] = f"'{parts[-1]}':*"
    return SearchQuery(" & ".join(terms), config="simple", search_type="raw")


def word_pattern(word: str) -> str | None:
    """Return the PostgreSQL regular expression of texts in which the parts of a word follow each other.

    Return None for a word of one part, for which the index suffices.
    """
    parts = _HAN_OR_WORD.findall(word)
    return _pattern(parts) if len(parts) > 1 else None


def _pattern(parts: list[str]) -> str:
    pattern = _part(parts[0]) if _IS_HAN.match(parts[0]) else f"(?<![0-9a-z]){parts[0]}"
    for before, part in pairwise(parts):
        either_is_han = _IS_HAN.match(before) or _IS_HAN.match(part)
        pattern += _BETWEEN + ("*" if either_is_han else "+") + _part(part)
    return pattern


def _part(part: str) -> str:
    """Return the pattern of a part: of a Chinese character that has other forms, any of them."""
    found = _forms(part)
    return f"[{''.join(found)}]" if len(found) > 1 else part


def _forms(part: str) -> tuple[str, ...]:
    return tuple(forms(part)) if _IS_HAN.match(part) else (part,)


def passage_with(text: str, words: Iterable[str], around: int = 70) -> list[tuple[str, bool]]:
    """Return an excerpt of a text around the first match, as (text, whether it is a match) pairs; empty without one.

    Words match as they do in the index, prefixes included. `around` is in characters.
    """
    text = " ".join(text.split())
    patterns = [_pattern(parts) for parts in map(_HAN_OR_WORD.findall, words) if parts]
    looked_for = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None
    first = looked_for.search(text) if looked_for else None
    if looked_for is None or first is None:
        return []
    start, end = max(0, first.start() - around // 2), min(len(text), first.end() + around)
    if start and " " in text[start : first.start()]:
        start = text.index(" ", start) + 1
    pieces, at = [("…", False)] if start else [], start
    for hit in looked_for.finditer(text, start, end):
        pieces += [(text[at : hit.start()], False), (hit.group(), True)]
        at = hit.end()
    pieces.append((text[at:end] + ("…" if end < len(text) else ""), False))
    return [piece for piece in pieces if piece[0]]


def having_word(rows: QuerySet[Any], word: str, *fields: str) -> QuerySet[Any]:
    """Return the rows whose fields contain a word or a word that begins with it, using the index on the fields."""
    query, pattern = word_query(word), word_pattern(word)
    if query is None:
        return rows.none()
    found: QuerySet[Any] = rows.alias(words=word_vector(*fields)).filter(words=query)
    if pattern is not None:
        phrase = Q(text__iregex=pattern)
        if all(map(_IS_HAN.match, parts := _HAN_OR_WORD.findall(word))):
            # Usually nothing separates the characters, and a plain search for them is faster.
            phrase = reduce(or_, (Q(**{f"{field}__contains": "".join(parts)}) for field in fields)) | phrase
        found = found.alias(text=_text(fields)).filter(phrase)
    return found


def _text(fields: tuple[str, ...]) -> Expression | F:
    if len(fields) == 1:
        return F(fields[0])
    parted = [part for field in fields for part in (F(field), Value(" "))]
    return Concat(*parted[:-1], output_field=TextField())
