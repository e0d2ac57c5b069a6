"""The past of a conversation as a model is given it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from conversations.models import ContextEntry, Message, Turn
from conversations.pipeline.state import PastTurn
from ragsite.llm.think import strip_thinking

CACHE_SECONDS = 300
# Code keeps its brackets, and so does what is a link or a picture.
_CODE_OR_MARKER = re.compile(
    r"(```.*?(?:```|\Z)|`[^`\n]*`)|(?<![ \t])[ \t]*(?:\[\d{1,3}\](?!\()|【\d{1,3}】)", re.DOTALL
)
# Of these some column changes whenever a message does; they are narrow beside its texts.
_CHANGING = ("id", "status", "last_seq")
_WORTH = {Message.Status.COMPLETED, Message.Status.STOPPED}


def branch_of(session_id: int, leaf: int | None) -> list[int]:
    """Return the ids of all turns from the first to the leaf, oldest first; empty when it is not of the session."""
    if leaf is None:
        return []
    parents = dict(Turn.objects.filter(session_id=session_id).order_by().values_list("id", "parent_turn_id"))
    path: list[int] = []
    turn: int | None = leaf if leaf in parents else None
    while turn is not None:
        path.append(turn)
        turn = parents.get(turn)
    return path[::-1]


def recent_turns(session_id: int, branch: Sequence[int], limit: int) -> list[PastTurn]:
    """Return the last `limit` complete turns of a branch, oldest first.

    At most 20 messages are looked at. Thinking and citation markers are removed; turns without a whole question and
    answer are dropped. A session's history is cached for five minutes: for the end of one branch, so that a new turn
    drops it, and for the messages as they are, so that nothing is given that was removed or has gone on meanwhile.
    """
    ids = list(branch[-(settings.MAX_HISTORY_MESSAGES // 2) :])
    if not ids or limit <= 0:
        return []
    key = f"history:{session_id}"
    of_branch, stamp, kept = cache.get(key) or (None, None, [])
    if of_branch == (limit, ids) and stamp == list(_messages(ids).values_list(*_CHANGING)):
        return [PastTurn(*item) for item in kept]
    rows = list(with_texts(_messages(ids)).values("turn_id", "role", "told", *_CHANGING))
    turns = grouped(ids, rows)[-limit:]
    stamp = [tuple(row[name] for name in _CHANGING) for row in rows]
    kept = [(turn.turn_id, turn.question, turn.answer) for turn in turns]
    cache.set(key, ((limit, ids), stamp, kept), CACHE_SECONDS)
    return turns


def complete_turns(turn_ids: Sequence[int]) -> list[PastTurn]:
    """Return those of the turns that have a whole question and answer, in their order, as a model is given them."""
    return grouped(turn_ids, with_texts(_messages(turn_ids)).values("turn_id", "role", "told", "status"))


def with_texts(messages: QuerySet[Message]) -> QuerySet[Any]:
    """Return messages with what models are told of each as `told`: its context entry, or, without one, its content."""
    entries = ContextEntry.objects.filter(
        type=ContextEntry.Type.CHAT, turn=OuterRef("turn"), role=OuterRef("role")
    ).values("content")
    return messages.annotate(told=Coalesce(Subquery(entries[:1]), F("content")))


def grouped(turn_ids: Iterable[int], rows: Iterable[Mapping[str, Any]]) -> list[PastTurn]:
    """Return messages, with `turn_id`, `role`, `told` and `status`, as complete turns in the order of the ids."""
    by_turn: dict[int, dict[str, str]] = {}
    for row in rows:
        if row["role"] == Message.Role.USER or row["status"] in _WORTH:
            by_turn.setdefault(row["turn_id"], {})[row["role"]] = strip_thinking(row["told"])
    return [
        PastTurn(turn_id, pair["user"], answer)
        for turn_id in turn_ids
        if (pair := by_turn.get(turn_id, {})).get("user") and (answer := strip_markers(pair.get("assistant", "")))
    ]


def strip_markers(text: str) -> str:
    """Remove citation markers: `[1]` of an earlier answer is another passage than `[1]` of the next prompt."""
    return _CODE_OR_MARKER.sub(lambda match: match[1] or "", text).strip()


def _messages(turn_ids: Sequence[int]) -> QuerySet[Message]:
    return Message.objects.filter(turn_id__in=turn_ids).order_by("id")
