"""Snippets: the part of a passage that matches the question best, with the question's words marked."""

import re

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from knowledge.chunking.sections import plain
from ragsite.language.analysis import terms
from ragsite.language.detection import HAN_BMP
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import words_of

SNIPPET_CHARACTERS = 480
_SPACES = re.compile(r"[ \t]+")
_FENCE = re.compile(r"^```[^\S\n]*[\w+-]*[^\S\n]*$\n?", re.MULTILINE)
_STARTS = re.compile(r"(?<=[.!?。！？；\n])\s*")
_WORD = re.compile(rf"[A-Za-zÀ-ɏ0-9][\wÀ-ɏ'’-]{{2,}}|[{HAN_BMP}]{{2,}}")
_COMMON = frozenset(words_of("common_words"))


def snippet(content: str, question: str, characters: int = SNIPPET_CHARACTERS) -> str:
    """Return about `characters` characters of a passage: the part that contains most of the question's words."""
    text = _SPACES.sub(" ", plain(content)).strip()
    if len(text) <= characters:
        return text
    wanted = set(terms(question))
    starts = [0, *(match.end() for match in _STARTS.finditer(text) if match.end() < len(text))]

    def worth(start: int) -> tuple[int, int, int]:
        """Rank by words contained, then by words near the start, then by position."""
        piece = text[start : start + characters]
        return _overlap(piece, wanted), _overlap(piece[: characters // 4], wanted), -start

    best = max(starts, key=worth)
    piece = text[best : best + characters]
    return ("… " if best else "") + piece.rstrip() + (" …" if best + characters < len(text) else "")


def _overlap(text: str, wanted: set[str]) -> int:
    return len(wanted & set(terms(text)))


def excerpt(content: str, question: str, characters: int) -> SafeString:
    """Return a snippet of a passage as HTML, without code fences and with the question's words marked."""
    return marked(snippet(_FENCE.sub("", content), question, characters), question)


def marked(snippet: str, question: str) -> SafeString:
    """Return a snippet as HTML with the question's words marked, in either script of Chinese."""
    # Mark Latin words and pairs of Han characters.
    words: set[str] = set()
    for word in _WORD.findall(simplified(question))[:60]:
        if word[0] > "⺀":
            words |= {word[i : i + 2] for i in range(len(word) - 1)}
        elif word.lower() not in _COMMON:
            words.add(word)
    if not words:
        return escape(snippet)
    # A Latin word is marked only at the start of a word: in “created”, not in “recreate”.
    patterns = [
        re.escape(word) if word[0] > "⺀" else rf"(?<![A-Za-zÀ-ɏ0-9]){re.escape(word)}"
        for word in sorted(words, key=len, reverse=True)
    ]
    html, end = "", 0
    for match in re.finditer("|".join(patterns), simplified(snippet), re.IGNORECASE):
        start, before = match.start(), end
        end = match.end()
        html += f"{escape(snippet[before:start])}<mark>{escape(snippet[start:end])}</mark>"
    return mark_safe((html + escape(snippet[end:])).replace("</mark><mark>", ""))
