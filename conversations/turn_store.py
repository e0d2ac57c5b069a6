"""Storage of a turn's start and end; `turns.checkpoints` stores it in between.

Every write to a running answer is conditional on `status = streaming`, so the first process to end it wins.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import IntegrityError, transaction
from django.db.models import Case, F, Func, JSONField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from conversations.events import Answer, DoneEvent, ErrorEvent, Event, SessionEvent, fold, plain_text
from conversations.models import ChatSession, Citation, ContextEntry, Message, TraceStep, Turn
from conversations.turn_tree import TurnTree
from knowledge.models import Chunk, Document
from ragsite.exceptions import Refused
from ragsite.limits import use
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.stream.json_safe import json_safe
from ragsite.site_settings.config import config

# A streaming answer with an older heartbeat is stale: the process that runs its turn has died.
STALE_AFTER = timedelta(seconds=15)
# The most events that can have been sent but not stored; a client that claims to have seen later ones is wrong.
FARTHEST_AHEAD = 10_000


class TurnRefused(Refused):
    """A turn is not started."""


@dataclass(frozen=True, slots=True)
class Started:
    """The ids of a turn. With `existing`, the request id was used before and no new turn was started."""

    session_id: int
    turn_id: int
    request_id: str
    user_message_id: int
    assistant_message_id: int
    parent_turn_id: int | None
    existing: bool = False

    def event(self) -> SessionEvent:
        """Return the first event of the turn's stream."""
        return SessionEvent(
            session_id=self.session_id,
            turn_id=self.turn_id,
            request_id=self.request_id,
            user_message_id=self.user_message_id,
            assistant_message_id=self.assistant_message_id,
            parent_turn_id=self.parent_turn_id,
        )


class AlreadyAsked(TurnRefused):
    """Another request with the same request id has opened the turn already; `started` has its ids."""

    def __init__(self, started: Started) -> None:
        super().__init__("already_asked", _("This question has already been asked."))
        self.started = started


def find_request(session_id: int, request_id: uuid.UUID) -> Started | None:
    """Return the turn that a request id has started, or None; raises `TurnRefused` if it is in another session."""
    turn = Turn.objects.filter(request_id=request_id).first()
    if turn is None:
        return None
    if turn.session_id != session_id:
        raise TurnRefused("request_id_taken", _("This request id was used in another chat."))
    ids = dict(turn.messages.values_list("role", "pk"))
    return Started(
        session_id, turn.pk, str(turn.request_id), ids["user"], ids["assistant"], turn.parent_turn_id, existing=True
    )


def open_turn(
    session: ChatSession,
    question: str,
    parent_turn_id: int | None,
    request_id: uuid.UUID,
    *,
    from_newest: bool = False,
    continues: bool = False,
    assistant_version_id: int | None = None,
    scope: Mapping[str, Any] | None = None,
) -> Started:
    """Store the question, its context entry and an empty answer; raises `TurnRefused` if a limit is reached.

    With `from_newest`, the parent is the newest turn of the branch through `parent_turn_id`, or without one the newest
    turn of the session, if any, so that of two simultaneous questions one follows the other. With `continues`, the
    answer continues that of the parent, which was cut off. `scope` is as in `Turn.scope`. The same `request_id` sent
    twice opens one turn: the second call raises `AlreadyAsked`.
    """
    try:
        return _open_turn(
            session, question, parent_turn_id, request_id, from_newest, continues, assistant_version_id, scope
        )
    except (IntegrityError, TurnRefused):
        # The turn may already exist and be the one that reached the limit.
        existing = find_request(session.pk, request_id)
        if existing is None:
            raise
        raise AlreadyAsked(existing) from None


