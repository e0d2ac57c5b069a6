"""The past of a conversation as a model is given it."""

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
# Code keeps its brackets, and so does what is a link or a picture.
_SQUARE, _LENTICULAR, _ = in_brackets(NUMBER)
_CODE_OR_MARKER = re.compile(
    rf"(```.*?(?:```|\Z)|`[^`\n]*`)|(?<![ \t])[ \t]*(?:{_SQUARE}(?!\()|{_LENTICULAR})", re.DOTALL
)
# Of these some column changes whenever a message does; they are narrow beside its texts.
_CHANGING = ("id", "status", "last_seq")
# What `grouped` takes of each message.
TOLD = ("turn_id", "role", "told", "status", "turn__continues", "turn__parent_turn_id")
_WORTH = {Message.Status.COMPLETED, Message.Status.STOPPED}
# What stands below an answer whose end is missing, by the `finish_reason` that the model gave.
ENDINGS: dict[str, Promise] = {
    "length": gettext_lazy("**The answer reached the length that it is allowed, and ends here.**"),
    "content_filter": gettext_lazy("**The provider's content filter ended the answer here.**"),
}


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier turn of the branch, thinking removed; its answer is empty where it was not answered in full."""

    turn_id: int
    question: str
    answer: str


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
    """Return the last `limit` complete turns of a branch, oldest first; those without a whole answer are dropped."""
    return [turn for turn in past_turns(session_id, branch, limit) if turn.answer]


def past_turns(session_id: int, branch: Sequence[int], limit: int) -> list[PastTurn]:
    """Return the last `limit` complete turns of a branch and, with an empty answer, the incomplete ones among them.

    They are oldest first. At most 20 messages are looked at. Thinking and citation markers are removed. A session's
    history is cached for five minutes: for the end of one branch, so that a new turn drops it, and for the messages as
    they are, so that nothing is given that was removed or has gone on meanwhile.
    """
    ids = list(branch[-(settings.MAX_HISTORY_MESSAGES // 2) :])
    if not ids or limit <= 0:
        return []
    key = f"history:{session_id}"
    of_branch, stamp, kept = cache.get(key) or (None, None, [])
    if of_branch == (limit, ids) and stamp == list(_messages(ids).values_list(*_CHANGING)):
        return [PastTurn(*item) for item in kept]
    rows = list(with_texts(_messages(ids)).values(*TOLD, "id", "last_seq"))
    turns = from_last_complete(grouped(ids, rows), limit)
    stamp = [tuple(row[name] for name in _CHANGING) for row in rows]
    kept = [(turn.turn_id, turn.question, turn.answer) for turn in turns]
    cache.set(key, ((limit, ids), stamp, kept), CACHE_SECONDS)
    return turns


def from_last_complete(turns: Sequence[PastTurn], limit: int) -> list[PastTurn]:
    """Return the last `limit` complete turns, and the incomplete ones among them, of turns that are oldest first."""
    complete = [place for place, turn in enumerate(turns) if turn.answer]
    return list(turns[complete[-limit] if len(complete) > limit else 0 :]) if limit > 0 else []


def complete_turns(turn_ids: Sequence[int]) -> list[PastTurn]:
    """Return those of the turns that have a whole question and answer, in their order, as a model is given them."""
    return [turn for turn in grouped(turn_ids, with_texts(_messages(turn_ids)).values(*TOLD)) if turn.answer]


def with_texts(messages: QuerySet[Message]) -> QuerySet[Any]:
    """Return messages with what models are told of each as `told`: its context entry, or, without one, its content."""
    entries = ContextEntry.objects.filter(
        type=ContextEntry.Type.CHAT, turn=OuterRef("turn"), role=OuterRef("role")
    ).values("content")
    return messages.annotate(told=Coalesce(Subquery(entries[:1]), F("content")))


def grouped(turn_ids: Iterable[int], rows: Iterable[Mapping[str, Any]]) -> list[PastTurn]:
    """Return messages, with the values of `TOLD`, as turns in the order of the ids; without a whole answer it is empty.

    Turns that went on with a cut answer are one with it: of them the last that has an answer is taken, which is told
    with all that came before it.
    """
    by_turn: dict[int, dict[str, str]] = {}
    begun: dict[int, int] = {}  # by turn, the one in which its answer began
    for row in sorted(rows, key=lambda row: int(row["turn_id"])):
        told = by_turn.setdefault(row["turn_id"], {})
        if row["role"] == Message.Role.USER or row["status"] in _WORTH:
            told[row["role"]] = without_ending(strip_thinking(row["told"]))
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


def joined(begun: str, rest: str) -> str:
    """Return a cut answer with what went on with it, which is the whole where it was begun anew."""
    return rest if rest.startswith(begun) else f"{begun}\n{rest}"


def without_ending(text: str) -> str:
    """Return an answer without the note that its end is missing, in whichever language it stands; models wrote none."""
    for ending in ENDINGS.values():
        for language, _name in settings.LANGUAGES:
            with translation.override(language):
                text = text.replace(str(ending), "")
    return text.strip()


def strip_markers(text: str) -> str:
    """Remove citation markers: `[1]` of an earlier answer is another passage than `[1]` of the next prompt."""
    return _CODE_OR_MARKER.sub(lambda match: match[1] or "", text).strip()


def _messages(turn_ids: Sequence[int]) -> QuerySet[Message]:
    return Message.objects.filter(turn_id__in=turn_ids).order_by("id")
