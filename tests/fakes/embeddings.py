"""The fake provider's `/v1/embeddings`: vectors that depend only on model and words, in good or bad responses."""

import time
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes import answers

Manner = Literal["backwards", "same index", "one less", "another dimension", "unequal", "no numbers", "garbage"]


@dataclass
class Embeddings:
    """How embeddings are answered.

    `backwards`, the default, is valid: the index fields give the order. `texts` are those requested; `delay` is the
    number of seconds before each response.
    """

    dimension: int = 32
    manner: Manner = "backwards"
    texts: list[str] = field(default_factory=list)
    delay: float = 0.0

    def reply(self, body: dict[str, Any]) -> dict[str, Any] | bytes:
        """Return the answer to a request; bytes are sent as they are."""
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        self.texts += texts
        if self.delay:
            time.sleep(self.delay)
        if self.manner == "garbage":
            return b"<html>It works!</html>"
        dimension = body.get("dimensions", self.dimension) + (self.manner == "another dimension")
        rows: list[dict[str, Any]] = [
            {"index": index, "embedding": vector(body["model"], text, dimension)} for index, text in enumerate(texts)
        ]
        if self.manner == "same index":
            rows = [row | {"index": 0} for row in rows]
        elif self.manner == "one less":
            rows = rows[1:]
        elif self.manner == "unequal":
            rows[0]["embedding"] = rows[0]["embedding"][1:]
        elif self.manner == "no numbers":
            rows[-1]["embedding"] = [None] * dimension
        return {"object": "list", "model": body["model"], "data": rows[::-1]}


def vector(model: str, text: str, dimension: int = 32) -> list[float]:
    """Return a model's unit vector for a text's words; vectors of two models are unrelated."""
    return answers.vector(" ".join(f"{model}:{word}" for word in text.lower().split()), dimension)
