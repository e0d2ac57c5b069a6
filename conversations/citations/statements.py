"""The sentences of an answer and their citation markers. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from conversations.citations.markers import MARKER, numbers_in
from ragsite.language.sentences import split_sentences

# Markers at the beginning of a sentence belong to the previous one, as in "It has nine ports. [1] It is red.", unless
# the first sentence begins with markers too.
_LEADING = re.compile(rf"(?:\s*(?:{MARKER.pattern}))+[\s.。;；,，]*")
_CODE = re.compile(r"(?<!`)(`{1,3}+)(?!`).{1,300}?(?<!`)\1(?!`)")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
# Markdown's syntax for emphasis, code, headings, block quotes and list items.
_MARKUP = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)]\s+)|\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", re.MULTILINE
)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_LINK = re.compile(r"\[([^\]\d][^\]]*)\]\([^)\s]*\)")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|~$#])")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer as plain text without markers, and the numbers of its markers, with repeats."""

    text: str
    sources: tuple[int, ...]


def cited_statements(markdown: str) -> Iterator[Statement]:
    """Yield the sentences of an answer that have markers, in order."""
    return (statement for statement in statements(markdown) if statement.sources)


def statements(markdown: str) -> Iterator[Statement]:
    """Yield the sentences of an answer, in order, except headings and questions without markers.

    A marker belongs to the sentence that it is in or follows; code is skipped.
    """
    for paragraph in re.split(r"\n\s*\n|\n(?=\s{0,3}(?:[-*+]|\d{1,3}[.)])\s)", _FENCE.sub("\n\n", markdown)):
        for sentence in sentences(paragraph):
            sources, text = tuple(numbers_in(_CODE.sub(" ", sentence))), plain(sentence)
            if re.search(r"\w", text) and (sources or not (_HEADING.match(sentence) or text.endswith(("?", "？")))):
                yield Statement(text, sources)


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, each with the markers right after it; joined, they are the paragraph.

    If a paragraph begins with a marker, its markers are taken to precede their sentences.
    """
    text = ""
    before = _LEADING.match(paragraph)
    for sentence in split_sentences(paragraph):
        leading = None if before else _LEADING.match(sentence)
        if leading and text:
            yield text + leading[0]
            text, sentence = "", sentence[leading.end() :]
        elif text:
            yield text
        text = sentence
    yield text


def plain(markdown: str) -> str:
    """Return a sentence without markers and Markdown syntax."""
    text = _LINK.sub(r"\1", MARKER.sub("", markdown))
    text = _ESCAPED.sub(r"\1", _MARKUP.sub("", text))
    return re.sub(r"\s+([.,;:!?。，；：！？])", r"\1", " ".join(text.split()))
