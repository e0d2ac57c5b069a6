"""Folds small sections: one that fits into a chunk with all its subsections becomes one chunk. Pure.

A reference manual has thousands of sections of a few words ("Syntax", "Example"). Alone they don't say what they are
about; together they are the passage that a reader wants.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Table

# Marks a folded section's heading in the text, on a line by itself: a fourth-level heading of Markdown, whatever its
# original level.
MARK = "#### "
_MARKS = re.compile(f"^{MARK}", re.M)
_LONGEST_HEADING = 300  # characters; longer "headings" are paragraphs set in a heading's style


@dataclass(frozen=True, slots=True)
class SubHeading(Element):
    """A heading that is kept within the text of the section above it."""

    text: str = ""


def fold(elements: Iterable[Element], *, limit: int, measure: Callable[[str], int]) -> Iterator[Element]:
    """Yield the elements, with the headings below a small section turned into `SubHeading`.

    A section is small if it has text of its own, no table, and at most `limit` tokens of `measure` including its
    subsections. No more than about `limit` tokens of elements are kept in memory.
    """
    folder = _Folder(limit, measure)
    for element in elements:
        yield from folder.add(element)
    yield from folder.close()


def plain(content: str) -> str:
    """Return a chunk's content with the headings in it as plain lines."""
    return _MARKS.sub("", content)


def heads_section(element: Element) -> bool:
    """Return whether an element is a heading that begins a section."""
    return isinstance(element, Heading) and 0 < len(" ".join(element.text.split())) <= _LONGEST_HEADING


@dataclass(slots=True)
class _Folder:
    """Keeps the current section while it may still be small; `held` begins with its heading."""

    limit: int
    measure: Callable[[str], int]
    held: list[Element] = field(default_factory=list)
    tokens: int = 0

    def add(self, element: Element) -> Iterator[Element]:
        # A lower heading with text between it and the section's heading belongs to the section.
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
                self.tokens = self.limit + 1  # it becomes a chunk of its own, which would split the text
            elif isinstance(element, Paragraph | Code | Heading):
                self.tokens += self.measure(element.text)
            if self.tokens > self.limit:
                # The section is too large: its heading and own text are emitted; its subsections may still be small.
                held, self.held, self.tokens = self.held, [], 0
                yield held[0]
                for inner in held[1:]:
                    yield from self.add(inner)

    def close(self) -> Iterator[Element]:
        """Yield the section, which is small."""
        for position, element in enumerate(self.held):
            if position and isinstance(element, Heading) and heads_section(element):
                yield SubHeading(element.page, " ".join(element.text.split()))
            else:
                yield element
        self.held, self.tokens = [], 0
