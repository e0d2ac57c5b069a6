"""Scoring a question's hits against its right passages. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.evaluation.loading.references import Target
from retrieval.evaluation.metrics import Figures
from retrieval.types import Hit

# The number of ranks that the figures use.
RANKS = 10


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of a question.

    `marks` has a value for each hit considered: its grade, 0 if it is wrong, or None if it doesn't count because its
    target was found before. `missed` are the targets not found within the ranks.
    """

    figures: Figures
    marks: list[int | None]
    missed: list[Target]


def is_by_document(targets: Sequence[Target]) -> bool:
    """Return whether the targets are whole documents, so that documents are ranked and hits of one count once."""
    return all(not target.reference.passage and not target.chunk_ids for target in targets)


def score(hits: Sequence[Hit], targets: Sequence[Target]) -> Scored:
    """Score hits, best first. Targets that resolve to the same passage count as one.

    A hit merged from neighbouring passages may match several targets, which then take consecutive ranks.
    """
    units = _Units(targets)
    by_document = is_by_document(targets)
    ranked: list[str] = []
    marks: list[int | None] = []
    for hit in hits:
        if len(ranked) >= RANKS:
            break
        found = units.of(hit) or [f"document {hit.document_id}" if by_document else f"chunk {hit.chunk_id}"]
        new = [unit for unit in found if unit not in ranked]
        ranked += new
        marks.append(max(units.grades.get(unit, 0) for unit in new) if new else None)
    missed = [target for target, unit in zip(targets, units.names, strict=True) if unit not in ranked]
    return Scored(Figures.of(ranked, units.grades), marks, missed)


class _Units:
    """The distinct targets, by a generated name, with their grades and a lookup from hits."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.names: list[str] = []
        self.grades: dict[str, int] = {}
        self._chunks: dict[int, str] = {}
        self._documents: dict[int, str] = {}
        for number, target in enumerate(targets):
            known = [self._chunks[each] for each in target.chunk_ids if each in self._chunks]
            known += [self._documents[each] for each in target.document_ids if each in self._documents]
            name = known[0] if known else f"target {number}"
            self.names.append(name)
            self.grades[name] = max(target.reference.grade, self.grades.get(name, 0))
            self._chunks |= dict.fromkeys(target.chunk_ids - self._chunks.keys(), name)
            self._documents |= dict.fromkeys(target.document_ids - self._documents.keys(), name)

    def of(self, hit: Hit) -> list[str]:
        """Return the names of the targets that a hit matches; passages take precedence over their document."""
        named = [self._chunks[each] for each in (hit.chunk_id, *hit.merged) if each in self._chunks]
        if not named and hit.document_id in self._documents:
            named = [self._documents[hit.document_id]]
        return list(dict.fromkeys(named))
