"""Summaries of the turns of a chat that no longer fit into the prompt, stored as context entries of its branches.

A summary belongs to the last turn that it covers, so branches that fork later share it. It is written after an answer,
once turns have left the recent window or were cut from the prompt, and covers a few turns more, so that most answers
need no new one. The next summary continues it, including any edits by the user. Earlier summaries and the texts before
edits are kept as versions, which the user can restore, until the summary is cleared.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.text import Truncator

from conversations.history import PastTurn, complete_turns
from conversations.models import ContextEntry, Turn
from conversations.prompts import endpoints
from conversations.prompts.budget import Window
from conversations.prompts.side_calls import SPEAKERS
from conversations.prompts.templates import get_prompt
from ragsite.db import in_database
from ragsite.llm.errors import LLMError
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.prompt_tokens import shorten
from ragsite.llm.stream.think import strip_thinking
from ragsite.llm.types import ChatMessage
from ragsite.site_settings.config import config

logger = logging.getLogger(__name__)

# The most tokens of a summary, and the most characters of one that a user has edited.
LONGEST = 400
LONGEST_EDIT = 4000
# The most texts before edits that are kept of one summary.
MOST_VERSIONS = 20
# How many turns a summary covers beyond those it must, and the most that are added at once.
AHEAD = 2
AT_ONCE = 20
# Seconds for a model to write a summary; no user waits for it.
PATIENCE = 120.0
# The most characters of a summary made by rules, and of each question and answer in it.
LONGEST_EXTRACT = 1600
_QUESTION, _ANSWER = 100, 160


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a branch's summary: its number, from 1, the oldest, and the last turn that it covers."""

    number: int
    turn_id: int | None
    content: str
    written_at: datetime
    edited: bool
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """The input of a summary: the previous summary, and the turns since."""

    session_id: int
    previous: ContextEntry | None
    turns: list[PastTurn]
    first_turn_id: int
    last_turn_id: int


def summary_of(session_id: int, branch: Sequence[int]) -> str:
    """Return the summary of a branch's beginning; empty if there is none or it was cleared."""
    entry = entry_of(session_id, branch)
    return entry.content if entry is not None else ""


def entry_of(session_id: int, branch: Sequence[int]) -> ContextEntry | None:
    """Return the summary that covers the most of a branch, or None."""
    place = {turn: number for number, turn in enumerate(branch)}
    return max(_entries(session_id, branch), key=lambda entry: place.get(entry.turn_id or 0, -1), default=None)


