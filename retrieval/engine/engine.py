"""Asynchronous search of the index, by words and by meaning, each within `SEARCH_TIMEOUT`."""

from collections.abc import Callable, Sequence
from typing import ParamSpec

from django.conf import settings
from django.db import connection, transaction

from knowledge.labels import LabelFilter
from ragsite.db import in_database
from retrieval.engine import fulltext, spaces, vectors

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
    """Return the k nearest (chunk id, cosine similarity), nearest first; `document_ids` and `labels` as above.

    No connection is held while the model works. If the space is replaced meanwhile, the new one is searched.
    """
    while True:
        space = await spaces.space_for_search()
        vector = await spaces.with_model(spaces.embed_query, space, text)
        try:
            return await in_database(
                _in_time, vectors.search, space, vector, knowledge_base_ids, k, document_ids, labels
            )
        except vectors.SpaceChanged:
            if spaces.is_on_trial():
                raise
        spaces.forget_active_space()


def _in_time(search: Callable[P, Hits], *args: P.args, **kwargs: P.kwargs) -> Hits:
    """Search with a statement timeout, and without JIT compilation, which takes longer than a search."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {int(settings.SEARCH_TIMEOUT * 1000)}; SET LOCAL jit = off")
        return search(*args, **kwargs)
