"""What `/api/search` takes and answers."""

from django.conf import settings
from rest_framework import serializers


class SearchRequestSerializer(serializers.Serializer[None]):
    """A question, where to look, and how."""

    query = serializers.CharField(max_length=settings.MAX_QUESTION_CHARACTERS)
    knowledge_bases = serializers.ListField(
        child=serializers.IntegerField(min_value=1), required=False, max_length=1000, help_text="All, when left out."
    )
    k = serializers.IntegerField(min_value=1, max_value=100, required=False)
    mode = serializers.ChoiceField(choices=["hybrid", "vector", "fulltext"], default="hybrid")


class SourceSerializer(serializers.Serializer[None]):
    """Where a hit comes from: one side's rank and score, and what that gave it in the fusion."""

    type = serializers.ChoiceField(choices=["vector", "bm25"])
    rank = serializers.IntegerField()
    score = serializers.FloatField()
    rrf_score = serializers.FloatField()


class HitSerializer(serializers.Serializer[None]):
    """A passage found."""

    chunk_id = serializers.IntegerField()
    document_id = serializers.IntegerField()
    knowledge_base_id = serializers.IntegerField()
    filename = serializers.CharField()
    heading = serializers.CharField()
    page = serializers.IntegerField(allow_null=True)
    kind = serializers.ChoiceField(choices=["text", "table", "image"])
    content = serializers.CharField()
    score = serializers.FloatField()
    rerank_score = serializers.FloatField(allow_null=True, help_text="0 to 1; null where no reranker judged it.")
    sources = SourceSerializer(many=True)


class SearchResultSerializer(serializers.Serializer[None]):
    """The hits, best first, and notes on a side that failed or has no vote."""

    hits = HitSerializer(many=True)
    query = serializers.CharField()
    took_ms = serializers.FloatField()
    notes = serializers.ListField(child=serializers.CharField())
