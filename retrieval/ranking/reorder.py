"""Putting the first hits in a better order by features that need no model. Pure.

The features and their weights were chosen on seven collections together, English, Chinese and mixed: public sets,
learnt (linear LambdaRank) on one half of every set's questions and judged on the other, and two software manuals as
people upload them. Figures, and what was tried and dropped: docs/decisions/reorder.md.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from retrieval.engine.analysis import pieces, terms
from retrieval.engine.bm25 import inverse_document_frequency
from retrieval.ranking.fusion import Query, Ranking, Retriever
from retrieval.ranking.query_words import question_words
from retrieval.types import Hit

# What a passage opens with, about a sentence.
_OPENING_TERMS = 20
# Feedback: the first hits tell by their terms what the others should speak of.
_TELLING_HITS = 5
_TELLING_TERMS = 20
_SATURATION = 1.2  # the k1 of BM25

_Scores = tuple[float, dict[int, float]]


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for a hit, each from 0 to 1.

    `fused` and `bm25` are its scores against the best hit's, `similarity` that of its meaning (of a hit that the
    vectors did not find, the lowest of those that they did). Of several queries these two are means by the queries'
    weights: with the best instead, what fits the history of a conversation outran what fits the question (measured
    on later turns and on unrelated ones, see `bench_followups`). `coverage`, `heading` and `opening` are shares of the
    query's terms: in the passage under its headings, in the headings alone, in its first words under them;
    `rare_heading` weighs those in the headings by their rarity among the hits, so that
    of all functions the one that is asked for comes first. `pairs` is the share of the query's pairs of neighbouring
    terms that are neighbours in the passage. `feedback` is the share of what the first hits speak of beside the query
    (as in Lavrenko and Croft, "Relevance-Based Language Models", SIGIR 2001), and `document` how many of the hits are
    of its document, against the document with most.
    """

    fused: float
    bm25: float
    similarity: float
    coverage: float
    heading: float
    rare_heading: float
    opening: float
    pairs: float
    feedback: float
    document: float

    @property
    def worth(self) -> float:
        """The weighted sum by which hits are ordered."""
        return (
            0.5 * self.fused
            + self.bm25
            + 2 * self.similarity
            + 2 * self.coverage
            + 0.5 * self.heading
            + self.rare_heading
            + 0.5 * self.opening
            + 2 * self.pairs
            + 0.5 * self.feedback
            + 0.5 * self.document
        )


@dataclass(frozen=True, slots=True)
class _Passage:
    """A hit by its terms."""

    heading: tuple[str, ...]
    content: tuple[str, ...]
    known: frozenset[str]


@lru_cache(1_024)  # finding the terms is most of the work, and the same passages are hits again and again
def _passage(heading: str, content: str) -> _Passage:
    first, others = tuple(terms(heading)), tuple(terms(content))
    return _Passage(first, others, frozenset({*first, *others}))


def passage_terms(hit: Hit) -> frozenset[str]:
    """Return the terms of a hit with its headings, its title and the name of its file."""
    return _passage(f"{hit.filename} {hit.title} {hit.heading}", hit.content).known


@dataclass(frozen=True, slots=True)
class _Wording:
    """A query as passages are held against it: its terms, neighbours among them, and what weight terms have."""

    weight: float
    terms: Set[str]
    pairs: frozenset[tuple[str, str]]
    rarity: Mapping[str, float]
    spoken_of: Mapping[str, float]


