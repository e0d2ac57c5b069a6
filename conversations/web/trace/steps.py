"""A turn's trace as the page shows it: what ran, how long, and what each node saw, in words."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.models import TraceStep, Turn
from conversations.turns import redaction
from conversations.turns.lifecycle import pipeline
from conversations.web.progress import duration
from conversations.web.trace import labels
from conversations.web.trace import memory_labels as recalled
from knowledge import access
from knowledge.models import Chunk

REASONS: dict[str, Any] = {
    "greeting": gettext_lazy("a greeting"),
    "no searchable word": gettext_lazy("it names nothing to search for"),
    "no object": gettext_lazy("it does not name what it asks about"),
    "stands alone": gettext_lazy("it stands alone"),
    "pronoun": gettext_lazy("it points at what came before"),
    "continuation": gettext_lazy("it goes on from what came before"),
    "fragment": gettext_lazy("it is too short to stand alone"),
    "common words": gettext_lazy("its words are too common to stand alone"),
    "low confidence": gettext_lazy("it was understood with little certainty"),
}
_LISTED_HITS = 10
# What is shown of any node's detail in its own way.
_APART = ("error", "error_detail", "messages")


@dataclass(frozen=True, slots=True)
class Found:
    """A passage in a list of hits. `sources` says where each retriever, or the step before, ranked it."""

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
    hits: list[Found]
    more: int


@dataclass(slots=True)
class Step:
    """One node's run. `offset` and `width` place it on the turn's time line, in percent."""

    name: str
    status: str
    duration: str
    offset: int
    width: int
    facts: list[tuple[str, str]] = field(default_factory=list)
    lists: list[HitList] = field(default_factory=list)
    messages: list[redaction.Sent] = field(default_factory=list)
    raw: str = ""


def steps(turn: Turn, user: Any) -> list[Step]:
    """Return what ran for a turn, in order. Passages that the user may not read (any more) are not quoted."""
    rows = list(turn.trace.all())
    if not rows:
        return []
    begin = min(row.started_at for row in rows)
    total = max((row.started_at - begin) / timedelta(milliseconds=1) + row.ms for row in rows) or 1
    chunks = _chunks(rows, user)
    sight = redaction.sight_of(turn, rows, user)
    made = [_step(row, (row.started_at - begin) / timedelta(milliseconds=1), total, chunks) for row in rows]
    for step, row in zip(made, rows, strict=True):
        step.messages = redaction.messages(row.detail, sight)
        if sight.servers and row.detail.get("error_detail"):
            step.facts.append((_("Details"), str(row.detail["error_detail"])))
    return made


def _step(row: TraceStep, start: float, total: float, chunks: dict[int, Chunk]) -> Step:
    step = Step(
        name=_name(row.key),
        status=row.status,
        duration=duration(row.ms),
        offset=min(99, round(100 * start / total)),
        width=max(1, round(100 * row.ms / total)),
    )
    describe = _DESCRIBE.get(row.key)
    if describe is not None:
        describe(step, row.detail, chunks)
    elif rest := {name: value for name, value in row.detail.items() if name not in _APART}:
        step.raw = json.dumps(rest, ensure_ascii=False, indent=2)
    if row.detail.get("error"):
        step.facts.append((_("Error"), str(row.detail["error"])))
    return step


def _name(key: str) -> str:
    """Return the title of a node; its key when the pipeline has no such node any more."""
    node = pipeline().nodes.get(key)
    return str(node.title if node is not None and node.title else key.replace("_", " "))


def _understand(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    actions = {
        "retrieve_vector": _("search the documents"),
        "answer_chat": _("answer without searching"),
        "clarify": _("ask back"),
    }
    step.facts.append((_("Plan"), actions.get(detail.get("action", ""), str(detail.get("action", "")))))
    if detail.get("reason"):
        step.facts.append((_("Why"), str(REASONS.get(detail["reason"], detail["reason"]))))
    step.facts += labels.of_understanding(detail)
    _queries(step, detail)


def _queries(step: Step, detail: dict[str, Any]) -> None:
    for query in detail.get("queries", []):
        weight = f" × {query['weight']:g}" if query.get("weight", 1) != 1 else ""
        step.facts.append((_("Query"), f"{query['text']}{weight}"))


def _rewrite(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    if detail.get("reason"):
        step.facts.append((_("Why"), str(REASONS.get(detail["reason"], detail["reason"]))))
    step.facts += labels.of_rewriting(detail)
    _queries(step, detail)


def _relevance_gate(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    step.facts += labels.of_relevance_gate(detail)


def _filter(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    """List the verdicts; what they quote of a passage is for those who may read it."""
    step.facts += labels.of_filter(detail)
    judged = detail.get("judged", [])
    found = [_judged(rank, hit, chunks) for rank, hit in enumerate(judged[:_LISTED_HITS], 1)]
    if found:
        step.lists.append(HitList(_("Judged"), "", found, len(judged) - len(found)))


def _judged(rank: int, hit: dict[str, Any], chunks: dict[int, Chunk]) -> Found:
    found = _found(rank, hit, chunks)
    if hit["chunk_id"] not in chunks:
        return found
    return replace(found, sources=labels.of_verdict(hit), excerpt=hit.get("key_passage") or found.excerpt)


def _history(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    step.facts += recalled.of_history(detail)


def _memory(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    step.facts += recalled.of_memory(detail)


def _relevant_history(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    step.facts += recalled.of_relevant_history(detail)


def _search(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    titles = {"vector": _("By meaning"), "bm25": _("By words")}
    if detail.get("cached"):
        step.facts.append((_("Note"), _("as found by the same search a moment ago, whose times these are")))
    for ranking in detail.get("rankings", []):
        hits = [_found(rank, hit, chunks) for rank, hit in enumerate(ranking["hits"], 1)]
        title = f"{titles.get(ranking['type'], ranking['type'])}: {ranking['query']}"
        note = " · ".join(part for part in (duration(ranking["ms"]), str(ranking.get("note", ""))) if part)
        step.lists.append(HitList(title, note, hits[:_LISTED_HITS], max(0, len(hits) - _LISTED_HITS)))


def _fusion(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    hits = [_found(rank, hit, chunks) for rank, hit in enumerate(detail.get("hits", []), 1)]
    step.lists.append(HitList(_("Merged"), "", hits[:_LISTED_HITS], max(0, len(hits) - _LISTED_HITS)))


def _reorder(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    hits = detail.get("hits", [])
    found = [
        replace(_found(rank, {"score": 0.0} | hit, chunks), sources=_moved(hit))
        for rank, hit in enumerate(hits[:_LISTED_HITS], 1)
    ]
    step.lists.append(HitList(_("After"), "", found, len(hits) - len(found)))


def _select(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    hits = detail.get("hits", [])
    found = []
    for rank, hit in enumerate(hits[:_LISTED_HITS], 1):
        joined = len(hit.get("merged", ()))
        words = ngettext("%(count)d passage joined", "%(count)d passages joined", joined) % {"count": joined}
        found.append(replace(_found(rank, {"score": 0.0} | hit, chunks), sources=words if joined else ""))
    step.lists.append(HitList(_("Kept"), "", found, len(hits) - len(found)))


def _rerank(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    if detail.get("note"):
        step.facts.append((_("Note"), str(detail["note"])))
    if not detail.get("judged"):
        return
    step.facts.append((_("Least score"), f"{detail['threshold']:g}"))
    for title, hits in ((_("Before"), detail["judged"]), (_("After"), detail["hits"])):
        found = [_found(rank, hit, chunks) for rank, hit in enumerate(hits[:_LISTED_HITS], 1)]
        found = [replace(item, sources=_moved(hit)) for item, hit in zip(found, hits, strict=False)]
        step.lists.append(HitList(title, "", found, len(hits) - len(found)))


def _moved(hit: dict[str, Any]) -> str:
    """Say what a reranker gave a hit, or where the hit stood before it."""
    if "before" in hit:
        return _("was number %(rank)d") % {"rank": hit["before"]}
    return "" if hit["rerank"] is None else _("scored %(score).2f") % {"score": hit["rerank"]}


def _metadata(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    if detail.get("files"):
        step.facts.append((_("Files"), ", ".join(detail["files"])))


def _budget(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    step.facts += recalled.of_budget(detail)


def _generate(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    if detail.get("model"):
        step.facts.append((_("Model"), str(detail["model"])))
    if detail.get("cited"):
        step.facts.append((_("Cited"), ", ".join(f"[{number}]" for number in detail["cited"])))
    usage = detail.get("usage") or {}
    if usage.get("completion_tokens"):
        words = _("%(prompt)s read, %(completion)s written") % {
            "prompt": usage.get("prompt_tokens", "?"),
            "completion": usage["completion_tokens"],
        }
        step.facts.append((_("Tokens"), words))


def _check(step: Step, detail: dict[str, Any], chunks: dict[int, Chunk]) -> None:
    checks = detail.get("checks", [])
    supported = sum(check.get("status") == "supported" for check in checks)
    words = _("%(supported)d of %(total)d sentences with sources") % {"supported": supported, "total": len(checks)}
    step.facts.append((_("Supported"), words))


_DESCRIBE: dict[str, Callable[[Step, dict[str, Any], dict[int, Chunk]], None]] = {
    "understand": _understand,
    "rewrite": _rewrite,
    "relevance_gate": _relevance_gate,
    "filter": _filter,
    "load_history": _history,
    "memory": _memory,
    "relevant_history": _relevant_history,
    "search": _search,
    "fusion": _fusion,
    "metadata": _metadata,
    "reorder": _reorder,
    "rerank": _rerank,
    "select": _select,
    "budget": _budget,
    "generate": _generate,
    "check": _check,
}


def _chunks(rows: list[TraceStep], user: Any) -> dict[int, Chunk]:
    """Return the passages that a trace names, in one query, without those out of the user's reach."""
    return access.chunks(user).select_related("document").in_bulk(redaction.named_passages(rows, _LISTED_HITS))


def _found(rank: int, hit: dict[str, Any], chunks: dict[int, Chunk]) -> Found:
    chunk = chunks.get(hit["chunk_id"])
    sources = " · ".join(
        f"{_('meaning') if source['type'] == 'vector' else _('words')} {source['rank']}"
        for source in hit.get("sources", [])
    )
    if chunk is None:
        return Found(rank, hit["score"], hit["chunk_id"], _("not available"), "", None, "", sources)
    return Found(
        rank,
        hit["score"],
        chunk.pk,
        chunk.document.name,
        chunk.document.original_filename,
        chunk.page,
        chunk.content[:160],
        sources,
    )
