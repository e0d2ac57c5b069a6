"""The index in the admin: to look at, not to edit."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ragsite.admin_base import RecordAdmin
from retrieval.models import CorpusSize, EmbeddingSpace, EvaluationRun, EvaluationSet, IndexEntry, TermFrequency


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(RecordAdmin):
    """Which models' vectors there are, and which are searched."""

    list_display = ["model", "provider", "dimension", "languages", "active", "created_at"]
    list_filter = ["provider", "active"]


@admin.register(IndexEntry)
class IndexEntryAdmin(RecordAdmin):
    """Which chunks are indexed; terms and vectors are not for reading."""

    list_display = ["chunk_id", "document", "knowledge_base", "space"]
    list_filter = ["space", "knowledge_base"]
    list_select_related = ["document", "knowledge_base", "space"]
    search_fields = ["=chunk__id", "document__original_filename"]
    fields = ["chunk", "document", "knowledge_base", "space"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[IndexEntry]:
        """Leave the wide columns where they are."""
        return super().get_queryset(request).defer("terms", "weights", "embedding")


@admin.register(CorpusSize)
class CorpusSizeAdmin(RecordAdmin):
    """How many chunks each base has in the index."""

    list_display = ["knowledge_base", "chunks"]
    list_select_related = ["knowledge_base"]


@admin.register(TermFrequency)
class TermFrequencyAdmin(RecordAdmin):
    """How many chunks of a base hold a term."""

    list_display = ["term", "knowledge_base", "document_frequency"]
    list_filter = ["knowledge_base"]
    list_select_related = ["knowledge_base"]
    search_fields = ["=term"]
    show_full_result_count = False


@admin.register(EvaluationSet)
class EvaluationSetAdmin(RecordAdmin):
    """Questions with their right passages."""

    list_display = ["name", "owner", "knowledge_base", "created_at"]
    list_select_related = ["owner", "knowledge_base"]
    search_fields = ["name", "owner__username"]


@admin.register(EvaluationRun)
class EvaluationRunAdmin(RecordAdmin):
    """Scorings of sets."""

    list_display = ["evaluation_set", "settings", "figures", "created_at"]
    list_select_related = ["evaluation_set"]
    list_filter = ["status"]
