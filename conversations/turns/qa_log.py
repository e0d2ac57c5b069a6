"""One structured line per turn in the log `ragsite.qa`: what was done, how long it took, what it cost.

Nobody's words are in it, neither the question's nor a document's, unless `RAGSITE_LOG_TEXTS` says so.
"""

import logging
from typing import Any

from django.conf import settings

from conversations.events import DoneEvent, ErrorEvent, plain_text
from conversations.pipeline.state import State
from conversations.pipeline.writing import extractive_answer

logger = logging.getLogger("ragsite.qa")


def write(state: State, done: DoneEvent, error: ErrorEvent | None) -> None:
    """Log how a turn ended."""
    logger.info("turn", extra={"fields": fields(state, done, error)})


def fields(state: State, done: DoneEvent, error: ErrorEvent | None) -> dict[str, Any]:
    """Return the line's members; times in milliseconds, `nodes` only of those that ran."""
    started = state.started
    # The passages that each retriever found.
    found: dict[str, set[int]] = {}
    for ranking in state.rankings:
        found.setdefault(ranking.type, set()).update(chunk_id for chunk_id, _score in ranking.hits)
    line: dict[str, Any] = {
        "request_id": str(state.request_id),
        "user_id": state.user_id,
        "session_id": state.session_id,
        "turn_id": started.turn_id if started else None,
        "parent_turn_id": state.parent_turn_id,
        "status": done.status,
        "answer_state": done.answer_state,
        "error": error.code if error else None,
        "action": state.action,
        "language": state.question_language,
        "model": state.model or extractive_answer.MODEL,
        "tokens": done.usage,
        "ms": done.ms,
        "nodes": {entry.key: entry.ms for entry in state.trace if entry.status != "skipped"},
        "failed_nodes": [entry.key for entry in state.trace if entry.status == "error"],
        "hits": {
            **{kind: len(ids) for kind, ids in found.items()},
            "fused": len(state.fused),
            "kept": len(state.hits),
            "given": len(state.evidence),
        },
        "citations": len(state.citations),
        "cited": len(state.cited),
        "unsupported": sum(check.get("status") != "supported" for check in state.checks),
    }
    if settings.LOG_TEXTS:
        line |= {"question": state.question, "query": state.retrieval_query, "answer": plain_text(state.answer.blocks)}
    return line
