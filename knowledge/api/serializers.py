"""The shapes of the API."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from knowledge import queries
from knowledge.api.fields import FilterField, MetadataField, TagsField
from knowledge.many import bulk
from knowledge.models import Attachment, BulkJob, Chunk, Document, KnowledgeBase, Membership
from ragsite.api.fields import ChoiceField, IdsField, IntegerField, ModelSerializer, TextField


class KnowledgeBaseSerializer(ModelSerializer[KnowledgeBase]):
    """A knowledge base; `role` is what the caller is to it."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    role = serializers.CharField(read_only=True)
    documents = serializers.IntegerField(source="document_count", read_only=True)

    class Meta:
        """What a client sees and sets."""

        model = KnowledgeBase
        fields = [
            "id", "name", "description", "visibility", "chunk_size", "chunk_overlap", "answer_from_general_knowledge",
            "owner", "role", "documents", "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields = ["id", "created_at", "updated_at"]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse an overlap as long as the chunks."""
        size = attrs.get("chunk_size", getattr(self.instance, "chunk_size", 200))
        overlap = attrs.get("chunk_overlap", getattr(self.instance, "chunk_overlap", 30))
        if overlap >= size:
            raise serializers.ValidationError({"chunk_overlap": queries.OVERLAP_TOO_LONG})
        return attrs


class MembershipSerializer(ModelSerializer[Membership]):
    """A person with whom a base is shared; who sends it may name them by their e-mail address, too."""

    username = TextField(source="user.username", max_length=254)
    user_id = serializers.IntegerField(read_only=True)

    class Meta:
        """By name in, by id and name out."""

        model = Membership
        fields = ["user_id", "username", "role", "created_at"]
        read_only_fields = ["created_at"]


class SharedGroupSerializer(ModelSerializer[Membership]):
    """A group with which a base is shared."""

    group = TextField(source="group.name", max_length=150)
    group_id = serializers.IntegerField(read_only=True)
    people = serializers.IntegerField(read_only=True, help_text="How many are in it.")

    class Meta:
        """By name in, by id and name out."""

        model = Membership
        fields = ["group_id", "group", "people", "role", "created_at"]
        read_only_fields = ["created_at"]


class ErrorSerializer(serializers.Serializer[dict[str, str]]):
    """Why an ingestion failed."""

    code = serializers.CharField()
    message = serializers.CharField()


class AttachmentSerializer(serializers.Serializer[Attachment]):
    """A file that a mail carries."""

    name = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes.")
    document = serializers.IntegerField(allow_null=True, help_text="The document made of it, if it can be read.")
    error = serializers.CharField(allow_null=True, help_text="Why it can't be read.")


class DocumentSerializer(serializers.Serializer[Document]):
    """A document and how far its ingestion has come."""

    id = serializers.IntegerField()
    filename = serializers.CharField()
    folder = serializers.CharField(help_text="Where the file lay in the folder that was taken in.")
    title = serializers.CharField(help_text="What it is called: by itself, else by its path.")
    status = serializers.ChoiceField(choices=Document.Status.choices)
    stage = serializers.CharField()
    progress = serializers.IntegerField(min_value=0, max_value=100)
    error = ErrorSerializer(allow_null=True)
    notice = serializers.CharField(help_text="What was left out of it, one notice a line; mostly empty.")
    pages = serializers.IntegerField(allow_null=True)
    chunks = serializers.IntegerField()
    attachments = AttachmentSerializer(many=True, help_text="The files that a mail carries, in its order.")
    attached_to = serializers.ListField(child=serializers.IntegerField(), help_text="The mails that carry it.")
    knowledge_base = serializers.IntegerField()
    tags = serializers.ListField(child=serializers.CharField())
    metadata = MetadataField()
    url = serializers.CharField()

    def to_representation(self, instance: Document) -> dict[str, Any]:
        """Hand on what the query says."""
        return queries.status(instance)


class AddedDocumentSerializer(DocumentSerializer):
    """What an upload came to."""

    already_here = serializers.BooleanField()


class FormatsSerializer(serializers.Serializer[Any]):
    """What can be read here, by file name extension."""

    extensions = serializers.ListField(child=serializers.CharField())
    missing = serializers.DictField(
        child=serializers.CharField(), help_text="Extensions whose files a program is missing for, and its name."
    )


class UploadSerializer(serializers.Serializer[Any]):
    """The multipart form of an upload; `file` may be repeated."""

    file = serializers.ListField(child=serializers.FileField(), allow_empty=False)
    folder = serializers.CharField(
        required=False, allow_blank=True, help_text="Where the files lay whose names hold no path."
    )
    tags = serializers.CharField(
        required=False, allow_blank=True, help_text="Of new documents, with commas between them."
    )
    metadata = serializers.CharField(
        required=False, allow_blank=True, help_text="Fields of new documents, as a JSON object."
    )


class LabelsSerializer(serializers.Serializer[Any]):
    """What is to be said of a document; what is left out stays as it is."""

    tags = TagsField(required=False, help_text="All of them, in place of those it has.")
    metadata = MetadataField(required=False, help_text="All fields, in place of those it has.")


class BulkSerializer(serializers.Serializer[Any]):
    """What is to be done to which documents of a base: those named, those a filter finds, or those of both."""

    either = ("documents", "filter")

    action = ChoiceField(choices=BulkJob.Action.choices)
    documents = IdsField(required=False, min_length=1, max_length=10_000)
    filter = FilterField(
        required=False, help_text="As in the address of the page: `q`, `state`, `type`, `tag`, `folder`; {} is all."
    )
    target = IntegerField(required=False, min_value=1, help_text="The knowledge base to move them to.")
    tags = TagsField(required=False, help_text="To add, or to remove.")
    metadata = serializers.DictField(required=False, help_text="Fields to set; null removes one.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse neither: a slip must not mean all of them."""
        if "documents" not in attrs and "filter" not in attrs:
            raise serializers.ValidationError({"documents": [_("Name either documents or a filter.")]})
        return attrs


class BulkJobSerializer(serializers.ModelSerializer[BulkJob]):
    """How far it is, and what came of it: how many were changed, and by a code those of which more is to tell."""

    told = serializers.JSONField(read_only=True)
    error = serializers.SerializerMethodField()

    class Meta:
        """What a program needs to wait for it."""

        model = BulkJob
        fields = ["id", "action", "status", "total", "done", "changed", "told", "error", "target", "created_at"]
        read_only_fields = fields

    def get_error(self, job: BulkJob) -> str:
        """Return why it ended before its time, empty where it didn't."""
        return bulk.error_of(job)


class ChunkSerializer(serializers.ModelSerializer[Chunk]):
    """A passage."""

    heading = serializers.CharField(read_only=True)
    table_columns = serializers.ListField(child=serializers.CharField(), allow_null=True, read_only=True)
    table_rows = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()), allow_null=True, read_only=True
    )
    picture_url = serializers.SerializerMethodField()

    class Meta:
        """All but what is indexed only."""

        model = Chunk
        fields = [
            "id", "ordinal", "kind", "content", "heading", "heading_path", "page_from", "page_to", "char_start",
            "char_end", "table_columns", "table_rows", "picture_url", "token_count",
        ]  # fmt: skip

    def get_picture_url(self, chunk: Chunk) -> str | None:
        """Return the address of the passage's picture."""
        return queries.picture_url(chunk)
