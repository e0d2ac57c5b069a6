"""Text that a user has not sent: what is in the composer of a session, and the question that waits for an answer."""

import uuid

from django.conf import settings

from conversations.inbox.models import Draft
from ragsite.llm.stream.unicode_repair import whole


def of(session_id: int) -> Draft:
    """Return the draft of a session, empty if nothing is kept."""
    return Draft.objects.filter(pk=session_id).first() or Draft(session_id=session_id)


def keep(session_id: int, text: str, queued: str = "", queued_id: uuid.UUID | None = None) -> None:
    """Keep the text in the composer and the queued question, at most as long as a question may be."""
    longest = settings.MAX_QUESTION_CHARACTERS
    text, queued = whole(text)[:longest], whole(queued)[:longest]
    if text.strip() or queued.strip():
        kept = {"text": text, "queued": queued, "queued_id": queued_id if queued else None}
        Draft.objects.update_or_create(pk=session_id, defaults=kept)
    else:
        Draft.objects.filter(pk=session_id).delete()


def forget_sent(session_id: int, question: str, request_id: uuid.UUID) -> None:
    """Delete what has been sent as this question, and keep the rest."""
    draft = of(session_id)
    is_text, is_queued = draft.text.strip() == question.strip(), draft.queued_id == request_id
    if not draft._state.adding and (is_text or is_queued):
        queued = ("", None) if is_queued else (draft.queued, draft.queued_id)
        keep(session_id, "" if is_text else draft.text, *queued)
