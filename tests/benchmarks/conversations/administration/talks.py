"""Conversations with everything stored for them: messages, context, citations, traces, feedback and links."""

import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from random import Random

from django.contrib.auth.models import User
from django.utils import timezone
from tqdm import tqdm

from conversations.models import ChatSession, Citation, ContextEntry, Feedback, Message, ShareLink, TraceStep, Turn
from knowledge.models import Chunk
from retrieval.snippets import SNIPPET_CHARACTERS
from retrieval.types import AnswerState
from tests.benchmarks.conversations.administration.texts import Writer

_YEARS = timedelta(days=3 * 365)
_TURNS_PER_SESSION = 6
_SESSIONS_AT_ONCE = 200
_CITATIONS = 4
_NODES = (
    "save_question", "load_history", "understand", "rewrite", "search", "fusion", "rerank", "select", "compose_prompt",
    "generate", "check", "save",
)  # fmt: skip
_ENDS = ["completed"] * 94 + ["stopped"] * 2 + ["failed"] * 3 + ["interrupted"]
_REASONS = ["", "wrong", "incomplete", "outdated"]


def fill(people: Sequence[User], chunks: Sequence[Chunk], messages: int, random: Random, writer: Writer) -> None:
    """Add conversations with about this number of messages, by these people and answered from these passages."""
    sessions = max(4, messages // 2 // _TURNS_PER_SESSION)
    talk = _Talk(people, chunks, random, writer)
    began = timezone.now() - _YEARS
    with _times_as_given(), tqdm(total=sessions, desc="Talking", unit="session", file=sys.stderr, disable=None) as bar:
        for first in range(0, sessions, _SESSIONS_AT_ONCE):
            numbers = range(first, min(sessions, first + _SESSIONS_AT_ONCE))
            talk.add([began + _YEARS * (number / sessions) for number in numbers])
            bar.update(len(numbers))


class _Talk:
    """Adds sessions in batches."""

    def __init__(self, people: Sequence[User], chunks: Sequence[Chunk], random: Random, writer: Writer) -> None:
        self._people, self._chunks, self._random, self._writer = people, chunks, random, writer

    def add(self, times: Sequence[datetime]) -> None:
        """Add a session for each start time."""
        sessions = ChatSession.objects.bulk_create(self._session(time) for time in times)
        ContextEntry.objects.bulk_create(
            ContextEntry(session=session, type="routes", role="system", content="Answer from the passages.",
                         created_at=session.created_at)
            for session in sessions
        )  # fmt: skip
        turns: list[Turn] = [None] * len(sessions)  # type: ignore[list-item]
        for number in range(_TURNS_PER_SESSION):
            turns = Turn.objects.bulk_create(
                self._turn(session, parent, number) for session, parent in zip(sessions, turns, strict=True)
            )
            self._messages(turns)
            self._trace(turns)
        ShareLink.objects.bulk_create(
            ShareLink(session=turn.session, last_turn=turn, created_at=turn.created_at) for turn in turns[::5]
        )

    def _session(self, time: datetime) -> ChatSession:
        deleted = self._random.random() < 0.05
        return ChatSession(
            owner=self._random.choice(self._people),
            title=self._writer.text(15, 60)[:200],
            status="deleted" if deleted else "active",
            deleted_at=time if deleted else None,
            pinned=self._random.random() < 0.02,
            last_activity_at=time + timedelta(hours=1),
            created_at=time,
        )

    def _turn(self, session: ChatSession, parent: Turn | None, number: int) -> Turn:
        return Turn(
            session=session,
            parent_turn=parent,
            request_id=uuid.UUID(int=self._random.getrandbits(128)),
            retrieval_query=self._writer.text(20, 100),
            action=self._random.choice(["answer_chat", "retrieve_vector"]),
            model=self._random.choice(["small-model", "large-model"]),
            token_count=self._random.randrange(4000),
            created_at=session.created_at + timedelta(minutes=number),
        )

    def _messages(self, turns: Sequence[Turn]) -> None:
        questions = Message.objects.bulk_create(
            Message(turn=turn, role="user", content=self._writer.text(20, 200), created_at=turn.created_at)
            for turn in turns
        )
        answers = Message.objects.bulk_create(self._answer(turn) for turn in turns)
        ContextEntry.objects.bulk_create(
            ContextEntry(session=message.turn.session, turn=message.turn, type="chat", role=message.role,
                         content=message.content, created_at=message.created_at)
            for message in (*questions, *answers)
        )  # fmt: skip
        ContextEntry.objects.bulk_create(
            ContextEntry(session=turn.session, turn=turn, type="summary", role="system",
                         content=self._writer.text(200, 800), created_at=turn.created_at)
            for turn in turns[::10]
        )  # fmt: skip
        Citation.objects.bulk_create(
            self._citation(answer, index) for answer in answers for index in range(1, _CITATIONS + 1)
        )
        Feedback.objects.bulk_create(
            Feedback(message=answer, user=answer.turn.session.owner, value=self._random.choice([1, -1]),
                     reason=self._random.choice(_REASONS), comment=self._writer.text(10, 200),
                     created_at=answer.created_at)
            for answer in answers[::8]
        )  # fmt: skip

    def _answer(self, turn: Turn) -> Message:
        content, status = self._writer.text(200, 1500), self._random.choice(_ENDS)
        return Message(
            turn=turn,
            role="assistant",
            content=content,
            blocks=[{"id": "b1", "kind": "text", "text": content}],
            status=status,
            error_code="provider_timeout" if status == "failed" else "",
            answer_state=self._random.choice(AnswerState.values),
            usage={"prompt_tokens": 2000, "completion_tokens": 300},
            duration_ms=self._random.randrange(20_000),
            created_at=turn.created_at,
        )

    def _citation(self, answer: Message, index: int) -> Citation:
        chunk = self._random.choice(self._chunks)
        return Citation(
            message=answer,
            index=index,
            chunk=chunk,
            document=chunk.document,
            request_id=answer.turn.request_id,
            cited=index < 3,
            filename=chunk.document.original_filename,
            title=chunk.document.title,
            heading=chunk.heading,
            page=index,
            snippet=chunk.content[:SNIPPET_CHARACTERS],
            score=self._random.random(),
            sources=[{"type": "bm25", "rank": index, "score": 7.5, "rrf_score": 0.016}],
        )

    def _trace(self, turns: Sequence[Turn]) -> None:
        TraceStep.objects.bulk_create(
            TraceStep(
                turn=turn,
                order=order,
                key=key,
                status="failed" if self._random.random() < 0.01 else "completed",
                started_at=turn.created_at + timedelta(milliseconds=100 * order),
                ms=self._random.random() * 300,
                detail=self._detail(key),
            )
            for turn in turns
            for order, key in enumerate(_NODES)
        )

    def _detail(self, key: str) -> dict[str, object]:
        if key != "compose_prompt":
            return {"action": "answer_chat", "hits": 10, "queries": ["ports"]}
        content = "\n\n".join(chunk.content for chunk in self._random.sample(self._chunks, 4))
        return {"messages": [{"role": "user", "content": content}]}


@contextmanager
def _times_as_given() -> Iterator[None]:
    """Store the given creation times of rows instead of the time of insertion."""
    models = (ChatSession, Turn, Message, ContextEntry, Feedback, ShareLink)
    fields = [model._meta.get_field("created_at") for model in models]
    for field in fields:
        field.auto_now_add = False
    try:
        yield
    finally:
        for field in fields:
            field.auto_now_add = True
