"""Embeddings from an OpenAI-compatible endpoint."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from ragsite.llm import http
from ragsite.llm.errors import BadReply, LLMError, RateLimited
from ragsite.llm.local_embedding import normalise
from ragsite.llm.tokens import truncate_to_tokens
from ragsite.llm.types import Endpoint

BATCH_TEXTS = 64
# Nearly every provider takes 8,191 tokens per text; longer ones are refused with the whole batch.
MAX_TOKENS = 6000
ATTEMPTS = 4


class OpenAIEmbedder:
    """`/v1/embeddings` in batches, retried with back-off; order and dimension of the reply are checked.

    Without `dimension`, the first use asks the endpoint. Raises `LLMError`.
    """

    provider = "openai"

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        dimension: int | None = None,
        languages: Sequence[str] = (),
        transport: httpx.BaseTransport | None = None,
        pause: float = 0.5,
    ) -> None:
        self.model = endpoint.model
        self.languages = list(languages)
        self._endpoint = endpoint
        self._dimension = dimension
        self._pause = pause
        self._lock = threading.Lock()
        self._client = httpx.Client(
            headers=http.headers(endpoint),
            timeout=http.timeout(endpoint),
            transport=transport,
            trust_env=http.trusts_environment(endpoint),
        )

    @property
    def dimension(self) -> int:
        """Numbers per vector; asks the endpoint once when it wasn't given."""
        with self._lock:
            if self._dimension is None:
                self._dimension = self._ask(["dimension"]).shape[1]
            return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimension) unit vectors in the order of the texts. Blocks; safe from any thread."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            # An empty text is refused by some; a space has no meaning either.
            batch = [truncate_to_tokens(text, MAX_TOKENS) or " " for text in texts[start : start + BATCH_TEXTS]]
            part = self._ask(batch)
            if part.shape[1] != self.dimension:
                raise BadReply(f"{part.shape[1]} numbers per vector instead of {self.dimension}.")
            vectors[start : start + len(batch)] = part
        return normalise(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (dimension,): the query's unit vector."""
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: list[str]) -> NDArray[np.float32]:
        for attempt in range(1, ATTEMPTS):
            try:
                return self._post(texts)
            except LLMError as error:
                if not error.retryable:
                    raise
                asked = error.retry_after if isinstance(error, RateLimited) else None
                time.sleep(self._pause * 2**attempt if asked is None else asked)
        return self._post(texts)

    def _post(self, texts: list[str]) -> NDArray[np.float32]:
        try:
            response = self._client.post(
                http.url(self._endpoint, "/embeddings"),
                json={"model": self.model, "input": texts, "encoding_format": "float"},
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise http.from_transport(error, self._endpoint, started=False) from error
        if not response.is_success:
            raise http.from_status(response, response.content, self._endpoint)
        return _vectors(response, len(texts))


def _vectors(response: httpx.Response, count: int) -> NDArray[np.float32]:
    """Return (count, dimension) in the order of the `index` fields, which need not be the order of the list."""
    try:
        rows: list[Any] = response.json()["data"]
        ordered = sorted(enumerate(rows), key=lambda pair: pair[1].get("index", pair[0]))
        indexes = [row.get("index", position) for position, row in ordered]
        vectors = np.array([row["embedding"] for _, row in ordered], dtype=np.float32)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadReply("The reply holds no vectors.") from error
    if indexes != list(range(count)) or vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
        raise BadReply(f"{len(rows)} vectors for {count} texts, or vectors of unequal length.")
    return vectors
