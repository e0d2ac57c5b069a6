"""What `/api/search` takes and answers."""

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
    """A question, where to look, and how. What is left out, or null, is as the site is set to."""

    query = TextField(max_length=settings.MAX_QUESTION_CHARACTERS)
    knowledge_bases = IdsField(required=False, help_text="All, when left out.")
    documents = IdsField(required=False, help_text="Of these, only what is in the knowledge bases. All, when left out.")
    tags = TagsField(required=False, help_text="Only documents that have one of these tags.")
    metadata = MetadataFilterField(required=False)
    folder = TextField(max_length=500, required=False, help_text="Only documents in this folder, or within it.")
    k = IntegerField(min_value=1, max_value=100, required=False)
    mode = ChoiceField(choices=["hybrid", "vector", "fulltext"], default="hybrid")
    vector_threshold = FloatField(
        min_value=-10,
        max_value=10,
        required=False,
        allow_null=True,
        help_text="The least similarity in meaning: 0 is that of any passage, right ones have 2 to 3.",
    )
    bm25_threshold = FloatField(
        min_value=0, max_value=1_000_000, required=False, allow_null=True, help_text="The least BM25 score."
    )
    vector_weight = FloatField(
        min_value=0, max_value=100, required=False, allow_null=True, help_text="What vectors count beside words."
    )
    rrf_constant = IntegerField(min_value=1, max_value=1000, required=False, allow_null=True)
    reorder = BooleanField(
        required=False, allow_null=True, default=None, help_text="Put the first hits in order by their features."
    )
    reader = BooleanField(
        required=False, allow_null=True, default=None, help_text="Read the first hits together with the question."
    )
    rerank = ChoiceField(choices=METHODS, required=False, allow_null=True)
    merge_neighbours = BooleanField(default=False, help_text="Join adjacent passages into one hit.")
    per_document = IntegerField(
        min_value=1, max_value=100, required=False, allow_null=True, help_text="The most hits of one document."
    )

    def to_request(self, knowledge_base_ids: tuple[int, ...], document_ids: tuple[int, ...]) -> SearchRequest:
        """Return the search that is asked for, in knowledge bases and documents that the caller may read."""
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
    """What was found for a question; null where it was not asked of the documents, or not answered yet."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(AnswerState.choices, read_only=True, allow_null=True, **kwargs)

    def to_representation(self, value: str) -> Any:
        """Give null for what is stored as empty."""
        return value or None


class SourceSerializer(serializers.Serializer[None]):
    """Where a hit comes from: one side's rank and score, and what that gave it in the fusion."""

    type = serializers.ChoiceField(choices=["vector", "bm25"])
    rank = serializers.IntegerField()
    score = serializers.FloatField()
    rrf_score = serializers.FloatField()


class ReadingSerializer(serializers.Serializer[None]):
    """What the reader made of a passage."""

    rank = serializers.FloatField(help_text="What passages are put in order by; of no unit.")
    answers = serializers.FloatField(
        allow_null=True, help_text="About the log odds that it answers the question; null of a model that can't tell."
    )
    related = serializers.FloatField(
        allow_null=True, help_text="About the log odds that it is about what is asked; null of a model that can't tell."
    )
    start = serializers.IntegerField(
        allow_null=True, help_text="Where in `content` the sentence or row that answers begins; null where none does."
    )
    end = serializers.IntegerField(allow_null=True)


class HitSerializer(serializers.Serializer[None]):
    """A passage found."""

    chunk_id = serializers.IntegerField()
    document_id = serializers.IntegerField()
    knowledge_base_id = serializers.IntegerField()
    filename = serializers.CharField()
    title = serializers.CharField(help_text="What the document is called; its path where it has no title.")
    heading = serializers.CharField()
    page = serializers.IntegerField(allow_null=True)
    kind = serializers.ChoiceField(choices=["text", "table", "image"])
    content = serializers.CharField()
    score = serializers.FloatField()
    rerank_score = serializers.FloatField(allow_null=True, help_text="0 to 1; null where no reranker judged it.")
    reading = ReadingSerializer(allow_null=True, help_text="Null where the reader didn't read it.")
    sources = SourceSerializer(many=True)
    merged = serializers.ListField(
        child=serializers.IntegerField(), help_text="Of joined passages, their chunk ids in the document's order."
    )


class SearchResultSerializer(serializers.Serializer[None]):
    """The hits, best first, and notes on a side that failed or has no vote."""

    hits = HitSerializer(many=True)
    query = serializers.CharField()
    took_ms = serializers.FloatField()
    notes = serializers.ListField(child=serializers.CharField())
