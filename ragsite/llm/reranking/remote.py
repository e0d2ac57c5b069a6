"""A client for rerank endpoints, based on httpx, in the three formats that servers use.

| style | path | request | reply |
|---|---|---|---|
| jina | `/v1/rerank` | `model, query, documents, top_n, return_documents` | `results: [{index, relevance_score}]` |
| cohere | `/v2/rerank`, `/v1/rerank` | `model, query, documents, top_n` | `results: [{index, relevance_score}]` |
| tei | `/rerank` | `query, texts, raw_scores, truncate` | `[{index, score}]` |

Jina's format is also used by vLLM, llama.cpp, Xinference, Infinity, SiliconFlow and LiteLLM; TEI is Hugging Face's Text
Embeddings Inference.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any, Literal, cast, get_args
from urllib.parse import urlsplit

import httpx

from ragsite.llm import http
from ragsite.llm.connection import Connection
from ragsite.llm.errors import (
    BadReply,
    BadRequest,
    Busy,
    ContextTooLong,
    LLMError,
    ModelNotFound,
    TimedOut,
)
from ragsite.llm.reranking.rerank import Scores, to_unit
from ragsite.llm.types import Endpoint
from ragsite.runtime import caches

Style = Literal["jina", "cohere", "tei"]
ATTEMPTS = 3
# Documents per request. TEI rejects more than 32 by default; Cohere advises against more than 1,000.
BATCH_TEXTS: dict[Style, int] = {"jina": 64, "cohere": 500, "tei": 32}
_MAX_BYTES = 4 * 1024 * 1024
# The style that was detected, by base URL.
_spoken: dict[str, Style] = {}
caches.register(_spoken.clear)


class RemoteReranker:
    """A client for one endpoint, with batches and back-off; indexes and scores are checked.

    `style` is one of `Style`, or `auto`: detected by trying, and remembered by base URL. `endpoint.total_timeout`
    bounds a whole call. `transport` replaces the network in tests; `pause` is the first back-off in seconds.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        style: str = "auto",
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        pause: float = 0.5,
    ) -> None:
        self.endpoint = endpoint
        self._style = style
        self._pause = pause
        self._connection = Connection(endpoint, transport)

    async def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return each text's score from 0 to 1, in the order of the texts. Raises `LLMError`."""
        if not texts:
            return []
        deadline = asyncio.get_running_loop().time() + self.endpoint.total_timeout
        # Some servers reject an empty text; a space answers nothing either.
        asked = [text or " " for text in texts]
        refusal: LLMError | None = None
        for style in self._styles():
            size = BATCH_TEXTS[style]
            scores: list[float] = []
            try:
                for start in range(0, len(asked), size):
                    scores += await self._batch(style, query, asked[start : start + size], deadline)
            except (ModelNotFound, BadRequest, BadReply) as error:
                _spoken.pop(self.endpoint.base_url, None)
                refusal = refusal or error
                continue
            _spoken[self.endpoint.base_url] = style
            return list(to_unit(scores))
        assert refusal is not None
        raise refusal

    async def aclose(self) -> None:
        """Release the connection, which the event loop keeps for later requests."""
        await self._connection.aclose()

    def _styles(self) -> tuple[Style, ...]:
        """Return the style, or those to try in turn."""
        if self._style in get_args(Style):
            return (cast(Style, self._style),)
        if self.endpoint.base_url in _spoken:
            return (_spoken[self.endpoint.base_url],)
        parts = urlsplit(self.endpoint.base_url)
        if "cohere" in (parts.hostname or "") or "v2" in parts.path.split("/"):
            return ("cohere",)
        return ("jina", "tei")

    async def _batch(self, style: Style, query: str, texts: list[str], deadline: float) -> list[float]:
        """Return the scores of a batch, splitting it in halves if it is too large for the server."""
        try:
            body: dict[str, Any] = {
                "model": self.endpoint.model,
                "query": query,
                "documents": texts,
                "top_n": len(texts),
            }
            if style == "jina":
                body["return_documents"] = False  # Cohere's second version has no such field and sends none back
            elif style == "tei":
                body = {"query": query, "texts": texts, "raw_scores": False, "truncate": True}
            return await self._persist(style, body, deadline)
        except ContextTooLong:
            if len(texts) == 1:
                raise
        half = len(texts) // 2
        first = await self._batch(style, query, texts[:half], deadline)
        return first + await self._batch(style, query, texts[half:], deadline)

    async def _persist(self, style: Style, body: dict[str, Any], deadline: float) -> list[float]:
        for attempt in range(1, ATTEMPTS):
            try:
                return await self._once(style, body, deadline)
            except LLMError as error:
                # After waiting for a time-out or for a free place, another attempt would take too long.
                if not error.retryable or isinstance(error, TimedOut | Busy):
                    raise
                wait = self._pause * 2 ** (attempt - 1)
                if error.retry_after is not None:
                    wait = error.retry_after
                if asyncio.get_running_loop().time() + wait >= deadline:
                    raise
            await asyncio.sleep(wait)
        return await self._once(style, body, deadline)

    async def _once(self, style: Style, body: dict[str, Any], deadline: float) -> list[float]:
        where = http.host(self.endpoint)
        async with self._connection.send("POST", address(self.endpoint, style), deadline, body) as incoming:
            if not incoming.ok:
                raise await incoming.refusal()
            reply = await incoming.read(_MAX_BYTES)
        try:
            found = json.loads(reply)
        except (ValueError, RecursionError) as error:
            raise BadReply("The reply isn't JSON.", where=where) from error
        if isinstance(found, dict) and found.get("error"):
            raise http.from_object(found["error"], self.endpoint)
        try:
            return _scores(found, len(body["texts" if style == "tei" else "documents"]))
        except BadReply as error:
            error.where = where
            raise


def address(endpoint: Endpoint, style: Style) -> str:
    """Return the URL of the rerank endpoint for a style.

    A base URL that ends in `/rerank` is used as is. One without a path gets the style's version: `/v1` for Jina, `/v2`
    for Cohere.
    """
    base = endpoint.base_url.rstrip("/")
    if base.endswith("/rerank"):
        return base
    version = {"jina": "/v1", "cohere": "/v2", "tei": ""}[style]
    return f"{base}/rerank" if urlsplit(base).path else f"{base}{version}/rerank"


def _scores(reply: Any, count: int) -> list[float]:
    """Return the scores of `count` texts by their indexes. Raises `BadReply` if one is missing or duplicated."""
    rows = reply.get("results", reply.get("data")) if isinstance(reply, dict) else reply
    if not isinstance(rows, list):
        raise BadReply("The reply contains no list of results.")
    found: dict[int, float] = {}
    for row in rows:
        try:
            index, score = row["index"], row["relevance_score"] if "relevance_score" in row else row["score"]
        except (KeyError, TypeError) as error:
            raise BadReply("A result lacks its index or its score.") from error
        # In Python, a bool is an int, and a JSON number may be out of the range of floats.
        if type(index) is not int or type(score) not in (int, float) or not abs(score) <= sys.float_info.max:
            raise BadReply(f"A result has the index {str(index)[:20]} and the score {str(score)[:20]}.")
        if not 0 <= index < count:
            raise BadReply(f"The reply scores passage {index} of {count}.")
        if index in found:
            raise BadReply(f"The reply scores passage {index} twice.")
        found[index] = float(score)
    missing = sorted(set(range(count)) - set(found))
    if missing:
        raise BadReply(f"The reply scores {len(found)} of {count} passages; passage {missing[0]} is missing.")
    return [found[index] for index in range(count)]
