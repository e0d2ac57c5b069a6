"""Similarity in meaning within a conversation: of sentences or earlier turns to a question."""

from collections.abc import Callable

import numpy as np

from ragsite.language.detection import language_of
from retrieval.engine import spaces

# Returns the similarities of texts to the question, on the scale of a search. Computes embeddings, so it blocks.
Similarity = Callable[[list[str]], list[float]]


async def similarity_to(question: str) -> Similarity | None:
    """Return a function for the similarity of texts to a question, or None if the model doesn't know its language."""
    space = await spaces.space_for_search()
    if not space.knows(language_of(question)):
        return None

    def similarity(texts: list[str]) -> list[float]:
        if not texts:
            return []
        embedder, asked_in = spaces.embedder_of(space), language_of(question)
        wanted = spaces.embed_query(space, question)
        cosines: list[float] = (embedder.embed_documents(texts) @ wanted).astype(np.float64).tolist()
        calibrated = embedder.calibration.similarity
        return [calibrated(cosine, asked_in, language_of(text)) for cosine, text in zip(cosines, texts, strict=True)]

    return similarity
