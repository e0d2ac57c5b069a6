"""The sentences of an answer that carry citation markers. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from conversations.citations.markers import MARKER, numbers_in
from ragsite.language.sentences import split_sentences

# Markers right at the beginning of a sentence belong to the one before: "It has nine ports. [1] It is red.",
# unless the first sentence has them there, too.
_LEADING = re.compile(rf"(?:\s*(?:{MARKER.pattern}))+[\s.。;；,，]*")
_CODE = re.compile(r"(?<!`)(`{1,3}+)(?!`).{1,300}?(?<!`)\1(?!`)")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
# Markdown's marks of emphasis, headings, quotations, list items and links, as far as they aren't what is said.
_MARKUP = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)]\s+)|\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", re.MULTILINE
)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
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
    """Yield the sentences of an answer that carry markers, in order."""
    return (claim for claim in statements(markdown) if claim.sources)


def statements(markdown: str) -> Iterator[Claim]:
    """Yield the sentences of an answer, in order, but for headings and questions that carry no marker.

    A marker stands for the sentence that it ends or stands in; code is not looked into.
    """
    for paragraph in re.split(r"\n\s*\n|\n(?=\s{0,3}(?:[-*+]|\d{1,3}[.)])\s)", _FENCE.sub("\n\n", markdown)):
        for sentence in sentences(paragraph):
            sources, said = tuple(numbers_in(_CODE.sub(" ", sentence))), plain(sentence)
            if re.search(r"\w", said) and (sources or not (_HEADING.match(sentence) or said.endswith(("?", "？")))):
                yield Claim(said, sources)


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, each with the markers right after it; joined they are the paragraph.

    Where a paragraph begins with a marker, its markers stand before their sentences.
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
    """Return a sentence without markers and Markdown's marks."""
    text = _LINK.sub(r"\1", MARKER.sub("", markdown))
    text = _ESCAPED.sub(r"\1", _MARKUP.sub("", text))
    return re.sub(r"\s+([.,;:!?。，；：！？])", r"\1", " ".join(text.split()))