def due(branch: Sequence[int], covered: int | None, cut: Collection[int]) -> list[int]:
    """Return the turns that the branch's next summary adds, oldest first; none while all turns are covered or recent.

    `covered` is the last turn of the current summary, `cut` are turns that did not fit into the last prompt. The newest
    turn is never summarised, because follow-up questions need its full text.
    """
    recent = min(config.MAX_RECENT_TURNS, settings.MAX_HISTORY_MESSAGES // 2)
    missing = [place for place, turn in enumerate(branch) if place < len(branch) - recent or turn in cut]
    start = branch.index(covered) + 1 if covered in branch else 0
    if not missing or missing[-1] < start:
        return []
    return list(branch[start : min(missing[-1] + AHEAD + 1, len(branch) - 1)][:AT_ONCE])


async def keep_up(session_id: int, branch: Sequence[int], cut: Collection[int], language: str) -> bool:
    """Write the next summary of a branch if it is due, by a model or else by rules; return whether one was stored."""
    if not due(branch, None, cut):
        return False  # even without looking up the current summary
    draft = await in_database(_draft, session_id, branch, cut)
    if draft is None:
        return False
    return await in_database(_store, draft, await _written(draft, language) or extract(draft))


def extract(draft: Draft) -> str:
    """Return a summary made by rules: each question with the beginning of its answer, dropping the oldest to fit."""
    before = draft.previous.content.splitlines() if draft.previous is not None else []
    lines = before + [f"- {_line(turn.question, _QUESTION)} → {_line(turn.answer, _ANSWER)}" for turn in draft.turns]
    while len(lines) > 1 and len("\n".join(lines)) > LONGEST_EXTRACT:
        del lines[0]
    return "\n".join(lines)


def edit(entry: ContextEntry, text: str) -> None:
    """Store a user's edit of a summary, and keep the text before it as a version; an empty text clears both.

    Raises `ValueError` for more than `LONGEST_EDIT` characters.
    """
    text = text.replace("\x00", "").strip()
    if len(text) > LONGEST_EDIT:
        raise ValueError(LONGEST_EDIT)
    if not text:
        entry.earlier = []
    elif entry.content and entry.content != text:
        written_at = entry.edited_at or entry.created_at
        before = {"content": entry.content, "at": written_at.isoformat(), "edited": entry.edited_at is not None}
        entry.earlier = [*entry.earlier, before][-MOST_VERSIONS:]
    entry.content, entry.tokens, entry.edited_at = text, count_tokens(text), timezone.now()
    entry.save(update_fields=["content", "tokens", "edited_at", "earlier"])


def versions(session_id: int, branch: Sequence[int]) -> list[Version]:
    """Return the versions of a branch's summary, oldest first; the last is the current one, if it isn't cleared."""
    place = {turn: number for number, turn in enumerate(branch)}
    found: list[Version] = []
    entries = sorted(_entries(session_id, branch), key=lambda entry: place.get(entry.turn_id or 0, -1))
    for entry in entries:
        texts = [(each["content"], datetime.fromisoformat(each["at"]), each["edited"]) for each in entry.earlier]
        if entry.content:
            texts.append((entry.content, entry.edited_at or entry.created_at, entry.edited_at is not None))
        found += [Version(len(found) + at, entry.turn_id, *text) for at, text in enumerate(texts, 1)]
    if found and entries[-1].content:
        found[-1] = replace(found[-1], is_current=True)
    return found


def restore(session_id: int, branch: Sequence[int], number: int) -> ContextEntry | None:
    """Make a version the current text of a branch's summary, as an edit; return None if there is no such version."""
    entry = entry_of(session_id, branch)
    version = next((each for each in versions(session_id, branch) if each.number == number), None)
    if entry is None or version is None:
        return None
    edit(entry, version.content)
    return entry


@transaction.atomic
def clear(session_id: int, branch: Sequence[int]) -> None:
    """Delete the summaries of a branch. An empty one is kept, so that the turns are not summarised again."""
    entry = entry_of(session_id, branch)
    if entry is not None:
        _entries(session_id, branch).exclude(pk=entry.pk).delete()
        edit(entry, "")


def _entries(session_id: int, branch: Sequence[int]) -> QuerySet[ContextEntry]:
    return ContextEntry.objects.filter(session_id=session_id, type=ContextEntry.Type.SUMMARY, turn_id__in=list(branch))


def _draft(session_id: int, branch: Sequence[int], cut: Collection[int]) -> Draft | None:
    previous = entry_of(session_id, branch)
    ids = due(branch, previous.turn_id if previous is not None else None, cut)
    turns = complete_turns(ids)
    if not turns:
        return None
    first = previous.covers_from_id if previous is not None and previous.content else None
    return Draft(session_id, previous, turns, first or ids[0], ids[-1])


async def _written(draft: Draft, language: str) -> str:
    """Return a model's summary; empty without a model or if it fails."""
    try:
        async with asyncio.timeout(PATIENCE):
            client = await endpoints.client_for("summary")
            if client is None:
                return ""
            try:
                window = Window.of(client.endpoint.context_window, client.endpoint.max_tokens)
                reply = await client.complete(await in_database(_messages, draft, language, window))
            finally:
                await client.aclose()
    except (LLMError, TimeoutError) as error:
        logger.warning("No summary by a model for session %s: %s", draft.session_id, type(error).__name__)
        return ""
    return shorten(strip_thinking(reply.text), LONGEST)


def _messages(draft: Draft, language: str, window: Window) -> list[ChatMessage]:
    prompt = get_prompt("summary", language)
    before = draft.previous.content if draft.previous is not None else ""
    fixed = sum(map(window.measure, prompt.fill(history=before)))
    each = window.room((window.limit - fixed) // len(draft.turns)) // 2
    asker, answerer, so_far = SPEAKERS[language]
    parts = [f"{so_far}: {before}"] if before else []
    for turn in draft.turns:
        parts += [f"{asker}: {shorten(turn.question, each)}", f"{answerer}: {shorten(turn.answer, each)}"]
    system, user = prompt.fill(history="\n".join(parts))
    return [ChatMessage("system", system), ChatMessage("user", user)]


@transaction.atomic
def _store(draft: Draft, text: str) -> bool:
    """Store a summary, unless the previous one or one of its turns was changed or removed in the meantime."""
    before = draft.previous
    if before is not None:
        unchanged = ContextEntry.objects.select_for_update().filter(pk=before.pk, content=before.content)
        if not unchanged.exists():
            return False
    ends = {draft.first_turn_id, draft.last_turn_id}
    if not text or Turn.objects.filter(pk__in=ends).count() != len(ends):
        return False
    entry = ContextEntry(
        session_id=draft.session_id,
        turn_id=draft.last_turn_id,
        type=ContextEntry.Type.SUMMARY,
        role="system",
        content=text,
        tokens=count_tokens(text),
        covers_from_id=draft.first_turn_id,
    )
    ContextEntry.objects.bulk_create([entry], ignore_conflicts=True)
    return True


def _line(text: str, length: int) -> str:
    """Return a text on one line, cut to a length in characters."""
    return Truncator(" ".join(text.split())).chars(length)
