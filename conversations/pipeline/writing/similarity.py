"""Nearness in meaning for the conversation itself: of sentences to a question, and of turns to each other."""

from collections.abc import Callable

import numpy as np

from ragsite.language.detection import language_of
from retrieval.engine import spaces

# Takes texts, returns their similarities to the question, as a search does. Blocks; computes embeddings.
Similarity = Callable[[list[str]], list[float]]


async def similarity_to(question: str) -> Similarity | None:
    """Return how near texts are to a question, or None when the active model does not know its language."""
    space = await spaces.space_for_search()
    if not space.knows(language_of(question)):
        return None

    def similarity(texts: list[str]) -> list[float]:
        if not texts:
            return []
        embedder, asked_in = spaces.embedder_of(space), language_of(question)
        wanted = spaces.embed_query(space, question)
        cosines: list[float] = (embedder.embed_documents(texts) @ wanted).astype(np.float64).tolist()
        of = embedder.calibration.similarity
        return [of(cosine, asked_in, language_of(text)) for cosine, text in zip(cosines, texts, strict=True)]

    return similarity
