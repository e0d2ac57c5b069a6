"""Highlights of a document: the passages that a citation refers to, and the sentences in them that support it.

In URLs, `joined` lists the passages that were joined, and `said` the sentences: `12.3` is the fourth sentence of
passage 12, or the fourth row of a table.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlencode

from knowledge.chunking.sections import MARK
from knowledge.models import Chunk
from ragsite.language.sentences import split_sentences

# The marker of a list item.
BULLET = re.compile(r"^\s*[-*•]\s+")
# More items in a URL's parameter are ignored.
_MOST = 100
_ID = re.compile(r"\d{1,17}", re.ASCII)
_SENTENCE = re.compile(r"(\d{1,17})\.(\d{1,5})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Marks:
    """The highlights of a cited passage.

    `chunk_id` is the passage's, `joined` are those of the passages it was joined from, in document order, and `said`
    are its sentences by chunk id, numbered from 0.
    """

    chunk_id: int
    joined: tuple[int, ...] = ()
    said: Mapping[int, Set[int]] = field(default_factory=dict)

    @classmethod
    def read(cls, chunk_id: int, address: Mapping[str, str]) -> Self:
        """Return the highlights in a URL's parameters for a passage, ignoring invalid values."""
        joined = ids_in(address.get("joined", ""))
        said: dict[int, set[int]] = defaultdict(set)
        for match in map(_SENTENCE.fullmatch, address.get("said", "").split(",")[:_MOST]):
            if match:
                said[int(match[1])].add(int(match[2]))
        return cls(chunk_id, joined if chunk_id in joined else (), said)

    @property
    def chunk_ids(self) -> tuple[int, ...]:
        """The ids of the passages, in document order."""
        return self.joined or (self.chunk_id,)

    @property
    def beside(self) -> dict[str, str]:
        """The URL's parameters besides the passage's own id."""
        sentences = [f"{chunk}.{number}" for chunk in self.chunk_ids for number in sorted(self.said.get(chunk, ()))]
        given = {"joined": ",".join(map(str, self.joined)), "said": ",".join(sentences[:_MOST])}
        return {name: value for name, value in given.items() if value}

    def said_in(self, chunk: Chunk) -> dict[str, str]:
        """Return the element ids of a passage's highlighted sentences, by their text without list and heading marks."""
        sentences = sentences_of(chunk)
        wanted = sorted(number for number in self.said.get(chunk.pk, ()) if number < len(sentences))
        return {bare(sentences[number]): anchor_of(chunk.pk, number) for number in wanted}

    def lead(self, cited: Sequence[Chunk]) -> Chunk | None:
        """Return the chunk to scroll to: that of the first highlighted sentence, or else the passage's own."""
        said = (chunk for chunk in cited if self.said.get(chunk.pk))
        return next(said, next((chunk for chunk in cited if chunk.pk == self.chunk_id), None))

    def query(self, **before: int) -> str:
        """Return a URL's query, with `before` first, and the anchor of the first highlighted sentence.

        It is empty if there are no parameters.
        """
        query = urlencode(before | self.beside, safe=",")
        first = next((chunk for chunk in self.chunk_ids if self.said.get(chunk)), None)
        anchor = f"#{anchor_of(first, min(self.said[first]))}" if first is not None else ""
        return (f"?{query}" if query else "") + anchor


def ids_in(text: str) -> tuple[int, ...]:
    """Return the ids in a URL's list such as `12,13`."""
    return tuple(int(part) for part in text.split(",")[:_MOST] if _ID.fullmatch(part))


def anchor_of(chunk_id: int, number: int) -> str:
    """Return the element id of a highlighted sentence."""
    return f"said-{chunk_id}-{number}"


def bare(sentence: str) -> str:
    """Return a sentence without surrounding white space and without the marker of a list item or a heading."""
    return BULLET.sub("", sentence.strip()).removeprefix(MARK)


def sentences_of(chunk: Chunk) -> list[str]:
    """Return the sentences of a passage, or the rows of a table, in the order of their numbers."""
    if chunk.kind == Chunk.Kind.TABLE and chunk.table_rows is not None:
        return [" | ".join(map(str, row)) for row in chunk.table_rows]
    return split_sentences(chunk.content)
