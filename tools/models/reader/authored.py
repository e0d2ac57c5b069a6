"""Passages with questions and claims that were written for this project: their format, and what must hold of it.

A line is a JSON object; `tools/models/data/README.md` describes its members.
"""

import json
import lzma
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.models.reader.texts import language_of

LABELS = ("answered", "near", "objectless")
CLAIM_LABELS = ("supported", "contradicted", "not_found")
# Words, and Han characters, in a row that no two texts share by chance.
WORDS_IN_A_ROW, CHARACTERS_IN_A_ROW = 7, 10


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence` is the sentence or row that answers, `answer` its shortest words; None unless `label` is answered."""

    text: str
    label: str
    evidence: str | None
    answer: str | None
    lang: str
    # The question that it goes on from; it can't be understood without.
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, and whether the passage says so."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage and what is asked of it; `source` is the file that its `id` begins with.

    Passages of one `base` are cut from the documents of one place, and a question's label holds for all of them:
    none but its own passage answers it.
    """

    id: str
    lang: str
    kind: str
    title: str
    text: str
    questions: tuple[Question, ...] = ()
    claims: tuple[Claim, ...] = field(default=())
    base: str = ""

    @property
    def source(self) -> str:
        """The file that the passage was written in."""
        return self.id.rpartition("-")[0]

    def group_of(self, question: Question) -> str:
        """Return what figures are told apart by: `en`, `zh`, or `across` where the languages differ."""
        return question.lang if question.lang == self.lang else "across"


def passage_of(told: dict[str, Any]) -> Passage:
    """Return a line's passage. Raises `KeyError` where a member is missing."""
    questions = tuple(
        Question(
            q["q"],
            q["label"],
            q.get("evidence"),
            q.get("answer"),
            q.get("lang") or language_of(q["q"]),
            q.get("follows"),
        )
        for q in told["qs"]
    )
    claims = tuple(Claim(claim["s"], claim["label"]) for claim in told.get("claims", ()))
    return Passage(
        told["id"],
        told["lang"],
        told.get("kind", ""),
        told.get("title", ""),
        told["passage"],
        questions,
        claims,
        told.get("base", ""),
    )


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, packed by xz or not."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    # A line may hold other signs that end one, so `splitlines` would cut it.
    yield from (line for line in text.split("\n") if line.strip())


def read(*paths: Path) -> list[Passage]:
    """Return the passages of some files, in order."""
    return [passage_of(json.loads(line)) for path in paths for line in lines(path)]


def faults(passage: Passage) -> Iterator[str]:
    """Yield what is wrong with a passage, in words."""
    asked = [question.text.strip().lower() for question in passage.questions]
    if len(set(asked)) < len(asked):
        yield "a question stands twice"
    for question in passage.questions:
        if question.label not in LABELS:
            yield f"the label {question.label}"
        if question.label == "answered" and not question.evidence:
            yield f"no evidence: {question.text}"
        if question.label != "answered" and question.evidence and question.label == "near":
            yield f"evidence though near: {question.text}"
        if question.evidence and question.evidence not in passage.text:
            yield f"evidence that isn't there: {question.evidence}"
        if question.answer and question.answer not in (question.evidence or ""):
            yield f"an answer beside its evidence: {question.answer}"
        if question.lang not in ("en", "zh"):
            yield f"the language {question.lang}"
    for claim in passage.claims:
        if claim.label not in CLAIM_LABELS:
            yield f"the label {claim.label}"


def runs(text: str) -> set[str]:
    """Return a text's runs of words or characters, long enough that two texts share none by chance."""
    found = re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower())
    length = CHARACTERS_IN_A_ROW if re.search("[\u4e00-\u9fff]", text) else WORDS_IN_A_ROW
    return {" ".join(found[i : i + length]) for i in range(len(found) - length + 1)}


def texts_of(passage: Passage) -> Iterable[str]:
    """Return all that was written of a passage."""
    yield passage.title
    yield passage.text
    yield from (question.text for question in passage.questions)
    yield from (claim.text for claim in passage.claims)
