"""Quotations from sources, with the words that an answer uses highlighted."""

import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from conversations.citations.supporting_sentences import grounds
from ragsite.language.analysis import terms
from ragsite.language.detection import HAN_BMP
from ragsite.language.sentences import split_sentences
from ragsite.language.simplified import simplified

# Han characters, words and numbers, and the text between them.
_PIECE = re.compile(rf"([{HAN_BMP}]+)|([^\W_{HAN_BMP}]+(?:[.,'’:/-][^\W_{HAN_BMP}]+)*)|(?:[\W_](?<![{HAN_BMP}]))+")


def marked(quotation: str, claims: Sequence[str]) -> SafeString:
    """Return a quotation as HTML, with the words of some claims highlighted in the sentences that support them.

    If no sentence clearly does, such as in another language, they are highlighted wherever they occur.
    """
    if not claims:
        return escape(quotation)
    sentences = split_sentences(quotation)
    bearing = grounds(claims, sentences) or range(len(sentences))
    wanted = set(terms("\n".join(claims)))
    runs = re.findall(f"[{HAN_BMP}]+", simplified("\n".join(claims)))
    pairs = {pair for run in runs for pair in [*run, *_pairs(run)]}
    parts = (
        _joined(_pieces(sentence, wanted, pairs)) if at in bearing else escape(sentence)
        for at, sentence in enumerate(sentences)
    )
    return mark_safe("".join(parts))


def _pairs(run: str) -> list[str]:
    """Return the bigrams of a run of Han characters; a single character is returned unchanged."""
    return [one + other for one, other in pairwise(run)] or [run]


def _pieces(sentence: str, wanted: Set[str], pairs: Set[str]) -> Iterator[tuple[str, bool | None]]:
    """Yield the pieces of a sentence and whether each is claimed; None for pieces such as punctuation."""
    for match in _PIECE.finditer(sentence):
        han, word = match.groups()
        if han:
            claimed = {
                place
                for at, pair in enumerate(_pairs(simplified(han)))
                if pair in pairs
                for place in range(at, at + len(pair))
            }
            yield from ((character, at in claimed) for at, character in enumerate(han))
        else:
            held = set(terms(word)) if word else set()
            yield match[0], held <= wanted if held else None


def _joined(pieces: Iterator[tuple[str, bool | None]]) -> str:
    """Return pieces as HTML; claimed pieces share one mark unless another word is between them."""
    html, mark, since = "", "", ""
    for text, claimed in pieces:
        if claimed:
            mark, since = mark + since + text, ""
            continue
        if claimed is None and mark:
            since += text
            continue
        html += (f"<mark>{escape(mark)}</mark>" if mark else "") + escape(since + text)
        mark = since = ""
    return html + (f"<mark>{escape(mark)}</mark>" if mark else "") + escape(since)
