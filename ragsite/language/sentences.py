"""Split English and Chinese text into sentences, cut long sentences, and join sentences. Pure."""

import math
import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise

from ragsite.language.word_lists import words_of

# A full stop after the former never ends a sentence; the latter are usually followed by a number or a name.
_NEVER_LAST = frozenset(words_of("abbreviations"))
_BEFORE_NUMBER = frozenset(words_of("abbreviations_before_numbers"))

# A number that begins with letters.
_CODE = re.compile(r"[A-Z]{1,6}[-/.]?\d")
_CLOSERS = "\"'”’」』）)】》〉\\]"
_END = re.compile(
    rf"""
    (?:[。！？!?…]+|；|(?<!\.)\.++(?=[{_CLOSERS}]*\s))[{_CLOSERS}]*\s*  # an end mark, closing marks, and space
    | \n\s*                                                     # parsers keep only meaningful line breaks
    """,
    re.VERBOSE,
)
_QUOTED = re.compile(
    r"“[^“”\n]{1,160}”|「[^「」\n]{1,160}」|『[^『』\n]{1,160}』|（[^（）\n]{1,160}）|《[^《》\n]{1,80}》"
)
_LAST_WORD = re.compile(r"[\w.\-]+$")
_LIST_NUMBER = re.compile(r"\s*(?:[-*•]\s+)?[(（\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})\.$")
# The number of a figure or a table, before its caption: "Figure 14.127. Crop tool".
_CAPTION_NUMBER = re.compile(r"\s*(?:[图圖表]|fig(?:ure)?\.?|table)\s*\d{1,3}(?:[.-]\d{1,3})*\.$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(\[]\d")
_CLAUSE = re.compile(r"(?<=[,;:，、；：])\s*|(?<=[—–])\s*|\s+(?=[(（—–])")
_SPACE = re.compile(r"(?<=\s)(?=\S)")
# Numbers of characters, chosen by hand: how far before a full stop the last word is searched for, and the most that the
# number of a caption and of a list item have, with their marks.
_WORD_WITHIN, _LONGEST_CAPTION_NUMBER, _LONGEST_LIST_NUMBER = 40, 16, 8
_WINDOW = 4000  # characters; the longest text that is measured in one go


def split_sentences(text: str) -> list[str]:
    """Return the text's sentences, each with the white space after it, so that joining them restores the text.

    Abbreviations, initials, decimals, versions, URLs and file names don't end a sentence; a short quotation or
    bracket stays whole with the sentence around it; a line break always ends a sentence.
    """
    spans = [match.span() for match in _QUOTED.finditer(text)]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    pieces: list[str] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if end >= len(text):
            break
        # Within a quotation a mark doesn't end the sentence, except at its end; a line break does.
        found = bisect_right(starts, match.start()) - 1
        inside = found >= 0 and len(match.group().rstrip()) + match.start() < ends[found]
        if (inside and not match.group().startswith("\n")) or not _ends_sentence(text, start, match):
            continue
        if text[start:end].strip():
            pieces.append(text[start:end])
            start = end
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def join_sentences(*sentences: object) -> str:
    """Join sentences, leaving out empty ones, with a space between them except after a Chinese full stop."""
    texts = [text for sentence in sentences if (text := str(sentence or ""))]
    return "".join(text if text.endswith(("。", "！", "？")) else f"{text} " for text in texts).rstrip()


def cut_long(text: str, limit: int, measure: Callable[[str], int]) -> list[str]:
    """Cut a text into pieces of at most `limit` tokens: at clauses, else at white space, else anywhere.

    Joining the pieces restores the text.
    """
    pieces: list[str] = []
    for window in windows(text):
        pieces += _cut(window, limit, measure, (_CLAUSE, _SPACE))
    return pieces


def _cut(text: str, limit: int, measure: Callable[[str], int], patterns: tuple[re.Pattern[str], ...]) -> list[str]:
    if len(text) < 2 or (tokens := measure(text)) <= limit:
        return [text]
    if not patterns:
        # Slightly more parts than necessary, so that hardly any has to be cut and measured again.
        parts = min(len(text), math.ceil(1.1 * tokens / limit))
        edges = [len(text) * number // parts for number in range(parts + 1)]
        return [part for a, b in pairwise(edges) for part in _cut(text[a:b], limit, measure, ())]
    packed: list[str] = []
    room = 0
    places = [match.end() for match in patterns[0].finditer(text) if 0 < match.end() < len(text)]
    edges = [0, *dict.fromkeys(places), len(text)]
    for atom in [text[a:b] for a, b in pairwise(edges) if b > a]:
        cost = measure(atom)
        if cost > limit:
            packed += _cut(atom, limit, measure, patterns[1:])
            room = 0
        elif packed and cost <= room:  # text without tokens costs nothing
            packed[-1] += atom
            room -= cost
        else:
            packed.append(atom)
            room = limit - cost
    return packed


def windows(text: str) -> list[str]:
    """Return slices of bounded length, cut at white space if there is any nearby."""
    slices: list[str] = []
    start = 0
    while len(text) - start > _WINDOW:
        space = text.rfind(" ", start + _WINDOW // 2, start + _WINDOW)
        end = space + 1 if space > 0 else start + _WINDOW
        slices.append(text[start:end])
        start = end
    return [*slices, text[start:]]


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark[0] in "。！？；…\n" or "\n" in mark:
        return True
    following = text[match.end()]
    spaced = mark[-1].isspace()
    if mark[0] in "!?":
        wide = "\u2e80" <= following <= "\u9fff" or "\uff00" <= following <= "\uff60" or following in "“‘"
        return wide or (spaced and not following.islower())
    if following.islower():
        return False
    before = text[max(start, match.start() - _WORD_WITHIN) : match.start()]
    if mark[0] == "." and not mark.startswith("..") and match.start() - start <= _LONGEST_CAPTION_NUMBER:
        begun = text[start : match.start()] + "."
        if (match.start() - start <= _LONGEST_LIST_NUMBER and _LIST_NUMBER.match(begun)) or _CAPTION_NUMBER.match(
            begun
        ):
            return False
    if mark.startswith("..") and before.endswith("]"):  # "chmod [OPTION]... FILE"
        return False
    found = _LAST_WORD.search(before)
    if found is None:
        return True
    word = found.group().lower().strip("-")
    if word in _NEVER_LAST:
        return False
    if word in _BEFORE_NUMBER:
        # "Eq. (2)", "No. L-2209"
        numbered = following.isdigit() or _IN_BRACKETS.match(text, match.end()) or _CODE.match(text, match.end())
        return not (numbered or (word in {"al", "ed", "eds"} and following in "(["))
    # An initial as in "J. Smith". Sentences that end in "I." or in the name of a variable are rarer.
    initial = len(word) == 1 and word.isalpha() and word != "i" and found.group().isupper()
    return not (initial and following.isupper())
