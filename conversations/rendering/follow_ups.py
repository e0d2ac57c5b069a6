"""Suggested follow-up questions from the headings of an answer's passages and their neighbours, without a model."""

import re
from typing import Any

from django.db.models import Q

from conversations.models import Message
from conversations.rendering.answer import AnswerPage
from conversations.rendering.topics import SECTION_NAMES, as_question, without_number
from knowledge import access as knowledge_access
from knowledge.models import Chunk
from ragsite.language.content_words import content_terms
from ragsite.language.detection import HAN_BMP
from retrieval.types import AnswerState

OFFERED = 3
# Passages to consider before and after a cited one.
_BESIDE = 8
_HAN = re.compile(f"[{HAN_BMP}]")
_WORD = re.compile(rf"[{HAN_BMP}]|[^\W\d_]{{2,}}")


def follow_ups(user: Any, page: AnswerPage) -> list[str]:
    """Return up to `OFFERED` questions in the language of the question; none unless it was answered.

    Uses at most two queries.
    """
    if page.answer.status != Message.Status.COMPLETED or page.answer_state != AnswerState.ANSWERED:
        return []
    readable = knowledge_access.readable_chunks(user)
    cited = list(readable.filter(pk__in=[card.chunk_id for card in page.cited if card.chunk_id])[:4])
    if not cited:
        return []
    near = Q()
    for chunk in cited:
        near |= Q(document_id=chunk.document_id, ordinal__range=(chunk.ordinal - _BESIDE, chunk.ordinal + _BESIDE))
    beside = readable.filter(near, heading_path__len__gte=2, kind=Chunk.Kind.TEXT)
    places = {(chunk.document_id, chunk.ordinal) for chunk in cited}

    def distance(chunk: Chunk) -> int:
        return min(abs(chunk.ordinal - at) for document, at in places if document == chunk.document_id)

    answered = {" ".join(chunk.heading_path) for chunk in cited}
    chinese = bool(_HAN.search(page.question))
    asked = set(_WORD.findall(page.question.casefold()))
    found: list[str] = []
    for chunk in sorted(beside, key=lambda chunk: (distance(chunk), chunk.ordinal)):
        heading = without_number(chunk.heading_path[-1])
        words = set(_WORD.findall(heading.casefold()))
        known = " ".join(chunk.heading_path) in answered or words <= asked
        if known or not words or heading.casefold() in SECTION_NAMES or heading in found:
            continue
        # "No link", "What is new": only one of several words is meaningful, which isn't enough outside its section.
        is_vague = len(words) > 1 and len({*content_terms(heading)} - {"no", "not"}) < 2 and heading[-1] != "?"
        if is_vague and not chinese:
            continue
        if bool(_HAN.search(heading)) == chinese and (2 if chinese else 4) <= len(heading) <= 60:
            found.append(heading)
    return [as_question(heading) for heading in found[:OFFERED]]
