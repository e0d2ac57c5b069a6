"""The sentences of an answer that carry citation markers. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from conversations.markdown import MARKER
from knowledge.sentences import split_sentences

# Markers right at the beginning of a sentence belong to the one before: "It has nine ports. [1] It is red."
_LEADING = re.compile(rf"(?:\s*(?:{MARKER.pattern}))+[\s.。;；,，]*")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
# Markdown's marks of emphasis, headings, quotations, list items and links, as far as they aren't what is said.
_MARKUP = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)]\s+)|\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", re.MULTILINE
)
_LINK = re.compile(r"\[([^\]\d][^\]]*)\]\([^)\s]*\)")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|~$#])")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, plain and without its markers, and the numbers of the sources that it names.

    A source is named as often as the sentence has its marker.
    """

    text: str
    sources: tuple[int, ...]


def claims(markdown: str) -> Iterator[Claim]:
    """Yield the sentences of an answer that carry markers, in order.

    A marker stands for the sentence that it ends or stands in; code is not looked into.
    """
    for paragraph in re.split(r"\n\s*\n|\n(?=\s{0,3}(?:[-*+]|\d{1,3}[.)])\s)", _FENCE.sub("\n\n", markdown)):
        yield from _in_paragraph(paragraph)


def _in_paragraph(paragraph: str) -> Iterator[Claim]:
    text = ""
    for sentence in split_sentences(paragraph):
        leading = _LEADING.match(sentence)
        if leading and text:
            yield from _claim(text + leading[0])
            text, sentence = "", sentence[leading.end() :]
        elif text:
            yield from _claim(text)
        text = sentence
    yield from _claim(text)


def _claim(text: str) -> Iterator[Claim]:
    sources = tuple(numbers_in(text))
    said = plain(text)
    if sources and re.search(r"\w", said):
        yield Claim(said, sources)


def numbers_in(text: str) -> list[int]:
    """Return the numbers of a text's markers, in their order, repeats included."""
    groups = (match[1] or match[2] for match in MARKER.finditer(text))
    return [int(number) for group in groups for number in re.findall(r"\d+", group)]


def plain(markdown: str) -> str:
    """Return a sentence without markers and Markdown's marks."""
    text = _LINK.sub(r"\1", MARKER.sub("", markdown))
    text = _ESCAPED.sub(r"\1", _MARKUP.sub("", text))
    return re.sub(r"\s+([.,;:!?。，；：！？])", r"\1", " ".join(text.split()))
