"""What a page marks of a document: the passages that a citation stands on, and the sentences that bear it out.

In addresses `joined` are the passages that were joined, and `said` the sentences: `12.3` is the fourth of passage 12,
of a table its fourth row.
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

# The sign of a list's item.
BULLET = re.compile(r"^\s*[-*•]\s+")
# Of an address, no more is looked at.
_MOST = 100
_ID = re.compile(r"\d{1,17}", re.ASCII)
_SENTENCE = re.compile(r"(\d{1,17})\.(\d{1,5})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Marks:
    """A passage, by its chunk id; all that it was joined of, in the document's order; sentences by chunk id, from 0."""

    chunk_id: int
    joined: tuple[int, ...] = ()
    said: Mapping[int, Set[int]] = field(default_factory=dict)

    @classmethod
    def read(cls, chunk_id: int, address: Mapping[str, str]) -> Self:
        """Return what an address has marked beside a passage; what it can't mean is left out."""
        joined = ids_in(address.get("joined", ""))
        said: dict[int, set[int]] = defaultdict(set)
        for match in map(_SENTENCE.fullmatch, address.get("said", "").split(",")[:_MOST]):
            if match:
                said[int(match[1])].add(int(match[2]))
        return cls(chunk_id, joined if chunk_id in joined else (), said)

    @property
    def chunk_ids(self) -> tuple[int, ...]:
        """The passages, in the document's order."""
        return self.joined or (self.chunk_id,)

    @property
    def beside(self) -> dict[str, str]:
        """What an address says beside the passage's own id."""
        sentences = [f"{chunk}.{number}" for chunk in self.chunk_ids for number in sorted(self.said.get(chunk, ()))]
        given = {"joined": ",".join(map(str, self.joined)), "said": ",".join(sentences[:_MOST])}
        return {name: value for name, value in given.items() if value}

    def said_in(self, chunk: Chunk) -> dict[str, str]:
        """Return the element ids of a passage's marked sentences, by their text without what a list puts before it."""
        sentences = sentences_of(chunk)
        wanted = sorted(number for number in self.said.get(chunk.pk, ()) if number < len(sentences))
        return {bare(sentences[number]): anchor_of(chunk.pk, number) for number in wanted}

    def lead(self, cited: Sequence[Chunk]) -> Chunk | None:
        """Return the chunk where a reader is led: that of the first marked sentence, else the passage's own."""
        said = (chunk for chunk in cited if self.said.get(chunk.pk))
        return next(said, next((chunk for chunk in cited if chunk.pk == self.chunk_id), None))

    def query(self, **before: int) -> str:
        """Return the part of an address after its path, `before` first; it leads to the first sentence that is marked.

        It is empty where nothing has to be said.
        """
        query = urlencode(before | self.beside, safe=",")
        first = next((chunk for chunk in self.chunk_ids if self.said.get(chunk)), None)
        anchor = f"#{anchor_of(first, min(self.said[first]))}" if first is not None else ""
        return (f"?{query}" if query else "") + anchor


def ids_in(text: str) -> tuple[int, ...]:
    """Return the ids of a list like `12,13` in an address."""
    return tuple(int(part) for part in text.split(",")[:_MOST] if _ID.fullmatch(part))


def anchor_of(chunk_id: int, number: int) -> str:
    """Return the element id of a sentence that is marked."""
    return f"said-{chunk_id}-{number}"


def bare(sentence: str) -> str:
    """Return a sentence without the white space around it, and without the sign of a list's item or of a heading."""
    return BULLET.sub("", sentence.strip()).removeprefix(MARK)


def sentences_of(chunk: Chunk) -> list[str]:
    """Return the sentences of a passage, or the rows of a table, as they are counted."""
    if chunk.kind == Chunk.Kind.TABLE and chunk.table_rows is not None:
        return [" | ".join(map(str, row)) for row in chunk.table_rows]
    return split_sentences(chunk.content)
