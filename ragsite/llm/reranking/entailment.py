"""Cross-encoders for entailment (NLI) in this process: whether a premise supports a hypothesis."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragsite.llm.errors import LocalModelNotFound
from ragsite.llm.reranking.local import LocalReranker

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of a premise to a hypothesis: probabilities from 0 to 1; the rest is neutral."""

    entails: float
    contradicts: float


class LocalEntailment(LocalReranker):
    """A cross-encoder with three labels, by name or from a folder, loaded as rerankers are.

    The order of the labels entailment, neutral and contradiction is that of `id2label` in its `config.json`.
    """

    kind = "model"
    labels = 3

    async def relations(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        """Return the relation of each premise to its hypothesis. Raises `LLMError`."""
        logits = await self._outputs(list(pairs))
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = (odds / odds.sum(axis=1, keepdims=True)).tolist()
        return [Relation(share[self._order["entailment"]], share[self._order["contradiction"]]) for share in shares]

    def _load(self) -> "TextCrossEncoder":
        loaded = super()._load()
        self._order = _order(Path(loaded.model._model_dir), self.model)  # type: ignore[attr-defined]
        return loaded

    def _ask(self, model: Any, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        inputs = model.model._build_onnx_input(model.model.tokenize(pairs))
        return np.asarray(model.model.model.run(None, inputs)[0], np.float64)


@cache
def local_entailment(model: str) -> LocalEntailment:
    """Return the process's instance of a model, which is loaded with the first pair."""
    return LocalEntailment(model)


def _order(folder: Path, model: str) -> dict[str, int]:
    """Return the position of each label; raises `LocalModelNotFound` if the model's configuration lacks it."""
    try:
        labels = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label", {})
        order = {str(label).lower(): int(place) for place, label in labels.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise LocalModelNotFound(f"{model}: its config.json can't be read: {error}") from error
    if not {"entailment", "contradiction"} <= order.keys():
        found = ", ".join(order) or "none"
        raise LocalModelNotFound(f"{model}: its labels must include entailment and contradiction, but are: {found}.")
    return order
