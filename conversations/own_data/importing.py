"""Adds chats from other sites to a user's own, each in one transaction; what was added before is left alone."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.text import Truncator

from conversations.events import plain_text
from conversations.models import ChatSession, ContextEntry, Message, Turn
from conversations.own_data.foreign_chats import ForeignChat, ForeignTurn, read
from conversations.pipeline.writing.blocks import escape_markdown
from conversations.pipeline.writing.dialects.markdown_text import MarkdownReader
from conversations.pipeline.writing.dialects.parts import CodeHead, CodeText, Image, TableHead, TableRow, Words
from conversations.pipeline.writing.pictures import PictureFilter
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.stream.unicode_repair import whole

_IDS = uuid.UUID("c5d1a0cb-7e0e-4a4b-9a0f-3f6f3f1c2a77")
_TITLE_LENGTH = ChatSession._meta.get_field("title").max_length
_MODEL_LENGTH = Turn._meta.get_field("model").max_length


@dataclass(slots=True)
class Imported:
    """How many chats were added, were there already, or have no question."""

    added: int = 0
    known: int = 0
    empty: int = 0


def import_chats(user: User, name: str, file: IO[bytes], size: int) -> Imported:
    """Add the chats of an export file to a user's; raises `Refused` as `read` does.

    Chats read before a damaged place stay.
    """
    done = Imported()
    for chat in read(name, file, size):
        if not chat.turns:
            done.empty += 1
        elif _add(user, chat):
            done.added += 1
        else:
            done.known += 1
    return done


def _add(user: User, chat: ForeignChat) -> bool:
    """Store a chat; return False if it was added before, even if it was deleted since."""
    ids = {turn.key: uuid.uuid5(_IDS, f"{user.pk}/{chat.source}/{chat.key}/{turn.key}") for turn in chat.turns}
    if Turn.objects.filter(request_id=ids[chat.turns[0].key]).exists():
        return False
    now = timezone.now()
    try:
        with transaction.atomic():
            asked = [turn.asked_at for turn in chat.turns if turn.asked_at is not None and turn.asked_at <= now]
            title = whole(chat.title).strip() or Truncator(whole(chat.turns[0].question)).chars(60)
            session = ChatSession.objects.create(
                owner=user,
                title=" ".join(title.split())[:_TITLE_LENGTH],
                title_is_automatic=False,
                last_activity_at=max(asked, default=now),
            )
            stored: dict[str, Turn] = {}
            for turn in chat.turns:  # one by one, since a turn's parent must have an id
                stored[turn.key] = Turn.objects.create(
                    session=session,
                    request_id=ids[turn.key],
                    parent_turn=stored.get(turn.parent or ""),
                    model=whole(turn.model)[:_MODEL_LENGTH],
                )
            messages = [message for turn in chat.turns for message in _messages(stored[turn.key], turn)]
            Message.objects.bulk_create(messages)
            ContextEntry.objects.bulk_create(_context_of(message, session) for message in messages)
            _backdate(session, list(stored.values()), [turn.asked_at for turn in chat.turns], now)
    except IntegrityError:  # the same file was sent twice at the same time
        return False
    return True


def _messages(turn: Turn, given: ForeignTurn) -> tuple[Message, Message]:
    question = whole(given.question)
    blocks = blocks_of(whole(given.answer))
    return (
        Message(
            turn=turn,
            role=Message.Role.USER,
            content=question,
            blocks=[{"id": "b1", "kind": "text", "text": question}],
        ),
        Message(
            turn=turn,
            role=Message.Role.ASSISTANT,
            content=plain_text(blocks),
            blocks=blocks,
            thinking=whole(given.thinking),
            status=Message.Status.COMPLETED if blocks else Message.Status.STOPPED,
        ),
    )


def _context_of(message: Message, session: ChatSession) -> ContextEntry:
    return ContextEntry(
        session=session,
        turn=message.turn,
        type=ContextEntry.Type.CHAT,
        role=message.role,
        content=message.content,
        tokens=count_tokens(message.content),
    )


def _backdate(session: ChatSession, turns: list[Turn], asked: list[datetime | None], now: datetime) -> None:
    """Give turns and their messages the times of the questions, which are in the order of the turns."""
    last = min((at for at in asked if at is not None), default=now)
    for turn, at in zip(turns, asked, strict=True):
        # Without a time, or with one in the future, it follows the one before.
        last = turn.created_at = at if at is not None and at <= now else last + timedelta(milliseconds=1)
    Turn.objects.bulk_update(turns, ["created_at"])
    times = Turn.objects.filter(pk=OuterRef("turn")).values("created_at")
    Message.objects.filter(turn__session=session).update(created_at=Subquery(times))


def blocks_of(markdown: str) -> list[dict[str, Any]]:
    """Return a text as the blocks of an answer; pictures of other sites become their descriptions."""
    reader, pictures = MarkdownReader(), PictureFilter()
    blocks: list[dict[str, Any]] = []

    def begin(kind: str, **fields: Any) -> dict[str, Any]:
        blocks.append({"id": f"b{len(blocks) + 1}", "kind": kind} | fields)
        return blocks[-1]

    plain = pictures.feed(markdown) + pictures.close()
    for part in (*reader.feed(plain), *reader.close()):
        match part:
            case Words(text) | Image(alt=text):
                if isinstance(part, Image):
                    text = f"*{escape_markdown(text)}*" if text else ""
                open_text = blocks[-1] if blocks and blocks[-1]["kind"] == "text" else None
                if open_text is None and text.strip():
                    open_text = begin("text", text="")
                    text = text.lstrip("\n")
                if open_text is not None:
                    open_text["text"] += text
            case TableHead(columns):
                begin("table", columns=list(columns), rows=[])
            case TableRow(cells):
                blocks[-1]["rows"].append(list(cells))
            case CodeHead(language):
                begin("code", language=language[:30], text="")
            case CodeText(text):
                blocks[-1]["text"] += text
    return blocks
