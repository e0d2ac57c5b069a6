"""Cross-encoders that run in this process (fastembed, ONNX Runtime), by name or from a folder."""

import asyncio
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from ragsite.llm.embedding.local import IN_FOLDER, batches, failures, folder_of, load
from ragsite.llm.errors import BadReply, LLMError, LocalModelNotFound, TimedOut
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.reranking.rerank import Scores, logistic

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

# Seconds until a model that could not be loaded is tried again: looking for the hub in vain takes half a minute.
_RETRY_AFTER = 60.0
# Seconds of loading after which nobody waits for it any more: a model is being fetched, and that takes minutes.
_PATIENCE = 5.0


class LocalReranker:
    """A cross-encoder: a name that fastembed knows, or a folder with an ONNX model and its tokenizer.

    A folder works offline; a name is fetched once into the data folder. The model is loaded at the first text, and
    works on a thread of its own, one query at a time. Its logits go through the logistic function, so that scores
    run from 0 to 1 as those of endpoints do. Raises `LocalModelNotFound` for what can't be found or loaded.
    """

    kind = "reranker"
    # How many numbers the model gives for a pair.
    labels = 1

    def __init__(self, model: str) -> None:
        self.model = model
        self._folder = folder_of(model)
        self._loaded: TextCrossEncoder | None = None
        self._failure: tuple[float, LLMError] | None = None
        self._loading_since: float | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reranker")

    async def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return each text's score from 0 to 1, in the order of the texts; when cancelled, the batch is the last."""
        return [logistic(logit) for logit in await self.logits(query, texts)]

    async def logits(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return what the model gives for each text, in the order of the texts; cancelled as `score`."""
        found: list[float] = (await self._outputs([(query, text) for text in texts]))[:, 0].tolist()
        return found

    async def aclose(self) -> None:
        """Keep the model: it serves the whole process."""

    async def _outputs(self, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (pairs, labels): what the model gives for each pair, whose first texts may have to be the same."""
        now = time.monotonic()
        if self._failure and now < self._failure[0]:
            raise self._failure[1]
        if self._loading_since is not None and now - self._loading_since > _PATIENCE:
            raise TimedOut(f"The {self.kind} {self.model!r} is still being loaded.")
        stop = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, pairs, stop)
        finally:
            stop.set()

    def _run(self, pairs: list[tuple[str, str]], stop: threading.Event) -> NDArray[np.float64]:
        model = self._load()
        found = np.zeros((len(pairs), self.labels))
        limit = settings.RERANK_MAX_TOKENS
        for batch in batches([min(limit, sum(map(count_tokens, pair))) for pair in pairs]):
            if stop.is_set():  # nobody waits for what is found
                break
            try:
                found[batch] = self._ask(model, [pairs[index] for index in batch])
            except failures() as error:
                raise BadReply(f"The {self.kind} {self.model!r} can't be run: {error}") from error
            if not np.isfinite(found[batch]).all():
                raise BadReply(f"The {self.kind} {self.model!r} gives scores that are no numbers.")
        return found

    def _ask(self, model: "TextCrossEncoder", pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        texts = [text for _query, text in pairs]
        scores = model.rerank(pairs[0][0], texts, batch_size=len(texts))
        return np.fromiter(scores, np.float64, len(texts)).reshape(-1, 1)

    def _load(self) -> "TextCrossEncoder":
        if self._loaded is None:
            self._loading_since = time.monotonic()
            try:
                self._loaded = _load(self.model, self._folder, self.labels)
            except LLMError as error:
                self._failure = (time.monotonic() + _RETRY_AFTER, error)
                raise
            finally:
                self._loading_since = None
        return self._loaded


@cache
def local_reranker(model: str) -> LocalReranker:
    """Return the process's one reranker for a model. Loading waits for the first text."""
    return LocalReranker(model)


def _load(model: str, folder: Path | None, labels: int) -> "TextCrossEncoder":
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    name = f"{IN_FOLDER}{folder}" if folder else model
    try:
        loaded = load(TextCrossEncoder, name, folder, settings.EMBEDDING_THREADS or None, settings.RERANK_MAX_TOKENS)
    except failures() as error:
        hint = (
            "" if folder else " Where the hub of models can't be reached, set RERANK_LOCAL_MODEL to a model's folder."
        )
        raise LocalModelNotFound(f"{model}: {error}{hint}") from error
    shape = loaded.model.model.get_outputs()[0].shape  # type: ignore[attr-defined]
    if len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != labels):
        wanted = "a reranker gives one score" if labels == 1 else f"one for entailment gives {labels}"
        raise LocalModelNotFound(f"The model {model!r} gives {shape} per pair; {wanted}.")
    return loaded