@transaction.atomic
def _open_turn(
    session: ChatSession,
    question: str,
    parent_turn_id: int | None,
    request_id: uuid.UUID,
    from_newest: bool,
    continues: bool,
    assistant_version_id: int | None,
    scope: Mapping[str, Any] | None,
) -> Started:
    """Open a turn. Turns of one owner are opened one at a time, so that two tabs can't pass the limit together."""
    try:
        use.begin_question(session.owner_id)
    except use.LimitReached as reached:
        raise TurnRefused(reached.code, reached.message, reached.wait) from None
    running = Message.objects.filter(
        turn__session__owner_id=session.owner_id,
        status=Message.Status.STREAMING,
        heartbeat_at__gte=timezone.now() - STALE_AFTER,
    ).count()
    if running >= config.MAX_CONCURRENT_TURNS:
        raise TurnRefused(
            "too_many_turns",
            _("%(count)d answers are already being written. Wait for one to finish, or stop it.") % {"count": running},
        )
    turn = Turn.objects.create(
        session_id=session.pk,
        request_id=request_id,
        parent_turn_id=newest_after(session.pk, parent_turn_id) if from_newest else parent_turn_id,
        continues=continues,
        assistant_version_id=assistant_version_id,
        scope=scope,
    )
    blocks = [{"id": "b1", "kind": "text", "text": question}]
    placeholder = Message(
        turn=turn, role=Message.Role.ASSISTANT, status=Message.Status.STREAMING, heartbeat_at=turn.created_at
    )
    asked, answered = Message.objects.bulk_create(
        [Message(turn=turn, role=Message.Role.USER, content=question, blocks=blocks), placeholder]
    )
    ContextEntry.objects.create(
        session_id=session.pk,
        turn=turn,
        type=ContextEntry.Type.CHAT,
        role="user",
        content=question,
        tokens=count_tokens(question),
    )
    ChatSession.objects.filter(pk=session.pk).update(last_activity_at=turn.created_at)
    return Started(session.pk, turn.pk, str(request_id), asked.pk, answered.pk, turn.parent_turn_id)


def default_parent(session_id: int) -> int | None:
    """Return the newest turn of a session, the default parent of a question."""
    return (
        Turn.objects.filter(session_id=session_id).order_by("-created_at", "-id").values_list("pk", flat=True).first()
    )


def newest_after(session_id: int, turn_id: int | None) -> int | None:
    """Return the newest turn of the branch through a turn, possibly itself; without one, the newest of the session."""
    if turn_id is None:
        return default_parent(session_id)
    later = Turn.objects.filter(session_id=session_id, pk__gt=turn_id).order_by("created_at", "id")
    pairs = list(later.values_list("pk", "parent_turn_id"))
    return TurnTree([(turn_id, None), *pairs]).branch(turn_id)[-1] if pairs else turn_id


def finish(message_id: int, answer: Answer, new_events: list[dict[str, Any]]) -> None:
    """Store the final state of an answer, even if another process has already ended it without its text."""
    reopened = Q(last_seq__lt=answer.last_seq) | Q(status=Message.Status.INTERRUPTED)
    # The log without the end that `interrupt` added to an answer that was merely late.
    before = Func(
        F("stream_log"),
        Value({"seq": new_events[0]["seq"]}, output_field=JSONField()),
        template="jsonb_path_query_array(%(expressions)s)",
        arg_joiner=", '$[*] ? (@.seq < $seq)', ",
        output_field=JSONField(),
    )
    appended = Func(
        Case(When(status=Message.Status.INTERRUPTED, then=before), default=F("stream_log")),
        Value(new_events, output_field=JSONField()),
        template="(%(expressions)s)",
        arg_joiner=" || ",
        output_field=JSONField(),
    )
    Message.objects.filter(reopened, pk=message_id).update(
        blocks=answer.blocks,
        content=plain_text(answer.blocks),
        thinking=answer.thinking,
        answer_state=answer.answer_state,
        last_seq=answer.last_seq,
        heartbeat_at=timezone.now(),
        stream_log=appended,
        status=answer.status,
        usage=answer.usage,
        duration_ms=answer.ms,
        checks=answer.checks,
        finish_reason=answer.finish_reason,
        error_code=(answer.error or {}).get("code", ""),
        error_message=(answer.error or {}).get("message", ""),
    )


