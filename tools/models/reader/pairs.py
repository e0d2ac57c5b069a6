"""Encode pairs of question and passage for the reader: token IDs, and the tokens of the answer's start and end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.models.reader.data import ANSWERED, Group, Item
from tools.models.reader.texts import sentences

MAX_TOKENS, MAX_QUESTION_TOKENS = 384, 80
BEGIN, PAD, END = 0, 1, 2
# Used instead of a token's index if it is unknown.
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Pair:
    """An encoded pair; `places` are the first and last tokens of answer and sentence: 0 if none, -1 if unknown."""

    ids: NDArray[np.int32]
    label: int
    places: tuple[int, int, int, int]


def load_tokenizer(path: Path) -> Tokenizer:
    """Return a tokenizer without truncation and padding."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def join(question: Sequence[int], passage: Sequence[int]) -> tuple[list[int], int]:
    """Return a pair's IDs, and the index at which its passage begins."""
    asked = list(question[:MAX_QUESTION_TOKENS])
    ids = [BEGIN, *asked, END, END, *passage[: MAX_TOKENS - 4 - len(asked)], END]
    return ids, len(asked) + 3


def pairs_of(group: Group, tokenizer: Tokenizer) -> list[Pair]:
    """Return a group's pairs, in order."""
    question = tokenizer.encode(group.question, add_special_tokens=False).ids
    texts = tokenizer.encode_batch([item.text for item in group.items], add_special_tokens=False)
    found = []
    for item, text in zip(group.items, texts, strict=True):
        ids, start = join(question, text.ids)
        places = (UNKNOWN,) * 4 if group.supports else _places(item, text.offsets, start, len(ids) - 1)
        found.append(Pair(np.array(ids, np.int32), item.label, places))
    return found


def _places(item: Item, offsets: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int, int, int]:
    if item.label != ANSWERED:
        return 0, 0, 0, 0

    def tokens_of(part: str | None) -> tuple[int, int]:
        at = item.text.find(part) if part else -1
        if part is None or at < 0:
            return UNKNOWN, UNKNOWN
        within = [i for i, (a, b) in enumerate(offsets) if a < at + len(part) and b > at]
        if not within or within[-1] + start >= end:
            return UNKNOWN, UNKNOWN
        return within[0] + start, within[-1] + start

    return *tokens_of(item.answer), *tokens_of(item.evidence or _sentence(item.text, item.answer))


def _sentence(text: str, part: str | None) -> str | None:
    """Return the sentence that contains a part of a text."""
    at = text.find(part) if part else -1
    return next((text[a:b].strip() for a, b in sentences(text) if a <= at < b), None) if at >= 0 else None


def padded(pairs: Iterable[Pair]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the IDs and mask of pairs, padded to [pairs, tokens]."""
    rows = [pair.ids for pair in pairs]
    longest = max(map(len, rows))
    ids, mask = np.full((len(rows), longest), PAD, np.int64), np.zeros((len(rows), longest), bool)
    for row, own in enumerate(rows):
        ids[row, : len(own)], mask[row, : len(own)] = own, True
    return ids, mask
