"""Redaction of a turn's trace for a reader: passages they may not read, and error messages of servers, are removed."""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.models import ROLES, Citation, TraceStep, Turn
from knowledge import access

# The format of `passages.fenced`; a passage can't contain its own end.
_BEGIN = re.compile(r'<passage number="(\d{1,9})"')
_END = "\n</passage>"


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message: its speaker, its size ("17 characters") and its text."""

    speaker: str
    size: str
    text: str


@dataclass(frozen=True, slots=True)
class TraceVisibility:
    """The parts of a trace that a reader may see: ids of passages, and their numbers in the answer's prompt.

    `servers` is whether to show details of server errors, which are for staff.
    """

    chunk_ids: frozenset[int]
    numbers: frozenset[int]
    servers: bool = False

    def text(self, text: str) -> str:
        """Return a message without the passages that the reader may not see."""
        parts, place = [], 0
        for number, begin, end in _passages(text):
            if number not in self.numbers:
                parts += [text[place:begin], _("[not available to you]")]
                place = end
        return "".join([*parts, text[place:]])

    def detail(self, detail: dict[str, Any]) -> dict[str, Any]:
        """Return the detail of a node, without hidden passages and server errors."""
        seen = copy.deepcopy(detail)
        if not self.servers:
            seen.pop("error_detail", None)
        for message in seen.get("messages", []):
            message["content"] = self.text(message["content"])
        for verdict in seen.get("judged", []):
            if verdict.get("chunk_id") not in self.chunk_ids:
                verdict.update({name: "" for name in ("key_passage", "reason") if name in verdict})
        for ranking in seen.get("rankings", []):
            if not self.chunk_ids.issuperset(hit["chunk_id"] for hit in ranking["hits"]):
                ranking.update({name: [] for name in ("learned",) if name in ranking})
        return seen


def _passages(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each passage's contents, in time linear in the text's length."""
    place = 0
    while opening := _BEGIN.search(text, place):
        place = text.find("\n", opening.end())
        if place > 0 and text[place - 1] == ">":
            end = text.find(_END, place + 1)
            if end >= 0:
                yield int(opening[1]), place + 1, end
            place = end
        if place < 0:  # no passage after this one has an end
            return


def trace_visibility(turn: Turn, rows: list[TraceStep], user: Any) -> TraceVisibility:
    """Return the parts of a trace that the user may see; the numbers of passages are those of the citations."""
    cited = dict(Citation.objects.filter(message__turn=turn, chunk__isnull=False).values_list("index", "chunk_id"))
    ids = named_passages(rows, None) | set(cited.values())
    readable = frozenset(access.readable_chunks(user).filter(pk__in=ids).values_list("pk", flat=True))
    numbers = frozenset(number for number, chunk in cited.items() if chunk in readable)
    return TraceVisibility(readable, numbers, servers=user.has_perm("conversations.view_tracestep"))


def named_passages(rows: list[TraceStep], most: int | None) -> set[int]:
    """Return the ids of the passages in a trace: the first `most` of each list, or all if None."""
    ids: set[int] = set()
    for row in rows:
        for name in ("hits", "judged"):
            ids |= {hit["chunk_id"] for hit in row.detail.get(name, [])[:most]}
        for ranking in row.detail.get("rankings", []):
            ids |= {hit["chunk_id"] for hit in ranking["hits"][:most]}
    return ids


def withhold(turn: Turn, user: Any) -> None:
    """Redact a turn's trace for the user, in memory but not in the database."""
    prefetch_related_objects([turn], "trace")
    rows = list(turn.trace.all())
    visible = trace_visibility(turn, rows, user)
    for row in rows:
        row.detail = visible.detail(row.detail)


def messages(detail: dict[str, Any], visible: TraceVisibility) -> list[ShownMessage]:
    """Return the messages in a node's detail, in order."""
    sent = []
    for item in detail.get("messages", []):
        count = len(item["content"])
        size = ngettext("%(count)d character", "%(count)d characters", count) % {"count": count}
        sent.append(ShownMessage(str(ROLES.get(item["role"], item["role"])), size, visible.text(item["content"])))
    return sent