def give_up(message_id: int, error_code: str, error_message: str) -> None:
    """Mark an answer that can't be stored as failed; the state of its last checkpoint is kept."""
    _streaming(message_id).update(
        status=Message.Status.FAILED,
        answer_state="",
        error_code=error_code,
        error_message=error_message,
        heartbeat_at=timezone.now(),
    )


def _streaming(message_id: int) -> QuerySet[Message]:
    return Message.objects.filter(pk=message_id, status=Message.Status.STREAMING)


def request_stop(message_id: int) -> bool:
    """Stop a running answer from any process: its runner stops when it sees that it is no longer streaming."""
    return _streaming(message_id).update(status=Message.Status.STOPPED) == 1


def stop_answers(session_id: int) -> None:
    """Stop every running answer of a session, as `request_stop` does."""
    Message.objects.filter(turn__session_id=session_id, status=Message.Status.STREAMING).update(
        status=Message.Status.STOPPED
    )


def stop_answers_of(user_ids: Collection[int], knowledge_base_id: int | None = None) -> int:
    """Stop every running answer of some users, as `request_stop` does; return how many.

    With a knowledge base, stop only answers of sessions that search everything, this base or a document in it.
    """
    running = Message.objects.filter(turn__session__owner_id__in=user_ids, status=Message.Status.STREAMING)
    if knowledge_base_id is not None:
        asks_all = Q(turn__session__knowledge_bases=None, turn__session__documents=None)
        asks_it = Q(turn__session__knowledge_bases=knowledge_base_id)
        running = running.filter(asks_all | asks_it | Q(turn__session__documents__knowledge_base=knowledge_base_id))
    ids = list(running.values_list("pk", flat=True))
    stopped = Message.objects.filter(pk__in=ids, status=Message.Status.STREAMING)
    return stopped.update(status=Message.Status.STOPPED)


def is_stale(message: Message) -> bool:
    """Return whether an answer is marked as streaming but the process that runs its turn has died."""
    if message.status != Message.Status.STREAMING:
        return False
    return message.heartbeat_at is None or message.heartbeat_at < timezone.now() - STALE_AFTER


def interrupt_stale(heard: Sequence[Event] = (), seen: int = 0, **where: int) -> int:
    """Mark stale answers as interrupted; return how many. `where` is `session_id` or `message_id`.

    For a single message, `heard` are events that arrived live, which the log may lack, and `seen` is the number of the
    last event that was sent to a client.
    """
    stale = Message.objects.filter(
        Q(heartbeat_at__lt=timezone.now() - STALE_AFTER) | Q(heartbeat_at=None), status=Message.Status.STREAMING
    )
    if "session_id" in where:
        stale = stale.filter(turn__session_id=where["session_id"])
    if "message_id" in where:
        stale = stale.filter(pk=where["message_id"])
    return sum(interrupt(message, heard, seen) for message in stale)


def interruption() -> str:
    """Return the explanation for an answer whose server stopped."""
    return _("The server stopped while this answer was being written. The text so far is kept.")


