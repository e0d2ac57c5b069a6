"""A turn's trace as the page shows it: the nodes that ran, their durations and details."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.models import Turn
from conversations.pipeline.description import Passage
from conversations.rendering.progress import duration
from conversations.turns import redaction
from conversations.turns.lifecycle import find_node
from knowledge import access
from knowledge.models import Chunk

# The outcomes of a node's run; custom nodes may have others.
STATUSES = {
    "completed": gettext_lazy("Completed"),
    "skipped": gettext_lazy("Skipped"),
    "error": gettext_lazy("Failed"),
    "stopped": gettext_lazy("Stopped"),
}
_LISTED_HITS = 10
# Details that are shown in the same way for any node.
_APART = ("error", "error_detail", "messages")


@dataclass(frozen=True, slots=True)
class TracePassage:
    """A passage in a list of hits. `sources` explains its position, such as its rank by each retriever."""

    rank: int
    score: float | None
    chunk_id: int
    title: str
    filename: str
    page: int | None
    excerpt: str
    sources: str = ""


@dataclass(slots=True)
class HitList:
    """The hits of one retriever for one query, or of the fusion."""

    title: str
    note: str
    hits: list[TracePassage]
    more: int


@dataclass(slots=True)
class Step:
    """One node's run. `offset` and `width` are its position on the turn's timeline, in percent."""

    name: str
    status: str
    duration: str
    offset: int
    width: int
    facts: list[tuple[str, str]] = field(default_factory=list)
    lists: list[HitList] = field(default_factory=list)
    messages: list[redaction.ShownMessage] = field(default_factory=list)
    raw: str = ""


def node_name(key: str) -> str:
    """Return the title of a node, or its key if no pipeline has such a node or it has no title."""
    node = find_node(key)
    return str(node.title) if node is not None and node.title else key.replace("_", " ")


def steps(turn: Turn, user: Any) -> list[Step]:
    """Return the steps of a turn, in order. Passages that the user can't read (any more) aren't quoted."""
    rows = list(turn.trace.all())
    if not rows:
        return []
    begin = min(row.started_at for row in rows)
    total = max((row.started_at - begin) / timedelta(milliseconds=1) + row.ms for row in rows) or 1
    # The passages in the trace that the user can read.
    named = redaction.named_passages(rows, _LISTED_HITS)
    chunks = access.readable_chunks(user).select_related("document").in_bulk(named)
    visible = redaction.trace_visibility(turn, rows, user)
    made = []
    for row in rows:
        node = find_node(row.key)
        start = (row.started_at - begin) / timedelta(milliseconds=1)
        step = Step(
            name=node_name(row.key),
            status=row.status,
            duration=duration(row.ms),
            offset=min(99, round(100 * start / total)),
            width=max(1, round(100 * row.ms / total)),
            messages=redaction.messages(row.detail, visible),
        )
        # As described by its node; unchanged if the pipeline has no such node or the node describes nothing.
        description = node.describe(row.detail) if node is not None else None
        if description is not None:
            step.facts += description.facts
            for each in description.lists:
                hits = [_trace_passage(rank, hit, chunks) for rank, hit in enumerate(each.passages[:_LISTED_HITS], 1)]
                note = " · ".join(filter(None, ("" if each.ms is None else duration(each.ms), each.note)))
                step.lists.append(HitList(each.title, note, hits, len(each.passages) - len(hits)))
        elif rest := {name: value for name, value in row.detail.items() if name not in _APART}:
            step.raw = json.dumps(rest, ensure_ascii=False, indent=2)
        if row.detail.get("error"):
            step.facts.append((_("Error"), str(row.detail["error"])))
        if visible.servers and row.detail.get("error_detail"):
            step.facts.append((_("Details"), str(row.detail["error_detail"])))
        made.append(step)
    return made


def _trace_passage(rank: int, hit: Passage, chunks: dict[int, Chunk]) -> TracePassage:
    chunk = chunks.get(hit.chunk_id)
    if chunk is None:
        return TracePassage(rank, hit.score, hit.chunk_id, _("not available"), "", None, "")
    return TracePassage(
        rank,
        hit.score,
        chunk.pk,
        chunk.document.name,
        chunk.document.original_filename,
        chunk.page,
        hit.quote or chunk.content[:160],
        hit.words,
    )