def reorder(queries: Sequence[Query], hits: Sequence[Hit], rankings: Sequence[Ranking]) -> list[tuple[Hit, float]]:
    """Return the hits (best first) with their worth, the most promising first; equal ones keep their order.

    `rankings` are those that the hits were fused from; several of a retriever count by their weights. So do several
    queries, each by its weight: judged by the longest alone, a question that stands by itself lost to the words of the
    conversation that it was also searched with, however little these counted (see `bench_followups`).
    """
    passages = [_passage(hit.heading, hit.content) for hit in hits]
    wordings = [wording for query in queries if (wording := _worded(query, passages)).terms and wording.weight > 0]
    if not wordings or not hits:
        return [(hit, 0.0) for hit in hits]
    documents = Counter(hit.document_id for hit in hits)
    most = max(documents.values())
    best_fused = max(hit.score for hit in hits) or 1.0
    by_words = []
    for weight, scores in _of_retriever(rankings, "bm25"):
        # Against the best among the hits: BM25 grows with the length of the query.
        best = max((scores.get(hit.chunk_id, 0.0) for hit in hits), default=0.0) or 1.0
        by_words.append((weight, {chunk_id: score / best for chunk_id, score in scores.items()}))
    words = _mean(hits, by_words, lambda scores: 0.0)
    nearness = _mean(hits, _of_retriever(rankings, "vector"), lambda scores: min(scores, default=0.0))

    def features(hit: Hit, passage: _Passage, asked: _Wording) -> Features:
        pairs = asked.pairs.intersection(chain(pairwise(passage.heading), pairwise(passage.content)))
        return Features(
            fused=hit.score / best_fused,
            bm25=words[hit.chunk_id],
            similarity=max(0.0, nearness[hit.chunk_id]),
            coverage=len(asked.terms & passage.known) / len(asked.terms),
            heading=len(asked.terms & set(passage.heading)) / len(asked.terms),
            rare_heading=share(passage.heading, asked.rarity),
            opening=len(asked.terms & {*passage.heading, *passage.content[:_OPENING_TERMS]}) / len(asked.terms),
            pairs=len(pairs) / len(asked.pairs) if asked.pairs else 0.0,
            feedback=share(passage.known, asked.spoken_of),
            document=documents[hit.document_id] / most,
        )

    def worth(hit: Hit, passage: _Passage) -> float:
        total = sum(asked.weight for asked in wordings)
        return sum(asked.weight / total * features(hit, passage, asked).worth for asked in wordings)

    ranked = [(hit, worth(hit, passage)) for hit, passage in zip(hits, passages, strict=True)]
    return sorted(ranked, key=lambda item: -item[1])


def _worded(query: Query, passages: Sequence[_Passage]) -> _Wording:
    wanted: Set[str] = asked_terms(query.text)
    known = frozenset[str]().union(*(passage.known for passage in passages))
    # What the passages hold of the Chinese that is cut into a term that none holds.
    wanted = wanted | (pieces(query.text, wanted - known) & known - question_words())
    # Other terms that the first passages speak of most. A term's weight is its saturated frequency in each of them,
    # less for later ones, times its rarity among all.
    frequencies = Counter(term for passage in passages for term in passage.known)
    weights: dict[str, float] = defaultdict(float)
    for rank, passage in enumerate(passages[:_TELLING_HITS]):
        for term, count in Counter([*passage.heading, *passage.content]).items():
            if term not in wanted and frequencies[term] > 1:
                weights[term] += count / (count + _SATURATION) / (1 + rank / 2)
    for term in weights:
        weights[term] *= inverse_document_frequency(len(passages), frequencies[term])
    return _Wording(
        weight=query.weight,
        terms=wanted,
        pairs=frozenset(pairwise(term for term in terms(query.text) if term in wanted)),
        rarity=rarity(wanted, [passage.known for passage in passages]),
        spoken_of=dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_TELLING_TERMS]),
    )


def asked_terms(query: str) -> set[str]:
    """Return the terms that a query is about; where it only asks, all of its terms."""
    found = set(terms(query))
    return found - question_words() or found


def rarity(wanted: Set[str], sentences: Sequence[Set[str]]) -> dict[str, float]:
    """Return each wanted term's inverse frequency among sentences, each given by its terms."""
    counts = Counter(term for sentence in sentences for term in wanted & sentence)
    return {term: inverse_document_frequency(len(sentences), counts[term]) for term in wanted}


def share(found: Iterable[str], weights: Mapping[str, float]) -> float:
    """Return the share of the weight that some terms cover, from 0 to 1."""
    return sum(weights[term] for term in weights.keys() & set(found)) / (sum(weights.values()) or 1.0)


def _of_retriever(rankings: Sequence[Ranking], retriever: Retriever) -> list[_Scores]:
    """Return the rankings of a retriever that found something, each as its weight and its scores by chunk."""
    found = [ranking for ranking in rankings if ranking.type == retriever and ranking.hits]
    voted = any(ranking.weight for ranking in found)
    return [(ranking.weight if voted else 1.0, dict(ranking.hits)) for ranking in found]


def _mean(
    hits: Sequence[Hit], rankings: Sequence[_Scores], absent: Callable[[Sequence[float]], float]
) -> dict[int, float]:
    """Return each hit's mean score over rankings, by their weights.

    `absent` tells, from a ranking's scores of the hits that it found, what one counts there that it did not find.
    """
    means = dict.fromkeys((hit.chunk_id for hit in hits), 0.0)
    total = sum(weight for weight, _scores in rankings) or 1.0
    for weight, scores in rankings:
        missed = absent([scores[chunk_id] for chunk_id in means if chunk_id in scores])
        for chunk_id in means:
            means[chunk_id] += weight / total * scores.get(chunk_id, missed)
    return means
