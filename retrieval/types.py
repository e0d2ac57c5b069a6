"""What goes into a search and what comes out of it."""

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


class AnswerState(models.TextChoices):
    """What was found for a question: an answer, only the closest passages, or nothing on it."""

    ANSWERED = "answered", _("Answered")
    NEAREST = "nearest", _("Closest passages only")
    NOTHING = "nothing", _("Nothing found")


class SearchFailed(Exception):
    """No retriever could answer; the message is for a person."""


class SearchOverloaded(SearchFailed):
    """Too many searches are running; another try may do."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for and where: only in these knowledge bases, which the caller has checked.

    `document_ids` narrow it to these of their documents, `labels` to those with some tags and fields; none means all.
    Thresholds are absolute: similarity, BM25 score; None is none. `vector_weight` is what vectors count beside words.
    `per_document` is the most hits of one document, None for any number. What is not given is taken from the settings
    in force. `ranking_query` is what the passages are to answer, the first query when empty. `fresh` asks for work
    rather than for a kept result, and `patient` for a reading however long it takes, and others have to be waited for.
    `reader` names another model than the site's to read.
    Equal requests have equal answers until something is indexed or deleted, so a request is the key under which its
    result is kept.
    """

    queries: tuple[Query, ...]
    knowledge_base_ids: tuple[int, ...]
    k: int = field(default_factory=lambda: config.FUSED_K)
    mode: Mode = "hybrid"
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
    def judged_by(self) -> str:
        """What passages are judged by."""
        return self.ranking_query or next((query.text for query in self.queries), "")

    @property
    def ordered_by(self) -> tuple[Query, ...]:
        """What passages are put in order by, with weights: the queries, or a ranking_query that is none of them."""
        if self.ranking_query and all(query.text != self.ranking_query for query in self.queries):
            return (Query(self.ranking_query),)
        return self.queries


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found, with all that is needed to show, quote and explain it.

    `title` is what its document is called, which is the file's name or path where it has no title of its own.
    `score` is the fused one, `worth` what its features make of it where hits were reordered, `rerank_score` (0 to 1)
    that of a reranker where one judged it. `ordinal` is its place in
    the document, from 0. A hit that neighbours were joined to has their ids, and its own, as `merged`. `reading` is
    what the reader made of it, with places in `content`, where it was read.
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
        """Return it as the API shows it."""
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
    """What one step of a search left: (chunk id, the score it was ordered by), best first, in `ms`.

    `name` is a stable slug: fuse, describe, reorder, reader, rerank, neighbours or documents. `note` tells, for a
    person, why a step did not do its work.
    """

    name: str
    ms: float
    hits: list[tuple[int, float]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, the rankings they come from, how long it took, and notes on what went wrong.

    `stages` are the steps from the fused rankings to the hits, in order. `cached` tells that the result was kept from
    an earlier search; its times but `took_ms` are those of that one. It is shared: don't change its lists.
    """

    hits: list[Hit]
    rankings: list[Ranking]
    took_ms: float
    notes: list[str]
    stages: list[Stage] = field(default_factory=list)
    cached: bool = False

    @property
    def incomplete(self) -> bool:
        """Whether something failed, so that another search may find more."""
        return any(ranking.failed for ranking in self.rankings) or any(stage.note for stage in self.stages)
