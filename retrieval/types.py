"""Requests and results of a search."""

from dataclasses import dataclass, field
from typing import Any, Literal

from django.db import models
from django.utils.translation import gettext_lazy as _

from knowledge.labels import LabelFilter
from knowledge.models import Picture
from ragsite.llm.reranking.reader import Reading
from ragsite.site_settings.config import config
from retrieval.ranking.fusion import Query, Ranking, Retriever, Source
from retrieval.ranking.rerank_options import RerankOptions

Mode = Literal["hybrid", "vector", "fulltext"]
RETRIEVERS: dict[Mode, tuple[Retriever, ...]] = {
    "hybrid": ("vector", "bm25"),
    "vector": ("vector",),
    "fulltext": ("bm25",),
}
# The modes by the values of the setting `SEARCH_MODE`.
MODES: dict[str, Mode] = {"hybrid": "hybrid", "meaning": "vector", "words": "fulltext"}


class AnswerState(models.TextChoices):
    """The outcome for a question: an answer, only the closest passages, or nothing."""

    ANSWERED = "answered", _("Answered")
    NEAREST = "nearest", _("Closest passages only")
    NOTHING = "nothing", _("Nothing found")


class SearchFailed(Exception):
    """No retriever could answer; the message is shown to users."""


class SearchOverloaded(SearchFailed):
    """Too many searches are running; a retry may succeed."""


def mode_in_force() -> Mode:
    """Return the mode of the setting `SEARCH_MODE`."""
    return MODES[config.SEARCH_MODE]


def retrievers_of(mode: Mode, vector_weight: float) -> tuple[Retriever, ...]:
    """Return the retrievers of a mode, without one that has no weight."""
    return ("bm25",) if mode == "hybrid" and not vector_weight else RETRIEVERS[mode]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search in some knowledge bases, to which the caller has checked access. Fields default to the settings.

    `document_ids` limit it to some of their documents, `labels` to those with some tags and fields; empty means all.
    Thresholds are absolute similarities or BM25 scores; None means no threshold. `vector_weight` is the weight of
    vectors relative to words; with 0, a hybrid search is one by words. `per_document` is the maximum number of hits per
    document; None means no limit. `ranking_query` is the question that passages are to answer, by default the first
    query. `fresh` bypasses the cache. `patient` lets the reader wait and read for as long as it takes. `reader` names a
    model to read with instead of the site's.

    Equal requests have equal results until something is indexed or deleted, so requests are the keys of the cache.
    """

    queries: tuple[Query, ...]
    knowledge_base_ids: tuple[int, ...]
    k: int = field(default_factory=lambda: config.FUSED_K)
    mode: Mode = field(default_factory=mode_in_force)
    vector_threshold: float | None = field(default_factory=lambda: config.VECTOR_THRESHOLD)
    bm25_threshold: float | None = field(default_factory=lambda: config.BM25_THRESHOLD)
    vector_weight: float = field(default_factory=lambda: config.VECTOR_WEIGHT)
    rrf_constant: int = field(default_factory=lambda: config.RRF_CONSTANT)
    reorder: bool = field(default_factory=lambda: config.ENABLE_REORDER)
    reorder_top_n: int = field(default_factory=lambda: config.REORDER_TOP_N)
    read: bool = field(default_factory=lambda: config.ENABLE_READER)
    reader: str = ""
    read_top_n: int = field(default_factory=lambda: config.READER_PASSAGES)
    retriever_top_k: int = field(default_factory=lambda: config.RETRIEVER_TOP_K)
    rerank: RerankOptions | None = None
    merge_neighbours: bool = False
    document_ids: tuple[int, ...] = ()
    labels: LabelFilter = LabelFilter()  # noqa: RUF009 - it can't be changed
    per_document: int | None = None
    ranking_query: str = ""
    fresh: bool = field(default=False, compare=False)
    patient: bool = field(default=False, compare=False)

    @property
    def retrievers(self) -> tuple[Retriever, ...]:
        """The retrievers to run: those of the mode, without vectors if they have no weight."""
        return retrievers_of(self.mode, self.vector_weight)

    @property
    def judged_by(self) -> str:
        """The question by which passages are judged."""
        return self.ranking_query or next((query.text for query in self.queries), "")

    @property
    def ordered_by(self) -> tuple[Query, ...]:
        """The weighted queries by which passages are ordered: `ranking_query` if it is not one of the queries."""
        if self.ranking_query and all(query.text != self.ranking_query for query in self.queries):
            return (Query(self.ranking_query),)
        return self.queries


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, with everything needed to show, quote and explain it.

    `title` is the document's title, or the file's name or path if it has none. `score` is the fused score, `worth` that
    of reordering, if it was reordered, and `rerank_score` (0 to 1) that of a reranker, if it was reranked. `ordinal` is
    its position in the document, from 0. `merged` are the ids of merged neighbours, including its own. `reading` is the
    reader's result, with positions in `content`, if it was read.
    """

    chunk_id: int
    document_id: int
    knowledge_base_id: int
    content: str
    kind: str
    filename: str
    heading: str
    page: int | None
    score: float
    sources: list[Source]
    columns: list[str] | None = None
    rows: list[list[str]] | None = None
    picture: Picture | None = None
    ordinal: int = 0
    merged: tuple[int, ...] = ()
    worth: float | None = None
    rerank_score: float | None = None
    title: str = ""
    reading: Reading | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as the API shows it."""
        return {
            "chunk_id": self.chunk_id,
            "document_id": self.document_id,
            "knowledge_base_id": self.knowledge_base_id,
            "filename": self.filename,
            "title": self.title or self.filename,
            "heading": self.heading,
            "page": self.page,
            "kind": self.kind,
            "content": self.content,
            "score": self.score,
            "rerank_score": self.rerank_score,
            "reading": self.reading.to_dict() if self.reading else None,
            "sources": [source.to_dict() for source in self.sources],
            "merged": list(self.merged),
        }


@dataclass(frozen=True, slots=True)
class Stage:
    """The hits after one step of a search, (chunk id, ordering score) best first, and the milliseconds it took.

    `name` is a stable slug: fuse, describe, reorder, reader, rerank, neighbours or documents. `note` explains to users
    why a step failed.
    """

    name: str
    ms: float
    hits: list[tuple[int, float]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, the rankings they come from, the time taken, and notes on problems.

    `stages` are the steps from the fused rankings to the hits, in order. `cached` is whether the result comes from an
    earlier search, whose times it has except for `took_ms`. Results are shared: don't change their lists.
    """

    hits: list[Hit]
    rankings: list[Ranking]
    took_ms: float
    notes: list[str]
    stages: list[Stage] = field(default_factory=list)
    cached: bool = False

    @property
    def incomplete(self) -> bool:
        """Whether a part failed, so that another search may find more."""
        return any(ranking.failed for ranking in self.rankings) or any(stage.note for stage in self.stages)
