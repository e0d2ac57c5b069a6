"""Serializers of knowledge bases, documents and passages."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from knowledge import queries
from knowledge.api.fields import FilterField, MetadataField, TagsField
from knowledge.many import bulk
from knowledge.models import Attachment, BulkJob, Chunk, Document, KnowledgeBase, Membership
from ragsite.api.fields import ChoiceField, IdsField, IntegerField, ModelSerializer, TextField


class KnowledgeBaseSerializer(ModelSerializer[KnowledgeBase]):
    """A knowledge base, with the caller's `role`."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    role = serializers.CharField(read_only=True)
    documents = serializers.IntegerField(source="document_count", read_only=True)

    class Meta:
        """The fields that a client reads and writes."""

        model = KnowledgeBase
        fields = [
            "id", "name", "description", "visibility", "chunk_size", "chunk_overlap", "answer_from_general_knowledge",
            "owner", "role", "documents", "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields = ["id", "created_at", "updated_at"]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse an overlap that is as long as the chunks, or longer."""
        size = attrs.get("chunk_size", getattr(self.instance, "chunk_size", 200))
        overlap = attrs.get("chunk_overlap", getattr(self.instance, "chunk_overlap", 30))
        if overlap >= size:
            raise serializers.ValidationError({"chunk_overlap": queries.OVERLAP_TOO_LONG})
        return attrs


class MembershipSerializer(ModelSerializer[Membership]):
    """A person that a base is shared with; requests may also give their e-mail address as the username."""

    username = TextField(source="user.username", max_length=254)
    user_id = serializers.IntegerField(read_only=True)

    class Meta:
        """Names in requests, ids and names in responses."""

        model = Membership
        fields = ["user_id", "username", "role", "created_at"]
        read_only_fields = ["created_at"]


class SharedGroupSerializer(ModelSerializer[Membership]):
    """A group that a base is shared with."""

    group = TextField(source="group.name", max_length=150)
    group_id = serializers.IntegerField(read_only=True)
    people = serializers.IntegerField(read_only=True, help_text="The number of its members.")

    class Meta:
        """Names in requests, ids and names in responses."""

        model = Membership
        fields = ["group_id", "group", "people", "role", "created_at"]
        read_only_fields = ["created_at"]


class ErrorSerializer(serializers.Serializer[dict[str, str]]):
    """The reason why an ingestion failed."""

    code = serializers.CharField()
    message = serializers.CharField()


class AttachmentSerializer(serializers.Serializer[Attachment]):
    """A file attached to a mail."""

    name = serializers.CharField()
    size = serializers.IntegerField(help_text="In bytes.")
    document = serializers.IntegerField(allow_null=True, help_text="The document created from it, if it can be read.")
    error = serializers.CharField(allow_null=True, help_text="Why it can't be read.")


class DocumentSerializer(serializers.Serializer[Document]):
    """A document and the progress of its ingestion."""

    id = serializers.IntegerField()
    filename = serializers.CharField()
    folder = serializers.CharField(help_text="The path of its folder within the folder that was added.")
    title = serializers.CharField(help_text="The title given in the document, or else its path.")
    status = serializers.ChoiceField(choices=Document.Status.choices)
    stage = serializers.CharField()
    progress = serializers.IntegerField(min_value=0, max_value=100)
    error = ErrorSerializer(allow_null=True)
    notice = serializers.CharField(help_text="What was left out of it, one notice per line; usually empty.")
    pages = serializers.IntegerField(allow_null=True)
    chunks = serializers.IntegerField()
    attachments = AttachmentSerializer(many=True, help_text="The files attached to a mail, in order.")
    attached_to = serializers.ListField(child=serializers.IntegerField(), help_text="The mails that it is attached to.")
    knowledge_base = serializers.IntegerField()
    tags = serializers.ListField(child=serializers.CharField())
    metadata = MetadataField()
    url = serializers.CharField()

    def to_representation(self, instance: Document) -> dict[str, Any]:
        """Return the document's status."""
        return queries.status(instance)


class AddedDocumentSerializer(DocumentSerializer):
    """The document of an uploaded file."""

    already_here = serializers.BooleanField()


class FormatsSerializer(serializers.Serializer[Any]):
    """The file name extensions that can be read."""

    extensions = serializers.ListField(child=serializers.CharField())
    missing = serializers.DictField(
        child=serializers.CharField(),
        help_text="Extensions that can't be read because a program is missing, with the reason.",
    )


class UploadSerializer(serializers.Serializer[Any]):
    """The multipart form of an upload; `file` may be repeated."""

    file = serializers.ListField(child=serializers.FileField(), allow_empty=False)
    folder = serializers.CharField(
        required=False, allow_blank=True, help_text="The folder of files whose names contain no path."
    )
    tags = serializers.CharField(
        required=False, allow_blank=True, help_text="Tags of new documents, separated by commas."
    )
    metadata = serializers.CharField(
        required=False, allow_blank=True, help_text="Fields of new documents, as a JSON object."
    )


class LabelsSerializer(serializers.Serializer[Any]):
    """Tags and fields of a document; those left out stay as they are."""

    tags = TagsField(required=False, help_text="All its tags; they replace the existing ones.")
    metadata = MetadataField(required=False, help_text="All its fields; they replace the existing ones.")


class BulkSerializer(serializers.Serializer[Any]):
    """An action on documents of a base: those listed, those that match a filter, or those that meet both."""

    either = ("documents", "filter")

    action = ChoiceField(choices=BulkJob.Action.choices)
    documents = IdsField(required=False, min_length=1, max_length=10_000)
    filter = FilterField(
        required=False,
        help_text="As in the address of the page: `q`, `state`, `type`, `tag`, `folder`; {} selects all.",
    )
    target = IntegerField(required=False, min_value=1, help_text="The knowledge base to move them to.")
    tags = TagsField(required=False, help_text="The tags to add or to remove.")
    metadata = serializers.DictField(required=False, help_text="Fields to set; null removes one.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of the two: a mistake must not select all documents."""
        if "documents" not in attrs and "filter" not in attrs:
            raise serializers.ValidationError({"documents": [_("Give documents or a filter.")]})
        return attrs


class BulkJobSerializer(serializers.ModelSerializer[BulkJob]):
    """The progress and the outcome of a bulk job: how many documents changed, and those with messages, by code."""

    told = serializers.JSONField(read_only=True)
    error = serializers.SerializerMethodField()

    class Meta:
        """The fields that a client needs to wait for the job."""

        model = BulkJob
        fields = ["id", "action", "status", "total", "done", "changed", "told", "error", "target", "created_at"]
        read_only_fields = fields

    def get_error(self, job: BulkJob) -> str:
        """Return why the job ended early, or an empty string."""
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
        """All fields but those used only for indexing."""

        model = Chunk
        fields = [
            "id", "ordinal", "kind", "content", "heading", "heading_path", "page_from", "page_to", "char_start",
            "char_end", "table_columns", "table_rows", "picture_url", "token_count",
        ]  # fmt: skip

    def get_picture_url(self, chunk: Chunk) -> str | None:
        """Return the address of the passage's picture."""
        return queries.picture_url(chunk)
