"""API views of knowledge bases, members and documents."""

import json
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from knowledge import access, queries, services
from knowledge.api.fields import CHOICES, check_choices
from knowledge.api.serializers import (
    AddedDocumentSerializer,
    BulkJobSerializer,
    BulkSerializer,
    ChunkSerializer,
    DocumentSerializer,
    FormatsSerializer,
    KnowledgeBaseSerializer,
    LabelsSerializer,
    MembershipSerializer,
    SharedGroupSerializer,
    UploadSerializer,
)
from knowledge.explanations import explain
from knowledge.labels import LabelError, clean_metadata, tags_in
from knowledge.many import bulk
from knowledge.many.table import View
from knowledge.models import BulkJob, Chunk, Document, KnowledgeBase, Membership
from knowledge.parsing import registry
from knowledge.web import files
from ragsite.api.base import ApiErrorSerializer, Conflict, validated
from ragsite.api.uploads import MultiPartParser

_STATES: list[str] = Document.Status.values


@extend_schema_view(post=extend_schema(responses={201: KnowledgeBaseSerializer, 409: ApiErrorSerializer}))
class KnowledgeBaseList(generics.ListCreateAPIView[KnowledgeBase]):
    """List the knowledge bases that the caller may read, and create them."""

    serializer_class = KnowledgeBaseSerializer
    queryset = KnowledgeBase.objects.none()

    def get_queryset(self) -> QuerySet[KnowledgeBase]:
        """Return the user's own, shared and open bases, by name."""
        return queries.knowledge_bases(self.request.user)

    def perform_create(self, serializer: BaseSerializer[KnowledgeBase]) -> None:
        """Create the base for the caller."""
        made = services.create_knowledge_base(self.request.user, **serializer.validated_data)
        serializer.instance = queries.knowledge_bases(self.request.user).get(pk=made.pk)


@extend_schema_view(
    put=extend_schema(responses={200: KnowledgeBaseSerializer, 409: ApiErrorSerializer}),
    patch=extend_schema(responses={200: KnowledgeBaseSerializer, 409: ApiErrorSerializer}),
)
class KnowledgeBaseDetail(generics.RetrieveUpdateDestroyAPIView[KnowledgeBase]):
    """A knowledge base, which its owner may change and delete."""

    serializer_class = KnowledgeBaseSerializer
    queryset = KnowledgeBase.objects.none()

    def get_object(self) -> KnowledgeBase:
        """Return the base with its counts; 404 without access, 403 for readers who try to change it."""
        pk = self.kwargs["pk"]
        if self.request.method in ("GET", "HEAD", "OPTIONS"):
            access.get_knowledge_base(self.request.user, pk)
        else:
            access.get_owned_knowledge_base(self.request.user, pk)
        return queries.knowledge_bases(self.request.user).get(pk=pk)

    def perform_update(self, serializer: BaseSerializer[KnowledgeBase]) -> None:
        """Update the given fields."""
        assert serializer.instance is not None
        serializer.instance = services.update_knowledge_base(serializer.instance, **serializer.validated_data)

    def perform_destroy(self, instance: KnowledgeBase) -> None:
        """Delete the base and everything in it."""
        services.delete_knowledge_base(instance)


class MemberList(generics.ListAPIView[Membership]):
    """List the people that a base is shared with, and share it, as its owner, with others."""

    serializer_class = MembershipSerializer
    queryset = Membership.objects.none()

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the members by name."""
        base = access.get_knowledge_base(self.request.user, self.kwargs["pk"])
        return queries.members(base).filter(user__isnull=False)

    @extend_schema(responses={201: MembershipSerializer, 409: ApiErrorSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Share with a user by name, or change their role; permission is checked before the data."""
        base = access.get_owned_knowledge_base(request.user, pk)
        given = validated(MembershipSerializer(data=request.data))
        shared = services.set_member(base, given["user"]["username"], given.get("role", Membership.Role.VIEWER))
        return Response(MembershipSerializer(shared).data, status=status.HTTP_201_CREATED)


