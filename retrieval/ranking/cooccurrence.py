"""Co-occurrence of terms in passages, from the index alone, without reading the passages."""

from ragsite.language.analysis import term_id, terms
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies

# Number of passages examined; more than this, such as 20, dilutes what the first ones show.
PASSAGES = 10


def held_together(text: str, known: Frequencies) -> tuple[frozenset[str], ...]:
    """Return, for each of the best passages for a text, the known terms that it contains. Makes one query."""
    named = {term_id(term): term for term in known.holding}
    passages = fulltext.terms_of_top_passages(terms(text), known, PASSAGES)
    return tuple(frozenset(named[term] for term in weights.indices() if term in named) for weights in passages)
