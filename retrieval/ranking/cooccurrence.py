"""Which of some words passages hold together, by the index alone: no passage is read."""

from ragsite.language.analysis import term_id, terms
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies

# Number of passages examined; more than this, such as 20, dilutes what the first ones show.
PASSAGES = 10


def held_together(text: str, known: Frequencies) -> tuple[frozenset[str], ...]:
    """Return which of the known terms each of the first passages for a text holds. Asks the database once."""
    named = {term_id(term): term for term in known.holding}
    passages = fulltext.terms_of_top_passages(terms(text), known, PASSAGES)
    return tuple(frozenset(named[term] for term in weights.indices() if term in named) for weights in passages)