def interrupt(message: Message, heard: Sequence[Event] = (), seen: int = 0) -> bool:
    """End an answer whose process has died; return False if it turns out to be alive.

    The last two events get numbers above all that were sent.
    """
    answer = fold(message.stream_log)
    log = list(message.stream_log)
    for event in heard:
        if event.seq == answer.last_seq + 1 and not isinstance(event, DoneEvent):
            answer.apply(event)
            log.append(event.to_dict())
    blocks = answer.blocks if len(log) > len(message.stream_log) else message.blocks
    last = max(answer.last_seq, message.last_seq, min(seen, message.last_seq + FARTHEST_AHEAD))
    error = ErrorEvent(seq=last + 1, code="interrupted", message=interruption())
    done = DoneEvent(seq=last + 2, status="interrupted", answer_state=answer.answer_state or None)
    unchanged = _streaming(message.pk).filter(last_seq=message.last_seq, heartbeat_at=message.heartbeat_at)
    ended = unchanged.update(
        status=Message.Status.INTERRUPTED,
        blocks=blocks,
        content=plain_text(blocks),
        thinking=answer.thinking or message.thinking,
        answer_state=answer.answer_state or message.answer_state,
        last_seq=done.seq,
        error_code=error.code,
        error_message=error.message,
        stream_log=[*log, error.to_dict(), done.to_dict()],
    )
    return ended == 1


def has_received_end(message: Message, seen: int) -> bool:
    """Return whether a client at event `seen` of an ended answer has already received its end.

    If the process running the turn died, it may have sent more events than it stored; the end comes after them.
    """
    ahead = seen - message.last_seq
    if ahead == 0 and message.stream_log and message.stream_log[-1]["type"] != DoneEvent.type:
        return False  # stopped by another process; its runner has not stored the end yet
    return ahead == 0 or (ahead > 0 and (message.status != Message.Status.INTERRUPTED or ahead > FARTHEST_AHEAD))


def record_end_sent(message: Message, seen: int) -> None:
    """Store `seen` as the number of the end that was sent, so that clients reconnecting with it get nothing more."""
    Message.objects.filter(pk=message.pk, last_seq__lt=seen).update(last_seq=seen)


def save_citations(message_id: int, request_id: str, citations: Iterable[dict[str, Any]], cited: set[int]) -> None:
    """Store the numbered sources of an answer with their snapshots; saving them again has no effect.

    If a passage was deleted while the answer was written, its snapshot is stored without the reference.
    """
    rows = json_safe(list(citations))
    if not rows:
        return
    cited_chunks = Chunk.objects.filter(document=OuterRef("pk"), pk__in=[row["chunk_id"] for row in rows])
    documents = Document.objects.filter(pk__in=[row["document_id"] for row in rows]).order_by()
    known = dict(documents.values_list("pk", ArraySubquery(cited_chunks.order_by().values("pk"))))
    chunks = {pk for pks in known.values() for pk in pks}
    Citation.objects.bulk_create(
        [
            Citation(
                message_id=message_id,
                request_id=request_id,
                index=row["index"],
                chunk_id=row["chunk_id"] if row["chunk_id"] in chunks else None,
                document_id=row["document_id"] if row["document_id"] in known else None,
                merged=row.get("merged", []),
                cited=row["index"] in cited,
                filename=row["filename"][:255],
                title=row.get("title", ""),
                heading=row["heading"],
                page=row["page"],
                snippet=row["snippet"],
                reason=row.get("reason", ""),
                score=row["score"],
                sources=row["sources"],
            )
            for row in rows
        ],
        ignore_conflicts=True,
    )


def save_trace(turn_id: int, steps: Iterable[dict[str, Any]]) -> None:
    """Store the trace of a turn, in order; each step has `key`, `status`, `started_at`, `ms` and `detail`."""
    TraceStep.objects.bulk_create(
        [
            TraceStep(turn_id=turn_id, order=order, **step | {"detail": json_safe(step["detail"])})
            for order, step in enumerate(steps)
        ],
        ignore_conflicts=True,
    )


def citation_dict(citation: Citation) -> dict[str, Any]:
    """Return a stored citation as one entry of a `sources` event."""
    return {
        "index": citation.index,
        "document_id": citation.document_id,
        "chunk_id": citation.chunk_id,
        "merged": citation.joined,
        "filename": citation.filename,
        "title": citation.title or citation.filename,
        "heading": citation.heading,
        "page": citation.page,
        "snippet": citation.snippet,
        "reason": citation.reason,
        "score": citation.score,
        "sources": citation.sources,
    }
