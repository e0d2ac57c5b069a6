"""Passages with questions and claims written for this project: their format and validation.

Each line is a JSON object; `tools/models/data/README.md` describes its members.
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
# Lengths of runs of words and Han characters that two texts don't share by chance.
WORDS_IN_A_ROW, CHARACTERS_IN_A_ROW = 7, 10


@dataclass(frozen=True, slots=True)
class Question:
    """A question; if `label` is answered, `evidence` is the answering sentence or row, `answer` its shortest part."""

    text: str
    label: str
    evidence: str | None
    answer: str | None
    lang: str
    # The question that it follows up, without which it can't be understood.
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, and whether the passage supports it."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with its questions and claims.

    Passages with the same `base` come from the documents of one organisation, and a question's label applies to all of
    them: no passage but its own answers it.
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
        """The file of the passage, with which its `id` begins."""
        return self.id.rpartition("-")[0]

    def group_of(self, question: Question) -> str:
        """Return the group for evaluation: `en`, `zh`, or `across` if question and passage differ in language."""
        return question.lang if question.lang == self.lang else "across"


def passage_of(data: dict[str, Any]) -> Passage:
    """Return the passage of a line. Raises `KeyError` if a member is missing."""
    questions = tuple(
        Question(
            q["q"],
            q["label"],
            q.get("evidence"),
            q.get("answer"),
            q.get("lang") or language_of(q["q"]),
            q.get("follows"),
        )
        for q in data["qs"]
    )
    claims = tuple(Claim(claim["s"], claim["label"]) for claim in data.get("claims", ()))
    return Passage(
        data["id"],
        data["lang"],
        data.get("kind", ""),
        data.get("title", ""),
        data["passage"],
        questions,
        claims,
        data.get("base", ""),
    )


def lines(path: Path) -> Iterator[str]:
    """Yield the non-blank lines of a file, which may be compressed by xz."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    # `splitlines` would also split at other characters that a line may contain.
    yield from (line for line in text.split("\n") if line.strip())


def read(*paths: Path) -> list[Passage]:
    """Return the passages in files, in order."""
    return [passage_of(json.loads(line)) for path in paths for line in lines(path)]


def faults(passage: Passage) -> Iterator[str]:
    """Yield messages about errors in a passage."""
    texts = [question.text.strip().lower() for question in passage.questions]
    if len(set(texts)) < len(texts):
        yield "duplicate question"
    for question in passage.questions:
        if question.label not in LABELS:
            yield f"unknown label: {question.label}"
        if question.label == "answered" and not question.evidence:
            yield f"no evidence: {question.text}"
        if question.label != "answered" and question.evidence and question.label == "near":
            yield f"evidence for a near question: {question.text}"
        if question.evidence and question.evidence not in passage.text:
            yield f"evidence not in the passage: {question.evidence}"
        if question.answer and question.answer not in (question.evidence or ""):
            yield f"answer not in its evidence: {question.answer}"
        if question.lang not in ("en", "zh"):
            yield f"unknown language: {question.lang}"
    for claim in passage.claims:
        if claim.label not in CLAIM_LABELS:
            yield f"unknown label: {claim.label}"


def runs(text: str) -> set[str]:
    """Return a text's runs of words or Han characters, of a length that two texts don't share by chance."""
    found = re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower())
    length = CHARACTERS_IN_A_ROW if re.search("[\u4e00-\u9fff]", text) else WORDS_IN_A_ROW
    return {" ".join(found[i : i + length]) for i in range(len(found) - length + 1)}


def texts_of(passage: Passage) -> Iterable[str]:
    """Yield all texts of a passage."""
    yield passage.title
    yield passage.text
    yield from (question.text for question in passage.questions)
    yield from (claim.text for claim in passage.claims)
