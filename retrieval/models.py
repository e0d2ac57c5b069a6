"""The search index: narrow rows without the text, which the documents have."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField, SparseVectorField

import retrieval.embedding_models.models
import retrieval.evaluation.models  # noqa: F401 - models of this app, too
from ragsite.language.analysis import TERM_DIMENSIONS

if TYPE_CHECKING:
    from ragsite.llm.embedding.embedding import EmbeddingModel


class EmbeddingSpace(models.Model):
    """One embedding model's coordinate system. Vectors of different spaces never meet.

    Each space has its own partition of `Vector`, named by `table_name`, with its own HNSW index, named by `index_name`.
    """

    class Provider(models.TextChoices):
        """Where the vectors are computed."""

        LOCAL = "local", _("In this process")
        OPENAI = "openai", _("OpenAI-compatible endpoint")

    provider = models.CharField(max_length=10, choices=Provider.choices)
    model = models.CharField(max_length=200)
    # For an endpoint, so that the space can still be searched if the settings name another model.
    base_url = models.CharField(max_length=500, blank=True)
    own_network = models.BooleanField(null=True, blank=True)
    encrypted_key = models.BinaryField(default=bytes, blank=True, editable=False)
    dimension = models.PositiveIntegerField()
    # Languages that the model knows ("en", "zh"); empty means every language.
    languages = ArrayField(models.CharField(max_length=10), default=list, blank=True)
    active = models.BooleanField(default=False)
    # False for an active space whose model came with an update and replaced another, until a worker has computed its
    # vectors: meanwhile new documents get vectors in it, and search uses only words.
    filled = models.BooleanField(_("all vectors computed"), default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # When another space replaced it; the latest one can be switched back to.
    left_at = models.DateTimeField(null=True, blank=True)
    # The admin's profile of the model's endpoint, set by `spaces.active_space`.
    profile: "EmbeddingModel | None" = None
    # The percentage that is filled, if it is active; set by `spaces.active_space`.
    percent = 100

    class Meta:
        """At most one space is active."""

        verbose_name = _("embedding space")
        verbose_name_plural = _("embedding spaces")
        constraints = [
            models.UniqueConstraint(fields=["provider", "model", "dimension"], name="embedding_space_unique"),
            models.UniqueConstraint(fields=["active"], condition=Q(active=True), name="one_active_embedding_space"),
            # pgvector indexes halfvec up to 4,000 dimensions.
            models.CheckConstraint(condition=Q(dimension__gte=1, dimension__lte=4000), name="embedding_dimension"),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension})"

    @property
    def table_name(self) -> str:
        """Name of the partition with the space's vectors."""
        return f"retrieval_vector_{int(self.pk)}"

    @property
    def index_name(self) -> str:
        """Name of the space's HNSW index."""
        return f"{self.table_name}_hnsw"

    @property
    def is_configured(self) -> bool:
        """Whether this is the space of the model in the settings."""
        same = (self.provider, self.model) == (settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL)
        return same and settings.EMBEDDING_DIMENSION in (None, self.dimension)

    def knows(self, language: str) -> bool:
        """Return whether the model knows a language, so that its ranking counts."""
        return not self.languages or language in self.languages


class IndexEntry(models.Model):
    """A chunk's row in the index: its terms and their BM25 weights."""

    chunk = models.OneToOneField("knowledge.Chunk", on_delete=models.CASCADE, primary_key=True, related_name="+")
    knowledge_base = models.ForeignKey("knowledge.KnowledgeBase", on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey("knowledge.Document", on_delete=models.CASCADE, related_name="+")
    terms = SearchVectorField()
    weights = SparseVectorField(dimensions=TERM_DIMENSIONS)

    class Meta:
        """Indexed by its terms."""

        verbose_name = _("index entry")
        verbose_name_plural = _("index entries")
        indexes = [GinIndex(fields=["terms"], name="retrieval_terms_gin", fastupdate=False)]

    def __str__(self) -> str:
        return str(self.chunk_id)


class Vector(models.Model):
    """An indexed chunk's vector in one space; during a switch of models a chunk has two.

    The table is partitioned by space (see migration 0004): a new space can be filled beside the one that is searched,
    and an old one is dropped at once, leaving nothing to clean up. The database deletes vectors with their entry.
    """

    pk = models.CompositePrimaryKey("entry", "space")
    entry = models.ForeignKey(IndexEntry, on_delete=models.DO_NOTHING, db_column="chunk_id", related_name="vectors")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.DO_NOTHING, db_constraint=False, related_name="vectors")
    knowledge_base = models.ForeignKey(
        "knowledge.KnowledgeBase", on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    embedding = HalfVectorField()
    # From `language_of`: similarities are compared within a language.
    language = models.CharField(max_length=10, default="", db_default="")

    class Meta:
        """Written with SQL only."""

        verbose_name = _("vector")
        verbose_name_plural = _("vectors")

    def __str__(self) -> str:
        return f"{self.entry_id} in {self.space_id}"


class VectorCount(models.Model):
    """The number of vectors of a knowledge base in a space, which decides how it is searched."""

    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE, related_name="counts")
    knowledge_base = models.ForeignKey("knowledge.KnowledgeBase", on_delete=models.CASCADE, related_name="+")
    vectors = models.IntegerField(default=0)

    class Meta:
        """Never negative."""

        verbose_name = _("vector count")
        verbose_name_plural = _("vector counts")
        constraints = [
            models.UniqueConstraint(fields=["space", "knowledge_base"], name="vector_count_unique"),
            models.CheckConstraint(condition=Q(vectors__gte=0), name="vector_count_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.space_id}/{self.knowledge_base_id}: {self.vectors}"


class TermFrequency(models.Model):
    """The number of chunks of a knowledge base that contain a term."""

    knowledge_base = models.ForeignKey("knowledge.KnowledgeBase", on_delete=models.CASCADE, related_name="+")
    term = models.BigIntegerField(help_text=_("the term's hash"))
    document_frequency = models.IntegerField()

    class Meta:
        """Never negative: a count below zero would be a bug that must not be stored."""

        verbose_name = _("term frequency")
        verbose_name_plural = _("term frequencies")
        constraints = [
            models.UniqueConstraint(fields=["knowledge_base", "term"], name="term_unique_per_base"),
            models.CheckConstraint(condition=Q(document_frequency__gte=0), name="term_frequency_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.knowledge_base_id}/{self.term}: {self.document_frequency}"


class CorpusSize(models.Model):
    """The number of indexed chunks of a knowledge base: the N of BM25."""

    knowledge_base = models.OneToOneField(
        "knowledge.KnowledgeBase", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    chunks = models.IntegerField(default=0)
    # While chunks are re-analysed for a new kind of term: the last one done, from 0. Null if all are up to date.
    analysed_to = models.BigIntegerField(null=True, blank=True)

    class Meta:
        """Never negative."""

        verbose_name = _("corpus size")
        verbose_name_plural = _("corpus sizes")
        constraints = [models.CheckConstraint(condition=Q(chunks__gte=0), name="corpus_size_not_negative")]

    def __str__(self) -> str:
        return f"{self.knowledge_base_id}: {self.chunks}"
