"""REST endpoints for the files of a chat."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access
from conversations.files import chat_files
from knowledge import queries
from knowledge.access import get_editable_knowledge_base
from knowledge.api.serializers import AddedDocumentSerializer, DocumentSerializer
from knowledge.models import Document
from knowledge.services import check_body, check_format, check_size
from ragsite.api.base import ApiErrorSerializer, validated
from ragsite.api.fields import IntegerField
from ragsite.api.uploads import MultiPartParser


class ChatUploadSerializer(serializers.Serializer[Any]):
    """One or more files in a form: `file`, repeatable."""

    file = serializers.FileField()


class KeepSerializer(serializers.Serializer[Any]):
    """The knowledge base to keep a file in."""

    knowledge_base = IntegerField(min_value=1, help_text="A knowledge base whose documents the caller can change.")


class SessionFiles(generics.ListAPIView[Document]):
    """The files of a session. They belong only to it: no base lists them, and no other search finds them."""

    serializer_class = DocumentSerializer
    queryset = Document.objects.none()
    pagination_class = None
    parser_classes = [MultiPartParser]
    orderings = {"created_at": ("created_at", "id"), "filename": (Lower("original_filename"), "id")}
    since = "created_at"

    def get_queryset(self) -> QuerySet[Document]:
        """Return the files in upload order; 404 for someone else's session."""
        session = access.get_session(self.request.user, self.kwargs["pk"])
        return chat_files.files_of(session).prefetch_related("attachments__document", "carried_by")

    @extend_schema(operation_id="chat_sessions_files_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the files, by default in upload order; those that are `failed` include the reason.

        `created_at` and `since` are about the time at which a file was added.
        """
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request={"multipart/form-data": ChatUploadSerializer},
        responses={202: AddedDocumentSerializer(many=True), 409: ApiErrorSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Add files to the session. They are processed immediately and always searched.

        Questions asked in the meantime wait for them. If one is too large (413) or of an unsupported format (415, see
        `/formats`), or if there are too many for the session (409), none is added.
        """
        session = access.get_session(request.user, pk)
        check_body(session.owner_id, int(request.META.get("CONTENT_LENGTH") or 0))
        uploads = request.FILES.getlist("file")
        if not uploads:
            raise ValidationError({"file": [_("No file was sent.")]}, code="no_file")
        chat_files.check_room(session, len(uploads))
        for upload in uploads:
            check_size(upload.name or "", upload.size or 0)
            check_format(upload.name or "", upload)
        added = [chat_files.attach(request.user, session, upload.name or "", upload) for upload in uploads]
        body = [queries.status(item.document) | {"already_here": item.already_here} for item in added]
        return Response(body, status=status.HTTP_202_ACCEPTED)


class SessionFile(APIView):
    """One file of a session."""

    @extend_schema(operation_id="chat_sessions_files_retrieve", responses=DocumentSerializer)
    def get(self, request: Request, pk: int, document_id: int) -> Response:
        """Return the file and its progress."""
        session = access.get_session(request.user, pk)
        return Response(queries.status(chat_files.get_file(session, document_id)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int, document_id: int) -> Response:
        """Delete the file permanently; old answers keep their quotations from it."""
        chat_files.remove(access.get_session(request.user, pk), document_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class KeepSessionFile(APIView):
    """Keeping a file in a knowledge base."""

    @extend_schema(request=KeepSerializer, responses={200: DocumentSerializer, 409: ApiErrorSerializer})
    def post(self, request: Request, pk: int, document_id: int) -> Response:
        """Move the file into a knowledge base. It isn't processed again and keeps its id; people who can read the base
        can then read it.

        409 while it is being processed, and if the base already contains an identical file.
        """
        session = access.get_session(request.user, pk)
        chat_files.get_file(session, document_id)
        given = validated(KeepSerializer(data=request.data))
        base = get_editable_knowledge_base(request.user, given["knowledge_base"])
        return Response(queries.status(chat_files.keep(session, document_id, base)))
