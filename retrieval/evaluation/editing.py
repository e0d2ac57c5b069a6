"""Changing a question of a set by hand, and showing what answers it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from knowledge.models import Chunk
from retrieval.evaluation.models import EvaluationQuestion
from retrieval.evaluation.references import Reference, Target, resolve
from retrieval.evaluation.sets import Passage, SetRefused

_SNIPPET = 300  # characters


@dataclass(frozen=True, slots=True)
class RightPassage:
    """What answers a question, under an id by which it can be taken out, whatever is added or removed meanwhile."""

    id: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class QuestionPassages:
    """A question with what answers it."""

    question: EvaluationQuestion
    passages: list[RightPassage]


def set_text(question: EvaluationQuestion, text: str) -> None:
    """Word a question anew; raises `SetRefused` (no_questions, too_long)."""
    text = text.strip()
    if not text:
        raise SetRefused("no_questions", _("The question is empty."))
    if len(text) > settings.MAX_QUESTION_CHARACTERS:
        message = _("The question is longer than {limit} characters.")
        raise SetRefused("too_long", message.format(limit=settings.MAX_QUESTION_CHARACTERS))
    question.text = text
    question.save(update_fields=["text"])


def remove_passage(question_id: int, passage_id: str) -> bool:
    """Take one of the right passages from a question; return whether it was there."""
    with transaction.atomic():
        question = EvaluationQuestion.objects.select_for_update().filter(pk=question_id).first()
        if question is None:
            return False
        kept = [stored for stored in question.relevant if _id(stored) != passage_id]
        found = len(kept) < len(question.relevant)
        question.relevant = kept
        question.save(update_fields=["relevant"])
    return found


def with_passages(knowledge_base_id: int, questions: Sequence[EvaluationQuestion]) -> list[QuestionPassages]:
    """Return questions of one base with what answers each, as it is found now, in a few queries for all of them."""
    references = [Reference.from_dict(stored) for question in questions for stored in question.relevant]
    targets = resolve(knowledge_base_id, references)
    chunks = _chunks([target for target in targets.values() if target is not None])

    def shown(stored: dict[str, Any]) -> RightPassage:
        reference = Reference.from_dict(stored)
        return RightPassage(_id(stored), _passage(reference, targets[reference], chunks))

    return [QuestionPassages(question, [shown(stored) for stored in question.relevant]) for question in questions]


def _chunks(targets: Sequence[Target]) -> dict[int, Chunk]:
    """Return the chunks that targets stand for, by their ids, and the first ones of corpus passages."""
    wanted = [target.chunk_ids for target in targets]
    corpus = [target.document_ids for target in targets if target.reference.passage]
    found = Q(pk__in=frozenset().union(*wanted)) | Q(document_id__in=frozenset().union(*corpus), ordinal=0)
    return {chunk.pk: chunk for chunk in Chunk.objects.filter(found).only("document_id", "content")}


def _passage(reference: Reference, target: Target | None, chunks: dict[int, Chunk]) -> Passage:
    if target is None:
        return Passage(reference.shown, reference.text[:_SNIPPET], reference.grade, None, None)
    chunk = chunks.get(min(target.chunk_ids, default=0))
    if chunk is None and reference.passage:
        chunk = next((each for each in chunks.values() if each.document_id in target.document_ids), None)
    if chunk is None:
        document_id = min(target.document_ids, default=None)
        return Passage(target.filename, target.snippet, reference.grade, document_id, None)
    return Passage(target.filename, chunk.content[:_SNIPPET], reference.grade, chunk.document_id, chunk.pk)


def _id(stored: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()[:16]
