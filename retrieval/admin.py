"""The search index in the admin, read-only."""

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

import retrieval.embedding_models.admin
import retrieval.evaluation.admin
import retrieval.readers.admin  # noqa: F401 - each registers its models
from ragsite.admin_base import RecordAdmin, column
from retrieval.models import CorpusSize, EmbeddingSpace, IndexEntry, TermFrequency


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(RecordAdmin):
    """Embedding spaces; the active one is searched."""

    list_display = ["model", "provider", "dimension", "active", "filled", "vectors", "created_at"]
    list_filter = ["provider", "active"]
    fields = ["model", "provider", "base_url", "dimension", "languages", "active", "filled", "vectors", "created_at"]

    vectors = column(_("vectors"), lambda space: space.vector_total or 0)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmbeddingSpace]:
        """Annotate the number of vectors, from the stored counts."""
        found: QuerySet[EmbeddingSpace] = super().get_queryset(request)
        return found.annotate(vector_total=Sum("counts__vectors"))


@admin.register(IndexEntry)
class IndexEntryAdmin(RecordAdmin):
    """The indexed chunks, without their terms and vectors."""

    list_display = ["number", "document", "knowledge_base"]
    list_filter = ["knowledge_base"]
    list_select_related = ["document", "knowledge_base"]
    search_fields = ["=chunk__id", "document__original_filename"]
    fields = ["chunk", "document", "knowledge_base"]

    number = column(_("chunk"), lambda entry: entry.chunk_id, ordering="chunk_id")  # without fetching the chunk

    def get_queryset(self, request: HttpRequest) -> QuerySet[IndexEntry]:
        """Defer the large columns, which no page shows."""
        return super().get_queryset(request).defer("terms", "weights")

    def page_name(self, obj: IndexEntry) -> str:
        """Return the file's name and the passage's number."""
        return f"{obj.document} · {obj.chunk.ordinal}"


@admin.register(CorpusSize)
class CorpusSizeAdmin(RecordAdmin):
    """The number of indexed chunks of each knowledge base."""

    list_display = ["knowledge_base", "chunks"]
    list_select_related = ["knowledge_base"]

    def page_name(self, obj: CorpusSize) -> str:
        """Return the knowledge base's name."""
        return str(obj.knowledge_base)


@admin.register(TermFrequency)
class TermFrequencyAdmin(RecordAdmin):
    """The number of chunks of a knowledge base that contain a term."""

    list_display = ["term", "knowledge_base", "document_frequency"]
    list_filter = ["knowledge_base"]
    list_select_related = ["knowledge_base"]
    search_fields = ["=term"]

    def page_name(self, obj: TermFrequency) -> str:
        """Return the term, as in the list."""
        return str(obj.term)
