"""The history of a conversation as it is sent to models."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from conversations.events import NUMBER, in_brackets
from conversations.models import ContextEntry, Message, Turn
from ragsite.llm.stream.think import strip_thinking

CACHE_SECONDS = 300
# Brackets stay in code, links and pictures.
_SQUARE, _LENTICULAR = in_brackets(NUMBER)[:2]
_CODE_OR_MARKER = re.compile(
    rf"(```.*?(?:```|\Z)|`[^`\n]*`)|(?<![ \t])[ \t]*(?:{_SQUARE}(?!\()|{_LENTICULAR})", re.DOTALL
)
# Whenever a message changes, so does one of these columns; they are far smaller than its texts.
_CHANGING = ("id", "status", "last_seq")
# The values of each message that `grouped` needs.
GROUPED_FIELDS = ("turn_id", "role", "model_text", "status", "turn__continues", "turn__parent_turn_id")
_USABLE = {Message.Status.COMPLETED, Message.Status.STOPPED}
# The note below an answer that is cut off, by the model's `finish_reason`.
ENDINGS: dict[str, Promise] = {
    "length": gettext_lazy("**The answer reached the length that it is allowed, and ends here.**"),
    "content_filter": gettext_lazy("**The provider's content filter ended the answer here.**"),
}


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier turn of the branch, without thinking; its answer is empty if the turn is incomplete."""

    turn_id: int
    question: str
    answer: str


def branch_of(session_id: int, leaf: int | None) -> list[int]:
    """Return the ids of all turns from the first to the leaf, oldest first; empty if it is not in the session."""
    return _path(_parents(session_id), leaf) if leaf is not None else []


def branch_and_others(session_id: int, leaf: int, asked: int) -> tuple[list[int], list[int]]:
    """Return the branch up to the leaf, and the turns outside it, except for the turn asked now and its versions."""
    parents = _parents(session_id)
    branch = _path(parents, leaf)
    others = parents.keys() - {asked, *branch}
    return branch, sorted(turn for turn in others if parents[turn] != parents.get(asked, leaf))


def _parents(session_id: int) -> dict[int, int | None]:
    return dict(Turn.objects.filter(session_id=session_id).order_by().values_list("id", "parent_turn_id"))


def _path(parents: Mapping[int, int | None], leaf: int) -> list[int]:
    path: list[int] = []
    turn: int | None = leaf if leaf in parents else None
    while turn is not None:
        path.append(turn)
        turn = parents.get(turn)
    return path[::-1]


def recent_turns(session_id: int, branch: Sequence[int], limit: int) -> list[PastTurn]:
    """Return the last `limit` complete turns of a branch, oldest first."""
    return [turn for turn in past_turns(session_id, branch, limit) if turn.answer]


def past_turns(session_id: int, branch: Sequence[int], limit: int) -> list[PastTurn]:
    """Return the last `limit` complete turns of a branch and, with an empty answer, the incomplete ones among them.

    The oldest is first. At most 20 messages are read. Thinking and citation markers are removed. A session's history is
    cached for five minutes. The cached value is used only for the same end of the same branch, and only while none of
    its messages has changed or been deleted.
    """
    ids = list(branch[-(settings.MAX_HISTORY_MESSAGES // 2) :])
    if not ids or limit <= 0:
        return []
    key = f"history:{session_id}"
    of_branch, stamp, kept = cache.get(key) or (None, None, [])
    if of_branch == (limit, ids) and stamp == list(_messages(ids).values_list(*_CHANGING)):
        return [PastTurn(*item) for item in kept]
    rows = list(with_texts(_messages(ids)).values(*GROUPED_FIELDS, "id", "last_seq"))
    turns = from_last_complete(grouped(ids, rows), limit)
    stamp = [tuple(row[name] for name in _CHANGING) for row in rows]
    kept = [(turn.turn_id, turn.question, turn.answer) for turn in turns]
    cache.set(key, ((limit, ids), stamp, kept), CACHE_SECONDS)
    return turns


def from_last_complete(turns: Sequence[PastTurn], limit: int) -> list[PastTurn]:
    """Return the last `limit` complete turns and the incomplete ones among them; `turns` are oldest first."""
    complete = [place for place, turn in enumerate(turns) if turn.answer]
    return list(turns[complete[-limit] if len(complete) > limit else 0 :]) if limit > 0 else []


def complete_turns(turn_ids: Sequence[int]) -> list[PastTurn]:
    """Return the turns that have a question and a complete answer, in the order of the ids, as sent to models."""
    rows = with_texts(_messages(turn_ids)).values(*GROUPED_FIELDS)
    return [turn for turn in grouped(turn_ids, rows) if turn.answer]


def with_texts(messages: QuerySet[Message]) -> QuerySet[Any]:
    """Annotate messages with `model_text`, the text sent to models: the context entry, or without one the content."""
    entries = ContextEntry.objects.filter(
        type=ContextEntry.Type.CHAT, turn=OuterRef("turn"), role=OuterRef("role")
    ).values("content")
    return messages.annotate(model_text=Coalesce(Subquery(entries[:1]), F("content")))


def grouped(turn_ids: Iterable[int], rows: Iterable[Mapping[str, Any]]) -> list[PastTurn]:
    """Return messages, given as values of `GROUPED_FIELDS`, as turns in the order of the ids.

    The answer of an incomplete turn is empty. Turns that continue a cut answer are merged with it: only the last of
    them that has an answer is returned, since its text sent to models includes the earlier parts.
    """
    by_turn: dict[int, dict[str, str]] = {}
    begun: dict[int, int] = {}  # by turn, the one in which its answer began
    for row in sorted(rows, key=lambda row: int(row["turn_id"])):
        texts = by_turn.setdefault(row["turn_id"], {})
        if row["role"] == Message.Role.USER or row["status"] in _USABLE:
            texts[row["role"]] = without_ending(strip_thinking(row["model_text"]))
        parent = row["turn__parent_turn_id"]
        begun[row["turn_id"]] = begun.get(parent, row["turn_id"]) if row["turn__continues"] else row["turn_id"]
    last: dict[int, PastTurn] = {}
    for turn_id, first in begun.items():
        pair = by_turn[turn_id]
        turn = PastTurn(turn_id, pair.get("user", ""), strip_markers(pair.get("assistant", "")))
        if turn.question and (turn.answer or first not in last or not last[first].answer):
            last[first] = turn
    taken = {turn.turn_id: turn for turn in last.values()}
    return [taken[turn_id] for turn_id in turn_ids if turn_id in taken]


def with_continuation(begun: str, rest: str) -> str:
    """Return a cut answer with its continuation, or only the continuation if the model started over."""
    return rest if rest.startswith(begun) else f"{begun}\n{rest}"


def without_ending(text: str) -> str:
    """Return an answer without the site's note that it is cut off, in any of the site's languages."""
    for ending in ENDINGS.values():
        for language, _name in settings.LANGUAGES:
            with translation.override(language):
                text = text.replace(str(ending), "")
    return text.strip()


def strip_markers(text: str) -> str:
    """Remove citation markers: `[1]` in an earlier answer is not the same passage as `[1]` in the next prompt."""
    return _CODE_OR_MARKER.sub(lambda match: match[1] or "", text).strip()


def _messages(turn_ids: Sequence[int]) -> QuerySet[Message]:
    return Message.objects.filter(turn_id__in=turn_ids).order_by("id")
