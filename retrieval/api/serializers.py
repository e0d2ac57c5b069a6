"""Serializers for requests to `/api/search` and their responses."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from knowledge.api.fields import MetadataFilterField, TagsField
from knowledge.labels import LabelFilter
from ragsite.api.fields import BooleanField, ChoiceField, FloatField, IdsField, IntegerField, TextField
from ragsite.site_settings.config import config
from retrieval.ranking.fusion import Query
from retrieval.ranking.rerank_options import METHODS, RerankOptions
from retrieval.types import AnswerState, SearchRequest


class SearchRequestSerializer(serializers.Serializer[None]):
    """A question, where to search, and how. Fields that are omitted or null use the site's settings."""

    query = TextField(max_length=settings.MAX_QUESTION_CHARACTERS)
    knowledge_bases = IdsField(required=False, help_text="Defaults to all.")
    documents = IdsField(
        required=False, help_text="Documents outside the knowledge bases are ignored. Defaults to all."
    )
    tags = TagsField(required=False, help_text="Only documents with one of these tags.")
    metadata = MetadataFilterField(required=False)
    folder = TextField(max_length=500, required=False, help_text="Only documents in this folder and its subfolders.")
    k = IntegerField(min_value=1, max_value=100, required=False)
    mode = ChoiceField(
        choices=["hybrid", "vector", "fulltext"],
        required=False,
        allow_null=True,
        help_text="By words and meaning, by meaning only, or by words only.",
    )
    vector_threshold = FloatField(
        min_value=-10,
        max_value=10,
        required=False,
        allow_null=True,
        help_text="Minimum similarity in meaning: any passage has about 0, a relevant one 2 to 3.",
    )
    bm25_threshold = FloatField(
        min_value=0, max_value=1_000_000, required=False, allow_null=True, help_text="Minimum BM25 score."
    )
    vector_weight = FloatField(
        min_value=0,
        max_value=100,
        required=False,
        allow_null=True,
        help_text="Weight of search by meaning relative to search by words; with 0, only words are searched.",
    )
    rrf_constant = IntegerField(min_value=1, max_value=1000, required=False, allow_null=True)
    reorder = BooleanField(
        required=False, allow_null=True, default=None, help_text="Reorder the first hits by their features."
    )
    reader = BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Have the reader read the first hits together with the question.",
    )
    rerank = ChoiceField(choices=METHODS, required=False, allow_null=True)
    merge_neighbours = BooleanField(default=False, help_text="Join adjacent passages into one hit.")
    per_document = IntegerField(
        min_value=1, max_value=100, required=False, allow_null=True, help_text="Maximum number of hits per document."
    )

    def to_request(self, knowledge_base_ids: tuple[int, ...], document_ids: tuple[int, ...]) -> SearchRequest:
        """Return the requested search, limited to knowledge bases and documents that the caller may read."""
        wanted = dict(self.validated_data)
        query, rerank = wanted.pop("query"), wanted.pop("rerank", None)
        wanted.pop("knowledge_bases", None)
        wanted["read"] = wanted.pop("reader", None)
        wanted["document_ids"] = document_ids
        wanted.pop("documents", None)
        wanted["labels"] = LabelFilter.read(
            wanted.pop("tags", []), wanted.pop("metadata", None), wanted.pop("folder", "")
        )
        k = wanted.pop("k", config.FUSED_K)
        options = RerankOptions.from_name(rerank, top_k=k) if rerank else RerankOptions.from_settings(top_k=k)
        given = {name: value for name, value in wanted.items() if value is not None}
        return SearchRequest((Query(query),), knowledge_base_ids, k, rerank=options, **given)


class AnswerStateField(serializers.ChoiceField):
    """The outcome for a question; null if the documents weren't searched, or it isn't answered yet."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(AnswerState.choices, read_only=True, allow_null=True, **kwargs)

    def to_representation(self, value: str) -> Any:
        """Return None for an empty value."""
        return value or None


class SourceSerializer(serializers.Serializer[None]):
    """A retriever's rank and score for a hit, and its contribution to the fused score."""

    type = serializers.ChoiceField(choices=["vector", "bm25"])
    rank = serializers.IntegerField()
    score = serializers.FloatField()
    rrf_score = serializers.FloatField()


class ReadingSerializer(serializers.Serializer[None]):
    """The reader's scores for a passage."""

    rank = serializers.FloatField(help_text="Orders the passages; has no unit.")
    answers = serializers.FloatField(
        allow_null=True, help_text="About the log odds that it answers the question; null if the model can't tell."
    )
    related = serializers.FloatField(
        allow_null=True, help_text="About the log odds that it is about the question; null if the model can't tell."
    )
    start = serializers.IntegerField(
        allow_null=True, help_text="Start in `content` of the sentence or row that answers; null if there is none."
    )
    end = serializers.IntegerField(allow_null=True)


class HitSerializer(serializers.Serializer[None]):
    """A passage that was found."""

    chunk_id = serializers.IntegerField()
    document_id = serializers.IntegerField()
    knowledge_base_id = serializers.IntegerField()
    filename = serializers.CharField()
    title = serializers.CharField(help_text="The document's title, or its path if it has none.")
    heading = serializers.CharField()
    page = serializers.IntegerField(allow_null=True)
    kind = serializers.ChoiceField(choices=["text", "table", "image"])
    content = serializers.CharField()
    score = serializers.FloatField()
    rerank_score = serializers.FloatField(allow_null=True, help_text="0 to 1; null if no reranker scored it.")
    reading = ReadingSerializer(allow_null=True, help_text="Null if the reader didn't read it.")
    sources = SourceSerializer(many=True)
    merged = serializers.ListField(
        child=serializers.IntegerField(), help_text="Chunk ids of merged passages, in the document's order."
    )


class SearchResultSerializer(serializers.Serializer[None]):
    """The hits, best first, and notes on retrievers that failed or were left out."""

    hits = HitSerializer(many=True)
    query = serializers.CharField()
    took_ms = serializers.FloatField()
    notes = serializers.ListField(child=serializers.CharField())
