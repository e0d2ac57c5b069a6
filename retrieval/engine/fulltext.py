"""Search by words: exact BM25 without reading more rows than needed.

Passages that contain one of the query's rarest terms are scored with all terms; if even the rarest is common, those
that contain several terms at once. A passage left out can score at most the sum of the highest weights of its terms;
if that exceeds the k-th score, the passages that could still enter the list are scored too.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from django.db import connection
from pgvector import SparseVector

from knowledge.labels import LabelFilter
from ragsite.language.analysis import TERM_DIMENSIONS, border_pairs, pieces, term_id, terms
from retrieval.engine import bm25

# The rarest terms are taken as long as they have no more passages than this.
CANDIDATES = 3_000
# Alternatives of a widened query; with more, a coarser query is used.
MOST_ALTERNATIVES = 150
# Tolerance, since scores are summed in single precision.
ROUNDING = 1e-4

# The row with a NULL term carries N, which saves a query.
_STATISTICS = """
SELECT NULL, NULL, coalesce(sum(chunks), 0)::integer FROM retrieval_corpussize WHERE knowledge_base_id = ANY(%(bases)s)
UNION ALL
SELECT term, knowledge_base_id, document_frequency FROM retrieval_termfrequency
WHERE knowledge_base_id = ANY(%(bases)s) AND term = ANY(%(terms)s) AND document_frequency > 0
"""
# Ordered by the selected score: ordering by its negative would compute it twice per passage.
_SCORE = f"""
SELECT chunk_id, -(weights <#> %(weights)s::sparsevec({TERM_DIMENSIONS})) AS score
FROM retrieval_indexentry WHERE terms @@ %(query)s::tsquery {{only}}
ORDER BY score DESC, chunk_id LIMIT %(k)s
"""
_OF_DOCUMENTS = "AND document_id = ANY(%(documents)s)"
_LABELLED = """AND document_id IN (
    SELECT id FROM knowledge_document WHERE knowledge_base_id = ANY(%(bases)s) AND {where}
)"""
_TOP_WEIGHTS = f"""
SELECT weights::text FROM retrieval_indexentry WHERE terms @@ %(query)s::tsquery
ORDER BY weights <#> %(weights)s::sparsevec({TERM_DIMENSIONS}), chunk_id LIMIT %(k)s
"""


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many passages some knowledge bases have together, and how many of these contain each term.

    `lexemes` are those of each term in the index, one per base that has it.
    """

    size: int
    holding: Mapping[str, int]
    lexemes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def rarity(self, term: str) -> float:
        """Return the term's inverse document frequency, or 0 if no passage contains it."""
        held = self.holding.get(term, 0)
        return bm25.inverse_document_frequency(self.size, held) if held else 0.0


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the query with its statistics in the knowledge bases searched."""

    weight: float
    frequency: int
    lexemes: tuple[str, ...]
    highest_weight: float = bm25.HIGHEST_WEIGHT  # in a passage

    @property
    def highest_score(self) -> float:
        """The most that the term can add to a passage's score."""
        return self.weight * self.highest_weight

    @property
    def query(self) -> str:
        """The `tsquery` for passages that contain the term in any of the bases."""
        return "(" + "|".join(f"'{lexeme}'" for lexeme in self.lexemes) + ")"


@dataclass(frozen=True, slots=True)
class _Only:
    """Filters of a search within its bases: documents, or their tags and fields."""

    bases: Sequence[int]
    documents: Sequence[int]
    labels: LabelFilter

    @property
    def where(self) -> str:
        """Further SQL conditions on index entries; empty if there are none."""
        parts = [_OF_DOCUMENTS] if self.documents else []
        parts += [_LABELLED.format(where=self.labels.where)] if self.labels else []
        return " ".join(parts)


def search(
    text: str,
    knowledge_base_ids: Sequence[int],
    k: int,
    document_ids: Sequence[int] = (),
    labels: LabelFilter | None = None,
) -> list[tuple[int, float]]:
    """Return the k best chunks of the knowledge bases as (chunk id, BM25 score), best first; ties by id.

    N and the document frequencies are those of the searched bases together, even with `document_ids` or `labels`: a
    word that is frequent in one document may be rare in the others. If a Chinese word of the query is in no passage,
    other words that can be read in the same characters are searched too.
    """
    found = terms(text)
    if not found or not knowledge_base_ids:
        return []
    pairs = border_pairs(text)
    known = frequencies([*found, *pairs], knowledge_base_ids)
    unknown = {term for term in found if not known.holding[term]}
    if others := pieces(text, unknown) - set(found):
        found += sorted(others)
        known = frequencies([*found, *pairs], knowledge_base_ids)
    if not any(known.holding[term] for term in found):
        return []  # pairs alone don't find passages; they only rank them
    query_terms, weights = _query(found, known, pairs)
    only = _Only(knowledge_base_ids, document_ids, labels or LabelFilter())
    if document_ids:
        return _score(_any(query_terms), weights, k, only)
    for count in range(_together(query_terms, known.size), 1, -1):
        hits = _score("&".join(term.query for term in query_terms[:count]), weights, k, only)
        if len(hits) == k:
            rest = query_terms
            break
    else:
        taken = _rarest(query_terms)
        hits, rest = _score(_any(query_terms[:taken]), weights, k, only), query_terms[taken:]
    # A passage that isn't scored yet may contain any of the terms in `rest`.
    needed = hits[-1][1] - ROUNDING if len(hits) == k else 0.0
    if sum(term.highest_score for term in rest) <= needed:
        return hits
    more = _score(candidates_tsquery(rest, needed), weights, k, only)
    return sorted({*hits, *more}, key=lambda hit: (-hit[1], hit[0]))[:k]


def terms_of_top_passages(found: Sequence[str], known: Frequencies, k: int) -> list[SparseVector]:
    """Return the weights by term id of the k best passages for some terms.

    Only passages that contain one of the rarest terms are considered, which nearly always include the best. One query.
    """
    query_terms, weights = _query([term for term in found if known.lexemes.get(term)], known)
    if not query_terms:
        return []
    together = _together(query_terms, known.size)
    all_of_them = "&".join(term.query for term in query_terms[:together])
    query = all_of_them if together > 1 else _any(query_terms[: _rarest(query_terms)])
    with connection.cursor() as cursor:
        cursor.execute(_TOP_WEIGHTS, {"query": query, "weights": weights, "k": k})
        return [SparseVector.from_text(text) for (text,) in cursor.fetchall()]


def frequencies(wanted: Collection[str], knowledge_base_ids: Sequence[int]) -> Frequencies:
    """Return in how many passages of the knowledge bases each of some terms occurs. One query."""
    if not wanted or not knowledge_base_ids:
        return Frequencies(0, {})
    size = 0
    counts: Counter[int] = Counter()
    lexemes: dict[int, list[str]] = defaultdict(list)
    ids = {term: term_id(term) for term in wanted}
    with connection.cursor() as cursor:
        cursor.execute(_STATISTICS, {"bases": list(knowledge_base_ids), "terms": [*{*ids.values()}]})
        for key, knowledge_base_id, count in cursor.fetchall():
            if key is None:
                size = count
                continue
            counts[key] += count
            lexemes[key].append(f"{knowledge_base_id}:{key}")
    return Frequencies(
        size,
        {term: counts[key] for term, key in ids.items()},
        {term: tuple(lexemes[key]) for term, key in ids.items()},
    )


def _query(found: Sequence[str], known: Frequencies, pairs: Sequence[str] = ()) -> tuple[list[Term], str]:
    """Return the terms that passages contain, those of highest scores first, and their weights as a `sparsevec`."""
    held = {term_id(term): (count, known.lexemes.get(term, ())) for term, count in known.holding.items()}
    counts = {key: count for key, (count, _lexemes) in held.items()}
    weights = bm25.query_weights(bm25.query_term_counts([*found, *pairs]), known.size, counts)
    highest = dict.fromkeys(map(term_id, pairs), bm25.PAIR_WEIGHT) | dict.fromkeys(
        map(term_id, found), bm25.HIGHEST_WEIGHT
    )
    query_terms = [Term(weight, *held[key], highest[key]) for key, weight in weights.items()]
    query_terms.sort(key=lambda term: -term.highest_score)
    return query_terms, bm25.sparse_literal(weights, TERM_DIMENSIONS)


def _together(query_terms: Sequence[Term], size: int) -> int:
    """Return how many of the terms, in order, must be combined to match few enough passages; 1 if the first is rare.

    The estimate takes terms to be independent; since related terms occur together, more passages match.
    """
    expected = float(query_terms[0].frequency)
    count = 1
    while expected > CANDIDATES and count < len(query_terms):
        expected *= query_terms[count].frequency / size
        count += 1
    return count


def _rarest(query_terms: Sequence[Term]) -> int:
    """Return how many of the terms, in order, match at most `CANDIDATES` passages; at least one."""
    total = 0
    for index, term in enumerate(query_terms):
        total += term.frequency
        if index and total > CANDIDATES:
            return index
    return len(query_terms)


def candidates_tsquery(rest: Sequence[Term], needed: float) -> str:
    """Return a `tsquery` that matches every passage whose score by these terms alone could exceed `needed`."""
    ordered = sorted(rest, key=lambda term: -term.highest_score)
    left = list(accumulate((term.highest_score for term in reversed(ordered)), initial=0.0))[::-1]
    count = 0

    def alternatives(start: int, missing: float) -> str:
        """Return the smallest groups of terms from `start` that together could exceed a score; not all if too many.

        Common prefixes are factored out, since the query is evaluated for each passage that contains any of the terms.
        """
        nonlocal count
        found = []
        for index in range(start, len(ordered)):
            if left[index] <= missing or count > MOST_ALTERNATIVES:
                break  # not even all remaining terms would suffice
            term = ordered[index]
            if term.highest_score > missing:
                count += 1
                found.append(term.query)
            else:
                further = alternatives(index + 1, missing - term.highest_score)
                found += [f"{term.query}&({further})"] if further else []
        return "|".join(found)

    if needed > 0:
        query = alternatives(0, needed)
        if count <= MOST_ALTERNATIVES:
            return query
    # A passage must contain one of the rarest terms, since the others together can't exceed what is needed.
    remaining = sum(term.highest_score for term in rest)
    taken = []
    for term in rest:
        if remaining <= needed:
            break
        taken.append(term)
        remaining -= term.highest_score
    return _any(taken)


def _any(terms: Iterable[Term]) -> str:
    return "|".join(term.query for term in terms)


def _score(query: str, weights: str, k: int, only: _Only) -> list[tuple[int, float]]:
    parameters: dict[str, Any] = {"query": query, "weights": weights, "k": k, "documents": list(only.documents)}
    parameters |= {"bases": list(only.bases)} | only.labels.parameters
    with connection.cursor() as cursor:
        cursor.execute(_SCORE.format(only=only.where), parameters)
        return [(chunk_id, float(score)) for chunk_id, score in cursor.fetchall()]
