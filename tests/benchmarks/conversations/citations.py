"""The accuracy of the citation check on labelled pairs of sentence and passage."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conversations.citations.statements import Statement
from conversations.citations.verdict import Verdict, _judge, _source_of
from conversations.citations.verifiers import Verifier, Written

# The label of a sentence that its passage supports; any other label names the error.
TRUE = "true"


def check_statement(statement: Statement, passages: Sequence[str]) -> Verdict:
    """Judge one sentence by its passages, each with its heading."""
    return _judge(statement, _source_of(passages))


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, a passage, the language, and `true` or the error in the sentence."""

    sentence: str
    passage: str
    language: str
    label: str

    async def is_doubted(self, verifier: Verifier) -> bool:
        """Return whether a verifier doubts the sentence."""
        written = Written([f"{self.sentence} [1]"], {1: self.passage}, language=self.language)
        return any(
            verdict.status not in ("supported", "unclear") for verdict in (await verifier.verify(written)).verdicts
        )


@dataclass(frozen=True, slots=True)
class Row:
    """The number of correct verdicts on sentences of a kind in a language: true ones not doubted, others doubted."""

    label: str
    language: str
    right: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Total:
    """The shares of doubted sentences that are false, of false ones that are doubted, and of true ones that are."""

    precision: float | None
    recall: float | None
    false_alarms: float | None


def read_pairs(lines: Iterable[str]) -> Iterator[Pair]:
    """Yield pairs from JSON lines. Raises ValueError or KeyError for an invalid line."""
    for line in lines:
        if line.strip():
            pair = json.loads(line)
            yield Pair(pair["sentence"], pair["passage"], pair["language"], pair["label"])


async def measure(pairs: Iterable[Pair], verifier: Verifier) -> list[Row]:
    """Judge all pairs; return a row for each label and language, in order of occurrence."""
    right: Counter[tuple[str, str]] = Counter()
    of: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        of[pair.label, pair.language] += 1
        right[pair.label, pair.language] += await pair.is_doubted(verifier) == (pair.label != TRUE)
    return [Row(label, language, right[label, language], count) for (label, language), count in of.items()]


def total(rows: Sequence[Row]) -> Total:
    """Return the precision, recall and false alarms of doubt over some rows."""
    true, false = ([row for row in rows if (row.label == TRUE) == wanted] for wanted in (True, False))
    found, alarms = sum(row.right for row in false), sum(row.pairs - row.right for row in true)
    return Total(
        _share(found, found + alarms) if false else None,
        _share(found, sum(row.pairs for row in false)),
        _share(alarms, sum(row.pairs for row in true)),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
