"""Finding messages by their words: what the index holds of a text, and what is asked of it.

PostgreSQL's parser takes a run of Chinese characters for one word, and keeps addresses and paths whole. Here every
Chinese character is a word of its own and punctuation parts words, so that a Chinese word is a phrase of characters.
The addresses of pictures, which lie on this site, are no words.
"""

import re

from django.contrib.postgres.search import SearchQuery, SearchVectorField
from django.db.models import F, Func, TextField, Value

_PARTS = r"([㐀-鿿])|\]\(/[^)\s]*\)|[!-/:-@[-`{-~]"
_HAN_OR_WORD = re.compile(r"[㐀-鿿]|[^\s㐀-鿿!-/:-@\[-`{-~]+")


def word_vector(field: str) -> Func:
    """Return the expression that the index on a text field holds; a query must use the same."""
    text = Func(
        F(field), Value(_PARTS), Value(r" \1 "), Value("g"), function="regexp_replace", output_field=TextField()
    )
    return Func(Value("simple"), text, function="to_tsvector", output_field=SearchVectorField())


def word_query(word: str) -> SearchQuery | None:
    """Return the query that finds texts with a word, which may be only begun; None when it holds nothing to find."""
    parts = _HAN_OR_WORD.findall(word)
    if not parts:
        return None
    terms = [f"'{part}'" for part in parts]
    if not re.match(r"[㐀-鿿]", parts[-1]):
        terms[-1] += ":*"
    return SearchQuery(" <-> ".join(terms), config="simple", search_type="raw")
