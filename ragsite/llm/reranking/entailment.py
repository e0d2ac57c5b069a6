"""Cross-encoders for entailment (NLI) that run in this process: whether a premise supports a hypothesis."""

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ragsite.llm.embedding.local import batches, failures
from ragsite.llm.errors import BadReply, LocalModelNotFound
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.reranking.local import LocalReranker


@dataclass(frozen=True, slots=True)
class Relation:
    """How a premise stands to a hypothesis: probabilities from 0 to 1; what is left is neither."""

    entails: float
    contradicts: float


class LocalEntailment(LocalReranker):
    """A cross-encoder with three labels, by name or from a folder, loaded as rerankers are.

    Which label is which stands in its `config.json`, as `id2label` with the words entailment, neutral, contradiction.
    """

    labels = 3

    async def relations(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        """Return the relation of each premise to its hypothesis. Raises `LLMError`."""
        stop = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._relations, list(pairs), stop)
        finally:
            stop.set()

    def _relations(self, pairs: list[tuple[str, str]], stop: threading.Event) -> list[Relation]:
        inner: Any = self._load().model
        order = _order(Path(inner._model_dir), self.model)
        found: dict[int, Relation] = {}
        for batch in batches([count_tokens(premise) + count_tokens(hypothesis) for premise, hypothesis in pairs]):
            if stop.is_set():
                break
            try:
                inputs = inner._build_onnx_input(inner.tokenize([pairs[index] for index in batch]))
                logits = np.asarray(inner.model.run(None, inputs)[0], np.float64)
            except failures() as error:
                raise BadReply(f"The model {self.model!r} can't be run: {error}") from error
            if not np.isfinite(logits).all():
                raise BadReply(f"The model {self.model!r} gives scores that are no numbers.")
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
            shares = odds / odds.sum(axis=1, keepdims=True)
            for index, share in zip(batch, shares.tolist(), strict=True):
                found[index] = Relation(share[order["entailment"]], share[order["contradiction"]])
        return [found.get(index, Relation(0.0, 0.0)) for index in range(len(pairs))]


@cache
def local_entailment(model: str) -> LocalEntailment:
    """Return the process's one model of a name. Loading waits for the first pair."""
    return LocalEntailment(model)


def _order(folder: Path, model: str) -> dict[str, int]:
    """Return the place of each label; raises `LocalModelNotFound` where the model's configuration doesn't tell."""
    try:
        told = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label", {})
        order = {str(label).lower(): int(place) for place, label in told.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise LocalModelNotFound(f"{model}: its config.json can't be read: {error}") from error
    if not {"entailment", "contradiction"} <= order.keys():
        labels = ", ".join(order) or "none"
        raise LocalModelNotFound(f"{model}: its labels are {labels}; entailment and contradiction are wanted.")
    return order
