"""The index in the admin: to look at, not to edit."""

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

import retrieval.embedding_models.admin
import retrieval.evaluation.admin
import retrieval.readers.admin  # noqa: F401 - all register theirs
from ragsite.admin_base import RecordAdmin, column
from retrieval.models import CorpusSize, EmbeddingSpace, IndexEntry, TermFrequency


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(RecordAdmin):
    """Embedding spaces; the active one is searched."""

    list_display = [
        "model", "provider", "base_url", "dimension", "languages", "active", "filled", "vectors", "created_at",
    ]  # fmt: skip
    list_filter = ["provider", "active"]
    fields = ["model", "provider", "base_url", "dimension", "languages", "active", "filled", "vectors", "created_at"]

    vectors = column(_("vectors"), lambda space: space.vector_total or 0)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmbeddingSpace]:
        """Count the vectors by the counts that are kept."""
        found: QuerySet[EmbeddingSpace] = super().get_queryset(request)
        return found.annotate(vector_total=Sum("counts__vectors"))


@admin.register(IndexEntry)
class IndexEntryAdmin(RecordAdmin):
    """Which chunks are indexed; terms and vectors are not for reading."""

    list_display = ["number", "document", "knowledge_base"]
    list_filter = ["knowledge_base"]
    list_select_related = ["document", "knowledge_base"]
    search_fields = ["=chunk__id", "document__original_filename"]
    fields = ["chunk", "document", "knowledge_base"]

    number = column(_("chunk"), lambda entry: entry.chunk_id, ordering="chunk_id")  # without fetching the chunk

    def get_queryset(self, request: HttpRequest) -> QuerySet[IndexEntry]:
        """Leave the wide columns where they are."""
        return super().get_queryset(request).defer("terms", "weights")

    def page_name(self, obj: IndexEntry) -> str:
        """Give the file and which of its passages it is."""
        return f"{obj.document} · {obj.chunk.ordinal}"


@admin.register(CorpusSize)
class CorpusSizeAdmin(RecordAdmin):
    """How many chunks each base has in the index."""

    list_display = ["knowledge_base", "chunks"]
    list_select_related = ["knowledge_base"]

    def page_name(self, obj: CorpusSize) -> str:
        """Name the base."""
        return str(obj.knowledge_base)


@admin.register(TermFrequency)
class TermFrequencyAdmin(RecordAdmin):
    """How many chunks of a base hold a term."""

    list_display = ["term", "knowledge_base", "document_frequency"]
    list_filter = ["knowledge_base"]
    list_select_related = ["knowledge_base"]
    search_fields = ["=term"]

    def page_name(self, obj: TermFrequency) -> str:
        """Give the term, as the list does."""
        return str(obj.term)
