"""The sentences of a passage that support an answer, for highlighting. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import Any

from conversations.citations.markers import MARKER, numbers_of
from conversations.citations.source import split_clauses
from conversations.citations.statements import plain
from ragsite.language.analysis import terms
from retrieval.engine.bm25 import inverse_document_frequency

# A sentence supports a clause if it contains this share of its words, weighted by their rarity in the passage.
SUPPORTING_SHARE = 0.5


def grounds(claims: Iterable[str], sentences: Sequence[str]) -> set[int]:
    """Return the indexes of the sentences that contain most of the words of each clause of some claims."""
    found = [set(terms(sentence)) for sentence in sentences]
    frequencies = Counter(term for words in found for term in words)

    def weight(term: str) -> float:
        return inverse_document_frequency(len(found), frequencies[term])

    def place(wanted: Set[str]) -> int | None:
        """Return the index of the sentence that contains most; among equals the shortest, then the first."""
        whole = sum(map(weight, wanted))
        shares = [sum(weight(term) for term in wanted & words) for words in found]
        best = max(range(len(found)), key=lambda at: (shares[at], -len(found[at])), default=None)
        return best if best is not None and whole and shares[best] >= SUPPORTING_SHARE * whole else None

    clauses = (set(terms(clause)) for claim in claims for clause in split_clauses(claim))
    return {at for at in map(place, clauses) if at is not None}


def quoted_lines(blocks: Iterable[dict[str, Any]], number: int) -> list[str]:
    """Return the lines that an answer made only of quotations takes from a source.

    All text before a marker is quoted from its source; the rows of a table are from the source of the title above.
    """
    found: list[str] = []
    last = 0
    for block in blocks:
        if block["kind"] == "table" and last == number:
            found += (" | ".join(map(str, row)) for row in block["rows"])
        elif block["kind"] == "text":
            end = 0
            for marker in MARKER.finditer(block["text"]):
                text, last = block["text"][end : marker.start()], numbers_of(marker)[-1]
                found += filter(None, map(plain, text.splitlines())) if last == number else ()
                end = marker.end()
    return found
