"""Questions with several parts: the passages that each part needs, and how a model would split them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.conversations.answers import holds

FOLDER = Path(__file__).parent
SETS = ("dev", "held", "fresh")
# A `single` question needs only one search, though it may contain an "and"; these are the control.
KINDS = ("compare", "join", "chain", "aspects", "single")
MULTI, SINGLE = KINDS[:-1], KINDS[-1]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage: its file's path within the folder, and words from it."""

    document: str
    snippet: str

    def is_in(self, document: str, text: str) -> bool:
        """Return whether a text contains this passage, ignoring case, white space and the bars of tables."""
        return document == self.document and holds(text, [self.snippet])


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question, and the passages each of which answers it; empty if none does."""

    what: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its parts. A good model searches for `split` first, and for `then` after reading the results."""

    id: str
    language: str
    kind: str
    hops: int
    text: str
    parts: tuple[Part, ...]
    split: tuple[str, ...]
    then: tuple[str, ...] = ()

    @property
    def needed(self) -> tuple[Part, ...]:
        """The parts that the documents answer."""
        return tuple(part for part in self.parts if part.passages)

    @property
    def missing(self) -> tuple[Part, ...]:
        """The parts that the documents don't answer."""
        return tuple(part for part in self.parts if not part.passages)


def load(name: str) -> list[Question]:
    """Return the questions of a set of `SETS`. Raises ValueError, KeyError or TypeError for an invalid line."""
    return list(read((FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()))


def read(lines: Iterable[str]) -> Iterator[Question]:
    """Yield the questions from JSON lines. Raises the errors of `load`."""
    for line in lines:
        found = json.loads(line)
        if found["kind"] not in KINDS:
            raise ValueError(f"{found['id']} is of no known kind: {found['kind']!r}")
        yield Question(
            found["id"],
            found["language"],
            found["kind"],
            found["hops"],
            found["text"],
            tuple(map(_part, found["parts"])),
            tuple(found["split"]),
            tuple(found["then"]),
        )


def _part(found: dict[str, Any]) -> Part:
    return Part(found["what"], tuple(Passage(each["document"], each["snippet"]) for each in found["passages"] or ()))
