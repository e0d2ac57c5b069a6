"""Asynchronous search of the index, by words and by meaning, each within `SEARCH_TIMEOUT`."""

from collections.abc import Callable, Sequence
from typing import ParamSpec

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray

from knowledge.labels import LabelFilter
from knowledge.queries import languages_of
from ragsite.db import in_database
from ragsite.language.detection import language_of
from retrieval.engine import fulltext, spaces, vectors
from retrieval.models import EmbeddingSpace

P = ParamSpec("P")
Hits = list[tuple[int, float]]


async def search_fulltext(
    text: str,
    knowledge_base_ids: Sequence[int],
    k: int,
    document_ids: Sequence[int] = (),
    labels: LabelFilter | None = None,
) -> Hits:
    """Return the k best (chunk id, BM25 score), best first; with `document_ids`, only from these documents.

    With `labels`, only from documents with these tags and fields.
    """
    return await in_database(_in_time, fulltext.search, text, knowledge_base_ids, k, document_ids, labels)


async def search_vectors(
    text: str,
    knowledge_base_ids: Sequence[int],
    k: int,
    document_ids: Sequence[int] = (),
    labels: LabelFilter | None = None,
) -> Hits:
    """Return the k most similar (chunk id, similarity), best first; `document_ids` and `labels` as above.

    A similarity means the same whatever the languages of question and passage: see `Calibration`. No connection is held
    while the model works. If the space is replaced meanwhile, the new one is searched.
    """
    language = language_of(text)
    while True:
        space = await spaces.space_for_search()
        vector = await spaces.with_model(spaces.embed_query, space, text)
        try:
            return await in_database(
                _in_time, _most_similar, space, vector, language, knowledge_base_ids, k, document_ids, labels
            )
        except vectors.SpaceChanged:
            if spaces.is_on_trial():
                raise
        spaces.forget_active_space()


def _most_similar(
    space: EmbeddingSpace,
    vector: NDArray[np.float32],
    asked_in: str,
    knowledge_base_ids: Sequence[int],
    k: int,
    document_ids: Sequence[int],
    labels: LabelFilter | None,
) -> Hits:
    """Search passages of each language by themselves, so that those of one don't crowd out those of another.

    A model gives passages in the question's own language higher cosines, whatever they say. Those in a language that it
    doesn't know are left to the words.
    """
    similarity = spaces.embedder_of(space).calibration.similarity
    others = sorted(languages_of(knowledge_base_ids, document_ids, labels).keys() - {asked_in})
    # Passages without a language, such as lists of numbers, are searched with those in the question's.
    groups = [(asked_in, ""), *((language,) for language in others if space.knows(language))]
    hits: Hits = []
    for languages in groups if others else [()]:
        found = vectors.search(space, vector, knowledge_base_ids, k, document_ids, labels, languages)
        hits += [(chunk_id, similarity(cosine, asked_in, spoken or asked_in)) for chunk_id, cosine, spoken in found]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]


def _in_time(search: Callable[P, Hits], *args: P.args, **kwargs: P.kwargs) -> Hits:
    """Search with a statement timeout, and without JIT compilation, which takes longer than a search."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {int(settings.SEARCH_TIMEOUT * 1000)}; SET LOCAL jit = off")
        return search(*args, **kwargs)
