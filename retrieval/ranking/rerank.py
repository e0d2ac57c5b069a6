"""Reranking: a model scores the first hits together with the query.

It never fails a search: if no reranker answers completely and in time, the order is kept and a note says why.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.llm.errors import BadReply, LLMError, TimedOut, Unreachable
from ragsite.llm.passage_tokens import count_tokens, truncate_to_tokens
from ragsite.llm.reranking.rerank import Reranker, Scores
from ragsite.runtime import caches
from retrieval.ranking.rerank_options import FUSED, RerankOptions
from retrieval.types import Hit

__all__ = ["FEWEST", "RerankOptions", "Reranked", "rerank"]

# With fewer hits, reranking isn't worth a model's time: all of them are used anyway.
FEWEST = 4
# Seconds for which an unresponsive reranker isn't called again, so that not every question waits for it.
REST = 30.0
# Special tokens around a query and a passage.
_FRAME = 4

_METHODS: dict[str, Any] = {
    "endpoint": gettext_lazy("the rerank endpoint"),
    "local": gettext_lazy("the local reranker"),
    "llm": gettext_lazy("the language model"),
}
_REASONS: dict[str, Any] = {
    "not_configured": gettext_lazy("is not set up"),
    "unreachable": gettext_lazy("can't be reached"),
    "timed_out": gettext_lazy("took too long"),
    "rate_limited": gettext_lazy("is busy"),
    "unauthorized": gettext_lazy("rejected the API key"),
    "model_not_found": gettext_lazy("has no such model"),
    "local_model_not_found": gettext_lazy("can't be loaded"),
    "bad_reply": gettext_lazy("sent an unreadable reply"),
    "context_too_long": gettext_lazy("rejected the passages as too long"),
}

logger = logging.getLogger(__name__)
# When each method may be called again, by `time.monotonic()`.
_resting: dict[str, float] = {}
caches.register(_resting.clear)


@dataclass(frozen=True, slots=True)
class Reranked:
    """The hits in their new order, with `rerank_score` if they were scored; the scores by chunk; and a note for users.

    Without `scores` nothing was reranked, and the hits are unchanged. Reading returns this too.
    """

    hits: list[Hit]
    scores: dict[int, float] = field(default_factory=dict)
    ms: float = 0.0
    note: str = ""


async def rerank(query: str, hits: Sequence[Hit], options: RerankOptions) -> Reranked:
    """Return the best hits, best first: scored at or above the threshold, at most `top_k`.

    Hits without a score follow those with one. If none reaches the threshold, none is returned, and a note says so;
    with `keep_best` the best are returned anyway, since a threshold that fits one model may be too high for another.
    """
    if not options.weights or len(hits) < FEWEST or not query.strip():
        return Reranked(list(hits))
    began = time.perf_counter()
    judged = list(hits[: options.input_top_n])
    weights = options.weights
    methods = [name for name in weights if name != FUSED]
    asked, texts = await asyncio.to_thread(_fitted, query, judged)
    outcomes = await asyncio.gather(*(_ask(name, asked, texts, options.timeout) for name in methods))
    failures = [outcome for outcome in outcomes if isinstance(outcome, str)]
    lists = [
        (weights[name], outcome)
        for name, outcome in zip(methods, outcomes, strict=True)
        if not isinstance(outcome, str)
    ]
    ms = round((time.perf_counter() - began) * 1000, 2)
    if not lists:
        return Reranked(list(hits), {}, ms, " ".join([*failures, _("The original order was kept.")]))
    if FUSED in weights:
        best = max(hit.score for hit in judged) or 1.0
        lists.append((weights[FUSED], [hit.score / best for hit in judged]))
    scores: list[float | None] = []
    for place in range(len(judged)):  # the weighted mean of the available scores
        given = [(weight, score) for weight, each in lists if (score := each[place]) is not None]
        total = sum(weight for weight, _score in given)
        scores.append(sum(weight * score for weight, score in given) / total if total else None)
    # Best first; ties, and hits without a score, keep their order.
    scored = [replace(hit, rerank_score=score) for hit, score in zip(judged, scores, strict=True)]
    ordered = sorted(scored, key=lambda hit: float("inf") if hit.rerank_score is None else -hit.rerank_score)
    kept = [hit for hit in ordered if hit.rerank_score is None or hit.rerank_score >= options.threshold]
    if not kept:
        words = _("No passage reached the threshold of %(threshold)g.")
        if options.keep_best:
            kept, words = ordered, _("No passage reached the threshold of %(threshold)g; the best ones are kept.")
        failures.append(words % {"threshold": options.threshold})
    if len(kept) == len(hits[: options.input_top_n]):
        kept += hits[options.input_top_n :]
    named = {hit.chunk_id: score for hit, score in zip(judged, scores, strict=True) if score is not None}
    return Reranked(kept[: options.top_k], named, ms, " ".join(failures))


async def _ask(method: str, query: str, texts: Sequence[str], seconds: float) -> Scores | str:
    """Return a method's scores, or a message on why there are none."""
    if time.monotonic() < _resting.get(method, 0.0):
        return _("Reranking paused: %(reranker)s did not answer a moment ago.") % {"reranker": _METHODS[method]}
    make: Callable[[], Awaitable[Reranker]] = import_string(settings.RERANKERS[method])
    try:
        async with asyncio.timeout(seconds):
            reranker = await make()
            try:
                scores = await reranker.score(query, texts)
            finally:
                await reranker.aclose()
        if len(scores) != len(texts):
            raise BadReply(f"{len(scores)} scores for {len(texts)} passages.")
        return scores
    except (LLMError, DatabaseFailure, TimeoutError) as caught:
        error = TimedOut() if isinstance(caught, TimeoutError) else caught
        logger.warning("Reranking by %s failed: %s %s", method, type(error).__name__, getattr(error, "details", ""))
        if isinstance(error, TimedOut | Unreachable):
            _resting[method] = time.monotonic() + REST
        why = str(_REASONS.get(getattr(error, "code", ""), _("failed")))
        return _("Reranking failed: %(reranker)s %(why)s.") % {"reranker": _METHODS[method], "why": why}


def _fitted(query: str, hits: Sequence[Hit]) -> tuple[str, list[str]]:
    """Return the query and the passages with their headings, each pair cut to the tokens that a reranker reads."""
    room = settings.RERANK_MAX_TOKENS
    query = truncate_to_tokens(query, room // 2)
    limit = room - count_tokens(query) - _FRAME
    texts = ("\n".join(filter(None, (hit.heading, hit.content))) for hit in hits)
    return query, [truncate_to_tokens(text, limit) for text in texts]
