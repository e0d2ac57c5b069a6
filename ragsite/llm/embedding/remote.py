"""Embeddings from an OpenAI-compatible endpoint."""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray

from ragsite.llm import errors, http
from ragsite.llm.embedding.local import normalise
from ragsite.llm.embedding.model_card import Calibration
from ragsite.llm.errors import BadReply, BadRequest, LLMError
from ragsite.llm.passage_tokens import truncate_to_tokens
from ragsite.llm.types import Endpoint

# Limits of one request. Providers reject more than about 300,000 tokens.
BATCH_TEXTS = 64
BATCH_CHARACTERS = 200_000
# Nearly every provider accepts 8,191 tokens per text; a longer text would fail the whole batch.
MAX_TOKENS = 6000
ATTEMPTS = 4
# Seconds after which requests aren't retried: users wait for queries, workers for documents.
QUERY_PATIENCE, DOCUMENT_PATIENCE = 3.0, 180.0
LONGEST_WAIT = 60.0

_TEXTS: dict[type[LLMError], str | Promise] = {
    errors.Unreachable: _("The embedding endpoint can't be reached."),
    errors.AddressRefused: _("The embedding endpoint's address is not allowed."),
    errors.TimedOut: _("The embedding endpoint took too long."),
    errors.RateLimited: _("The embedding endpoint is busy: too many requests."),
    errors.Unauthorized: _("The embedding endpoint rejected the API key."),
    errors.ModelNotFound: _("The embedding endpoint has no such model."),
    errors.BadRequest: _("The embedding endpoint rejected the request."),
    errors.ContextTooLong: _("A text is too long for the embedding model."),
    errors.ProviderError: _("The embedding endpoint failed."),
    errors.BadReply: _("The embedding endpoint didn't return the requested vectors."),
}


class OpenAIEmbedder:
    """A client for `/v1/embeddings`, with batches and back-off; the order and dimension of replies are checked.

    A `dimension` is requested from servers that can shorten vectors, and checked; by default, it is determined on first
    use. Raises `LLMError`.
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
        self.calibration = Calibration()  # unknown for models behind endpoints
        self._endpoint = endpoint
        self._dimension = dimension
        self._asks_for_dimension = dimension is not None
        self._pause = pause
        self._lock = threading.Lock()
        self._client = http.blocking_client(endpoint, transport)

    @property
    def dimension(self) -> int:
        """The number of dimensions; determined by one request if it wasn't given."""
        with self._lock:
            if self._dimension is None:
                self._dimension = self._ask(["dimension"], QUERY_PATIENCE).shape[1]
            return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimension) unit vectors in the order of the texts. Blocking and thread-safe."""
        return self._embed(texts, DOCUMENT_PATIENCE)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (dimension,): the query's unit vector. Gives up after a few seconds."""
        vector: NDArray[np.float32] = self._embed([text], QUERY_PATIENCE)[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _embed(self, texts: Sequence[str], patience: float) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        start = 0
        for batch in _batches(texts):
            part = self._ask(batch, patience)
            if part.shape[1] != self.dimension:
                raise self._described(BadReply(f"{part.shape[1]} numbers per vector instead of {self.dimension}."))
            vectors[start : start + len(batch)] = part
            start += len(batch)
        return normalise(vectors)

    def _ask(self, texts: list[str], patience: float) -> NDArray[np.float32]:
        """Do the same as `_post`, retrying with back-off for up to `patience` seconds."""
        for attempt in range(1, ATTEMPTS):
            began = time.monotonic()
            try:
                return self._post(texts)
            except LLMError as error:
                asked = error.retry_after
                wait = self._pause * 2**attempt if asked is None else min(asked, LONGEST_WAIT)
                patience -= time.monotonic() - began + wait
                if not error.retryable or patience < 0:
                    raise
                time.sleep(wait)
        return self._post(texts)

    def _post(self, texts: list[str]) -> NDArray[np.float32]:
        """Send one request. If the server can't choose the dimension, requests omit it from then on."""
        body: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self._asks_for_dimension:
            try:
                return self._send(body | {"dimensions": self._dimension})
            except BadRequest:
                vectors = self._send(body)
                self._asks_for_dimension = False
                return vectors
        return self._send(body)

    def _send(self, body: dict[str, Any]) -> NDArray[np.float32]:
        try:
            response = self._client.post(http.url(self._endpoint, "/embeddings"), json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._described(http.from_transport(error, self._endpoint, started=False)) from error
        except LLMError as error:
            raise self._described(error) from error
        if not response.is_success:
            raise self._described(http.from_status(response, response.content, self._endpoint))
        try:
            rows: list[Any] = response.json()["data"]
            # The order is given by the `index` fields, which may differ from that of the list.
            ordered = sorted(enumerate(rows), key=lambda pair: pair[1].get("index", pair[0]))
            indexes = [row.get("index", position) for position, row in ordered]
            vectors = np.array([row["embedding"] for _position, row in ordered], dtype=np.float32)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._described(BadReply("The reply contains no vectors.")) from error
        count = len(body["input"])
        if indexes != list(range(count)) or vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
            raise self._described(BadReply(f"{len(rows)} vectors for {count} texts, or vectors of unequal length."))
        return vectors

    def _described(self, error: LLMError) -> LLMError:
        """Return the error with messages about embeddings and the server's name."""
        if type(error) in _TEXTS:
            error.text = _TEXTS[type(error)]
            error.advice = _("Try again in a moment.") if error.retryable else LLMError.advice
        error.place = _("See “Embedding models” in the administration.")
        if isinstance(error, errors.AddressRefused) and error.is_inside:
            error.hint = _(
                "This address is on this machine or in its local network. If the server is yours, add the model "
                "again under “Embedding models” with “Our own server” ticked; if the model comes from a model profile "
                "for embedding, tick “Our own server” there."
            )
        elif isinstance(error, errors.Unauthorized):
            error.hint = _("Check the key, in the environment or under “Embedding models”, and the account's credit.")
        error.where = error.where or http.host(self._endpoint)
        return error


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in batches, truncated to the limits of models and providers."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        # Some servers reject an empty text; a space has no meaning either.
        cut = truncate_to_tokens(text, MAX_TOKENS) or " "
        if batch and (len(batch) == BATCH_TEXTS or characters + len(cut) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(cut)
        characters += len(cut)
    if batch:
        yield batch
