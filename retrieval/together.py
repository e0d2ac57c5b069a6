"""Which of some words passages hold together, by the index alone: no passage is read."""

from collections.abc import Collection, Sequence

from retrieval import fulltext
from retrieval.analysis import term_id
from retrieval.models import IndexEntry

# Passages that are looked at.
PASSAGES = 10


def held_together(text: str, wanted: Collection[str], knowledge_base_ids: Sequence[int]) -> tuple[frozenset[str], ...]:
    """Return which of the wanted terms each of the first passages for a text holds. Reads the database."""
    found = [chunk_id for chunk_id, _score in fulltext.search(text, knowledge_base_ids, PASSAGES)]
    named = {term_id(term): term for term in wanted}
    rows = IndexEntry.objects.filter(pk__in=found).values_list("weights", flat=True)
    return tuple(frozenset(named[term] for term in weights.indices() if term in named) for weights in rows)
