"""Editing a question of a set, and showing its right passages."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from knowledge.models import Chunk
from retrieval.evaluation.loading.references import SNIPPET, Reference, resolve
from retrieval.evaluation.models import EvaluationQuestion
from retrieval.evaluation.sets import changing, checked_text


@dataclass(frozen=True, slots=True)
class Passage:
    """A right passage as it is now; without ids if the base no longer contains it."""

    filename: str
    snippet: str
    grade: int
    document_id: int | None
    chunk_id: int | None


@dataclass(frozen=True, slots=True)
class RightPassage:
    """A right passage with an id by which it can be removed, whatever is added or removed meanwhile."""

    id: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class QuestionPassages:
    """A question with its right passages."""

    question: EvaluationQuestion
    passages: list[RightPassage]


def set_text(question: EvaluationQuestion, text: str) -> None:
    """Change the text of a question. Raises `SetRefused` (no_questions, too_long)."""
    question.text = checked_text(text)
    with changing(question.evaluation_set_id):
        EvaluationQuestion.objects.filter(pk=question.pk).update(text=question.text)


def remove_passage(question_id: int, passage_id: str) -> bool:
    """Remove a right passage from a question; return whether it was there."""
    questions = EvaluationQuestion.objects.filter(pk=question_id)
    set_id = questions.values_list("evaluation_set_id", flat=True).first()
    if set_id is None:
        return False
    with changing(set_id):
        relevant = questions.values_list("relevant", flat=True).first() or []
        kept = [stored for stored in relevant if _id(stored) != passage_id]
        questions.update(relevant=kept)
    return len(kept) < len(relevant)


def with_passages(knowledge_base_id: int, questions: Sequence[EvaluationQuestion]) -> list[QuestionPassages]:
    """Return questions of one base with their right passages as they are now, in a few queries for all of them."""
    references = [Reference.from_dict(stored) for question in questions for stored in question.relevant]
    targets = resolve(knowledge_base_id, references)
    # The targets' chunks, and the first chunks of corpus passages.
    there = [target for target in targets.values() if target is not None]
    wanted = frozenset().union(*(target.chunk_ids for target in there))
    corpus = frozenset().union(*(target.document_ids for target in there if target.reference.passage))
    found = Chunk.objects.filter(Q(pk__in=wanted) | Q(document_id__in=corpus, ordinal=0))
    chunks = {chunk.pk: chunk for chunk in found.only("document_id", "content")}

    def shown(stored: dict[str, Any]) -> RightPassage:
        reference = Reference.from_dict(stored)
        target = targets[reference]
        key, grade = _id(stored), reference.grade
        if target is None:
            return RightPassage(key, Passage(reference.shown, reference.text[:SNIPPET], grade, None, None))
        chunk = chunks.get(min(target.chunk_ids, default=0))
        if chunk is None and reference.passage:
            chunk = next((each for each in chunks.values() if each.document_id in target.document_ids), None)
        if chunk is None:
            document_id = min(target.document_ids, default=None)
            return RightPassage(key, Passage(target.filename, target.snippet, grade, document_id, None))
        snippet = chunk.content[:SNIPPET]
        return RightPassage(key, Passage(target.filename, snippet, grade, chunk.document_id, chunk.pk))

    return [QuestionPassages(question, [shown(stored) for stored in question.relevant]) for question in questions]


def _id(stored: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()[:16]
