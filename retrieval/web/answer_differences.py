"""Differences between two answers to a question, sentence by sentence. Pure."""

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from ragsite.language.sentences import split_sentences

_LEADING = re.compile(r"(?:\[\d+\]\s*)+")
_MARKER = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of an answer and the white space after it; `only` if the other answer lacks it."""

    text: str
    only: bool = False
    space: str = ""


def differences(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Return both answers in pieces, marking those that only one has. Citation markers are ignored."""
    sides = _sentences(first), _sentences(second)
    texts = [[_MARKER.sub("", piece).strip() for piece in side] for side in sides]
    one, other = (
        [Piece(text.rstrip(), bool(key), text[len(text.rstrip()) :]) for text, key in zip(*both, strict=True)]
        for both in zip(sides, texts, strict=True)
    )
    for block in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_matching_blocks():
        for pieces, begin in ((one, block.a), (other, block.b)):
            for at in range(begin, begin + block.size):
                pieces[at] = replace(pieces[at], only=False)
    return one, other


def _sentences(text: str) -> list[str]:
    """Return the sentences of an answer, each with the markers after it."""
    found: list[str] = []
    for sentence in split_sentences(text.strip()):
        markers = _LEADING.match(sentence)
        if found and markers:
            found[-1] += markers.group()
            sentence = sentence[markers.end() :]
        found += [sentence] if sentence else []
    return found