class MemberDetail(APIView):
    """A person that a base is shared with."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int, user_id: int) -> Response:
        """Stop sharing with this person."""
        base = access.get_owned_knowledge_base(request.user, pk)
        if not services.remove_member(base, user_id):
            raise NotFound(_("It is not shared with this user."))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SharedGroupList(generics.ListAPIView[Membership]):
    """List the groups that a base is shared with, and share it with others."""

    serializer_class = SharedGroupSerializer
    queryset = Membership.objects.none()

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the groups by name."""
        return queries.members(access.get_knowledge_base(self.request.user, self.kwargs["pk"])).filter(user=None)

    @extend_schema(responses={201: SharedGroupSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Share with a group by name, or change its role; permission is checked before the data."""
        base = access.get_owned_knowledge_base(request.user, pk)
        given = validated(SharedGroupSerializer(data=request.data))
        shared = services.set_group(base, given["group"]["name"], given.get("role", Membership.Role.VIEWER))
        listed = queries.members(base).get(pk=shared.pk)
        return Response(SharedGroupSerializer(listed).data, status=status.HTTP_201_CREATED)


class SharedGroupDetail(APIView):
    """A group that a base is shared with."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int, group_id: int) -> Response:
        """Stop sharing with this group; people in it who are also members by name keep their access."""
        base = access.get_owned_knowledge_base(request.user, pk)
        if not services.remove_group(base, group_id):
            raise NotFound(_("It is not shared with this group."))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DocumentList(generics.ListAPIView[Document]):
    """List the documents of a base, and upload files to it."""

    serializer_class = DocumentSerializer
    queryset = Document.objects.none()
    parser_classes = [MultiPartParser]

    def get_queryset(self) -> QuerySet[Document]:
        """Return the documents, newest first unless `?sort=` is given, filtered as on the page or by `?status=`."""
        found = queries.documents_of(access.get_knowledge_base(self.request.user, self.kwargs["pk"]))
        given = self.request.query_params.dict()
        check_choices(given)
        view = View.read(given)
        found = view.order(view.narrow(found))
        found = found.prefetch_related("attachments__document", "carried_by")
        wanted = self.request.query_params.get("status")
        if wanted is None:
            return found
        if wanted not in Document.Status:
            raise ValidationError({"status": [_("Must be one of: {values}.").format(values=", ".join(_STATES))]})
        return found.filter(status=wanted)

    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="Words in titles, file names or folders."),
            OpenApiParameter("status", str, enum=_STATES),
            OpenApiParameter("state", str, enum=CHOICES["state"]),
            OpenApiParameter("type", str, enum=CHOICES["type"], description="A format."),
            OpenApiParameter("tag", str),
            OpenApiParameter("folder", str, description="A folder, including its subfolders."),
            OpenApiParameter("sort", str, enum=CHOICES["sort"], description="Prefix with - to reverse the order."),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the documents, newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request={"multipart/form-data": UploadSerializer}, responses={202: AddedDocumentSerializer(many=True)}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Add one or more files (`file`, repeatable). If one is too large (413) or has a format that can't be read
        (415, see `/formats`), none is added.

        A file's folder is taken from a path in its name ("guide/admin/setup.md"), or else from the field `folder`.
        """
        base = access.get_editable_knowledge_base(request.user, pk)
        services.check_body(base.owner_id, int(request.META.get("CONTENT_LENGTH") or 0))
        uploads, folder = request.FILES.getlist("file"), request.POST.get("folder", "")
        labels = _labels(request)
        if not uploads:
            raise ValidationError({"file": [_("No file was sent.")]}, code="no_file")
        for upload in uploads:
            services.check_size(upload.name or "", upload.size or 0)
            services.check_format(upload.name or "", upload)
        added = [
            services.add_document(
                base, request.user, upload.name or "", upload, getattr(upload, "folder", "") or folder, **labels
            )
            for upload in uploads
        ]
        body = [queries.status(item.document) | {"already_here": item.already_here} for item in added]
        return Response(body, status=status.HTTP_202_ACCEPTED)


class BulkJobs(APIView):
    """Change many documents at once."""

    statuses = {"too_many": 400}

    @extend_schema(request=BulkSerializer, responses={200: BulkJobSerializer, 202: BulkJobSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Run the job, or queue it if there are many documents (202); poll it until it is `done` or `failed`."""
        base = access.get_editable_knowledge_base(request.user, pk)
        given = validated(BulkSerializer(data=request.data))
        target = access.get_editable_knowledge_base(request.user, given["target"]) if "target" in given else None
        wanted = base.documents.all()
        if "documents" in given:
            wanted = wanted.filter(pk__in=given["documents"])
        if "filter" in given:
            wanted = View.read(given["filter"]).narrow(wanted)
        ids = list(wanted.order_by().values_list("pk", flat=True))
        asked = {name: given[name] for name in ("tags", "metadata") if name in given}
        try:
            job = bulk.start(request.user, base, given["action"], ids, target=target, **asked)
        except LabelError as error:
            raise ValidationError({"metadata": [str(error)]}) from None
        unfinished = job.status in BulkJob.UNFINISHED
        return Response(BulkJobSerializer(job).data, status=status.HTTP_202_ACCEPTED if unfinished else 200)


class BulkJobDetail(APIView):
    """The progress of a bulk job."""

    @extend_schema(responses=BulkJobSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the job, for readers of its knowledge base."""
        return Response(BulkJobSerializer(access.get_bulk_job(request.user, pk)).data)


class FormatList(APIView):
    """The file formats that can be read."""

    @extend_schema(responses=FormatsSerializer)
    def get(self, request: Request) -> Response:
        """List the extensions of files that can be read, and why some can't; check before sending a large file."""
        missing = {extension: explain(error.key, **error.params) for extension, error in registry.missing().items()}
        return Response({"extensions": registry.extensions(), "missing": missing})


class DocumentDetail(APIView):
    """A document's status, tags and fields, and its deletion."""

    @extend_schema(responses=DocumentSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the document's status and progress."""
        return Response(queries.status(access.get_document(request.user, pk)))

    @extend_schema(request=LabelsSerializer, responses=DocumentSerializer)
    def patch(self, request: Request, pk: int) -> Response:
        """Set the document's tags and fields, by which a search can be narrowed."""
        document = access.get_editable_document(request.user, pk)
        given = validated(LabelsSerializer(data=request.data))
        services.label(document, given.get("tags", document.tags), given.get("metadata", document.metadata))
        return Response(queries.status(document))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the document with its passages, pictures and files, and a mail with its attachments."""
        services.delete_document(access.get_editable_document(request.user, pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ChunkList(generics.ListAPIView[Chunk]):
    """The passages of a document."""

    serializer_class = ChunkSerializer
    queryset = Chunk.objects.none()

    def get_queryset(self) -> QuerySet[Chunk]:
        """Return the chunks in document order."""
        return access.get_document(self.request.user, self.kwargs["pk"]).chunks.all()


class DocumentFile(APIView):
    """The file as it was uploaded."""

    @extend_schema(responses={(200, "application/octet-stream", "*/*"): OpenApiTypes.BINARY})
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """Return the bytes."""
        http_request: HttpRequest = request._request
        return files.document_response(http_request, access.get_document(request.user, pk), download=True)


class Reingest(APIView):
    """Read a document again."""

    @extend_schema(request=None, responses={202: DocumentSerializer, 409: ApiErrorSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Queue the document; 409 while it is waiting or being read, or if it comes from a corpus and has no file."""
        document = access.get_editable_document(request.user, pk)
        if not document.file:
            raise Conflict(_("This passage came with a corpus; there is no file to read again."), code="no_file")
        if not services.reingest_document(document):
            raise Conflict(_("This document is already being read."), code="busy")
        return _state(document, status.HTTP_202_ACCEPTED)


class Cancel(APIView):
    """Cancel an ingestion."""

    @extend_schema(request=None, responses={200: DocumentSerializer, 409: ApiErrorSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Cancel the ingestion; 409 if there is nothing to cancel."""
        document = access.get_editable_document(request.user, pk)
        if not services.cancel_document(document):
            raise Conflict(_("This document is not being read."), code="not_running")
        return _state(document, status.HTTP_200_OK)


def _labels(request: Request) -> dict[str, Any]:
    """Return the tags and fields of new documents from a form; raises `ValidationError`."""
    try:
        given = request.POST.get("metadata", "")
        return {"tags": tags_in(request.POST.get("tags", "")), "metadata": clean_metadata(json.loads(given or "{}"))}
    except (ValueError, RecursionError) as error:
        message = str(error) if isinstance(error, LabelError) else _("The fields are not valid JSON.")
        raise ValidationError({"metadata": [message]}) from None


def _state(document: Document, code: int) -> Response:
    document.refresh_from_db()
    return Response(queries.status(document), status=code)
