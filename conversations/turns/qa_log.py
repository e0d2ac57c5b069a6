"""One structured line per turn in the log `ragsite.qa`, with its steps, times and token usage.

It contains no text of questions, answers or documents unless `RAGSITE_LOG_TEXTS` is true.
"""

import logging
from typing import Any

from django.conf import settings

from conversations.events import DoneEvent, ErrorEvent, plain_text
from conversations.pipeline.state import State
from conversations.pipeline.writing import extractive_answer

logger = logging.getLogger("ragsite.qa")


def write(state: State, done: DoneEvent, error: ErrorEvent | None) -> None:
    """Log a turn that has ended."""
    logger.info("turn", extra={"fields": fields(state, done, error)})


def fields(state: State, done: DoneEvent, error: ErrorEvent | None) -> dict[str, Any]:
    """Return the line's fields; times are in milliseconds, and `nodes` has only those that ran."""
    started = state.started
    # The ids of the passages that each retriever found.
    found: dict[str, set[int]] = {}
    for ranking in state.found.rankings:
        found.setdefault(ranking.type, set()).update(chunk_id for chunk_id, _score in ranking.hits)
    line: dict[str, Any] = {
        "request_id": str(state.request.request_id),
        "user_id": state.request.user_id,
        "session_id": state.request.session_id,
        "turn_id": started.turn_id if started else None,
        "parent_turn_id": state.parent_turn_id,
        "status": done.status,
        "answer_state": done.answer_state,
        "error": error.code if error else None,
        "action": state.plan.action,
        "language": state.request.question_language,
        "assistant": state.request.assistant or None,
        "model": state.prompt.model or extractive_answer.MODEL,
        "tokens": done.usage,
        "ms": done.ms,
        "nodes": {entry.key: entry.ms for entry in state.trace if entry.status != "skipped"},
        "failed_nodes": [entry.key for entry in state.trace if entry.status == "error"],
        "hits": {
            **{kind: len(ids) for kind, ids in found.items()},
            "fused": len(state.found.fused),
            "kept": len(state.found.hits),
            "given": len(state.prompt.evidence),
        },
        "citations": len(state.prompt.citations),
        "cited": len(state.prompt.cited),
        "unsupported": sum(check.get("status") not in ("supported", "uncited") for check in state.answer.checks),
        "uncited": sum(check.get("status") == "uncited" for check in state.answer.checks),
    }
    if settings.LOG_TEXTS:
        answer = plain_text(state.answer.blocks)
        line |= {"question": state.request.question, "query": state.plan.retrieval_query, "answer": answer}
    return line
