"""The past of a conversation as a model is given it."""

import re
from typing import Any

from django.conf import settings
from django.core.cache import cache

from conversations.models import Message, Turn
from conversations.pipeline.state import PastTurn

CACHE_SECONDS = 300
_THINK = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL | re.IGNORECASE)
_WORTH = {Message.Status.COMPLETED, Message.Status.STOPPED}


def recent_turns(session_id: int, parent_turn_id: int | None, limit: int) -> list[PastTurn]:
    """Return the last `limit` complete turns of the branch that ends in the parent, oldest first.

    At most 20 messages are looked at. Thinking is removed; turns without a whole question and answer are
    dropped. Cached for five minutes by branch: a new turn makes a new branch end, and so a new key.
    """
    if parent_turn_id is None or limit <= 0:
        return []
    key = f"history:{session_id}:{parent_turn_id}:{limit}"
    cached = cache.get(key)
    if cached is not None:
        return [PastTurn(*item) for item in cached]
    turns = _complete(_path(session_id, parent_turn_id, settings.MAX_HISTORY_MESSAGES // 2))[-limit:]
    if _settled(parent_turn_id):
        cache.set(key, [(turn.turn_id, turn.question, turn.answer) for turn in turns], CACHE_SECONDS)
    return turns


def strip_thinking(text: str) -> str:
    """Remove `<think>…</think>`, also one that never ends."""
    return _THINK.sub("", text).strip()


def _settled(turn_id: int) -> bool:
    return not Message.objects.filter(turn_id=turn_id, status=Message.Status.STREAMING).exists()


def _path(session_id: int, leaf: int, limit: int) -> list[int]:
    """Return the last `limit` turn ids of a branch, oldest first."""
    parents = dict(Turn.objects.filter(session_id=session_id).values_list("id", "parent_turn_id"))
    path: list[int] = []
    turn: int | None = leaf if leaf in parents else None
    while turn is not None and len(path) < limit:
        path.append(turn)
        turn = parents.get(turn)
    return path[::-1]


def _complete(turn_ids: list[int]) -> list[PastTurn]:
    rows = Message.objects.filter(turn_id__in=turn_ids).values("turn_id", "role", "content", "status")
    by_turn: dict[int, dict[str, Any]] = {}
    for row in rows:
        if row["role"] == Message.Role.USER or row["status"] in _WORTH:
            by_turn.setdefault(row["turn_id"], {})[row["role"]] = strip_thinking(row["content"])
    return [
        PastTurn(turn_id, pair["user"], pair["assistant"])
        for turn_id in turn_ids
        if (pair := by_turn.get(turn_id, {})).get("user") and pair.get("assistant")
    ]
