"""Cross-encoders in this process (fastembed, ONNX Runtime), by name or from a folder."""

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

# Seconds until loading is retried after a failure: failing to reach the hub takes half a minute.
_RETRY_AFTER = 60.0
# Seconds of loading after which callers no longer wait: the model is being downloaded, which takes minutes.
_PATIENCE = 5.0


class LocalReranker:
    """A cross-encoder: a name that fastembed knows, or a folder with an ONNX model and its tokenizer.

    A folder works offline; a model given by name is downloaded once to the data folder. The model is loaded with the
    first text and runs on a thread of its own, one query at a time. Its logits are converted by the logistic function,
    so that scores are from 0 to 1 like those of endpoints. Raises `LocalModelNotFound` if it can't be found or loaded.
    """

    kind = "reranker"
    # The number of outputs per pair.
    labels = 1

    def __init__(self, model: str) -> None:
        self.model = model
        self._folder = folder_of(model)
        self._loaded: TextCrossEncoder | None = None
        self._failure: tuple[float, LLMError] | None = None
        self._loading_since: float | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reranker")

    async def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return each text's score from 0 to 1, in the order of the texts; cancelling it stops after the batch."""
        return [logistic(logit) for logit in await self.logits(query, texts)]

    async def logits(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the model's output for each text, in the order of the texts; it is cancelled like `score`."""
        found: list[float] = (await self._outputs([(query, text) for text in texts]))[:, 0].tolist()
        return found

    async def aclose(self) -> None:
        """Do nothing: the model is shared by the whole process."""

    async def _outputs(self, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (pairs, labels): the model's outputs for each pair; some models need the same first text in all."""
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
            if stop.is_set():  # nobody is waiting for the result any more
                break
            try:
                found[batch] = self._ask(model, [pairs[index] for index in batch])
            except failures() as error:
                raise BadReply(f"The {self.kind} {self.model!r} can't be run: {error}") from error
            if not np.isfinite(found[batch]).all():
                raise BadReply(f"The {self.kind} {self.model!r} returns scores that aren't finite numbers.")
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
    """Return the process's reranker for a model, which is loaded with the first text."""
    return LocalReranker(model)


def _load(model: str, folder: Path | None, labels: int) -> "TextCrossEncoder":
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    name = f"{IN_FOLDER}{folder}" if folder else model
    try:
        loaded = load(TextCrossEncoder, name, folder, settings.EMBEDDING_THREADS or None, settings.RERANK_MAX_TOKENS)
    except failures() as error:
        hint = "" if folder else " If the model hub can't be reached, set RERANK_LOCAL_MODEL to the folder of a model."
        raise LocalModelNotFound(f"{model}: {error}{hint}") from error
    shape = loaded.model.model.get_outputs()[0].shape  # type: ignore[attr-defined]
    if len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != labels):
        wanted = "a reranker has one score" if labels == 1 else f"an entailment model has {labels}"
        raise LocalModelNotFound(f"The output of the model {model!r} has the shape {shape}; {wanted} per pair.")
    return loaded
