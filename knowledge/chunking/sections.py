"""Folding small sections: one that fits into a chunk, with all below it, becomes one chunk. Pure.

A reference manual has thousands of sections of a few words ("Syntax", "Example"). Alone they say nothing of what they
belong to; together they are the passage that a reader wants.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Table

# How a folded section's own heading stands in the text, on a line by itself: as Markdown's fourth level, whatever its
# level was.
MARK = "#### "
_MARKS = re.compile(f"^{MARK}", re.M)
_LONGEST_HEADING = 300  # characters; longer "headings" are paragraphs set in a heading's style


@dataclass(frozen=True, slots=True)
class SubHeading(Element):
    """A heading that stays within the text of the section above it."""

    text: str = ""


def fold(elements: Iterable[Element], *, limit: int, measure: Callable[[str], int]) -> Iterator[Element]:
    """Yield the elements, with the headings below a small section turned into `SubHeading`.

    A section is small when it has text of its own, no table, and at most `limit` tokens of `measure` with all the
    sections below it. No more than about `limit` tokens of elements are held.
    """
    folder = _Folder(limit, measure)
    for element in elements:
        yield from folder.add(element)
    yield from folder.close()


def plain(content: str) -> str:
    """Return a chunk's content with its inner headings as plain lines."""
    return _MARKS.sub("", content)


def heads_section(element: Element) -> bool:
    """Whether an element is a heading that begins a section."""
    return isinstance(element, Heading) and 0 < len(" ".join(element.text.split())) <= _LONGEST_HEADING


@dataclass(slots=True)
class _Folder:
    """Holds the section being read for as long as it may still prove small; `held` begins with its heading."""

    limit: int
    measure: Callable[[str], int]
    held: list[Element] = field(default_factory=list)
    tokens: int = 0

    def add(self, element: Element) -> Iterator[Element]:
        # A heading below that of the held section, and with text between them, is held as well.
        top = self.held[0] if len(self.held) > 1 else None
        below = isinstance(element, Heading) and isinstance(top, Heading) and element.level > top.level
        if heads_section(element) and not below:
            yield from self.close()
            self.held = [element]
        elif not self.held:
            yield element
        else:
            self.held.append(element)
            if isinstance(element, Table):
                self.tokens = self.limit + 1  # a chunk of its own, which would tear the text apart
            elif isinstance(element, Paragraph | Code | Heading):
                self.tokens += self.measure(element.text)
            if self.tokens > self.limit:
                # The section is too large: its heading goes out with what stands right under it; those below may do.
                held, self.held, self.tokens = self.held, [], 0
                yield held[0]
                for inner in held[1:]:
                    yield from self.add(inner)

    def close(self) -> Iterator[Element]:
        """Give out the held section, which has proved small."""
        for position, element in enumerate(self.held):
            if position and isinstance(element, Heading) and heads_section(element):
                yield SubHeading(element.page, " ".join(element.text.split()))
            else:
                yield element
        self.held, self.tokens = [], 0
