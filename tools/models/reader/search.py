"""Rank passages for a question like the site's search: by words and by meaning."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tools.models.reader.authored import Passage
from tools.models.reader.texts import BM25, headed

# The constant of reciprocal rank fusion.
CONSTANT = 60
# Returns a unit vector for each text: [texts, width].
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


class Search:
    """Finds passages for a question by BM25 and vectors, combined by reciprocal rank fusion."""

    def __init__(self, passages: Sequence[Passage], embed: Embed) -> None:
        texts = [headed(passage.title, passage.text) for passage in passages]
        self._passages = passages
        self._bm25 = BM25(texts)
        self._vectors = embed([f"passage: {text}" for text in texts])
        asked = list(dict.fromkeys(question.text for passage in passages for question in passage.questions))
        self._asked = dict(zip(asked, embed([f"query: {text}" for text in asked]), strict=True)) if asked else {}

    def best(self, question: str, count: int) -> list[Passage]:
        """Return the best passages for one of the passages' questions, best first."""
        fused = np.zeros(len(self._passages))
        for scores in (self._bm25.scores(question), self._vectors @ self._asked[question]):
            order = np.argsort(-scores, kind="stable")
            fused[order] += 1 / (CONSTANT + 1 + np.arange(len(order)))
        return [self._passages[i] for i in np.argsort(-fused, kind="stable")[:count]]
