"""REST endpoints for sharing and exporting chats."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access
from conversations.api.files import KeepSerializer
from conversations.api.serializers import (
    MessageSerializer,
    QuotingLinkSerializer,
    SessionExportSerializer,
    SessionFileSerializer,
    SessionSerializer,
    ShareLinkCreateSerializer,
    ShareLinkSerializer,
)
from conversations.files import chat_files
from conversations.models import ChatSession, ShareLink
from conversations.sharing import export, links, notes
from knowledge import access as knowledge_access
from knowledge import queries
from knowledge.api.serializers import AddedDocumentSerializer
from knowledge.models import KnowledgeBase
from ragsite.api.async_views import FirstRenderer
from ragsite.api.base import ID, ApiErrorSerializer, Conflict, counted, validated
from ragsite.audit.log import record
from ragsite.models import AuditEntry
from ragsite.requests import absolute

_MARKDOWN: dict[Any, Any] = {(200, "text/markdown"): OpenApiTypes.STR}


class MessageNote(APIView):
    """Saving an answer as a document."""

    @extend_schema(
        request=KeepSerializer,
        responses={202: AddedDocumentSerializer, 403: ApiErrorSerializer, 409: ApiErrorSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Add the question, the answer and its sources to a knowledge base, as a Markdown document.

        It is processed like an upload. 409 if the answer is empty or still being written.
        """
        message = access.get_message(request.user, pk)
        given = validated(KeepSerializer(data=request.data))
        base = knowledge_access.get_editable_knowledge_base(request.user, given["knowledge_base"])
        added = notes.save_note(request.user, message, base, absolute(request, "/").rstrip("/"))
        body = queries.status(added.document) | {"already_here": added.already_here}
        return Response(body, status=status.HTTP_202_ACCEPTED)


class SessionLinks(generics.ListAPIView[ShareLink]):
    """The active links to a session of the caller."""

    serializer_class = ShareLinkSerializer
    queryset = ShareLink.objects.none()

    def get_queryset(self) -> QuerySet[ShareLink]:
        """Return the links, newest first; 404 for someone else's session."""
        session = access.get_session(self.request.user, self.kwargs["session_id"])
        return access.share_links(self.request.user).filter(session=session)

    @extend_schema(request=ShareLinkCreateSerializer, responses={201: ShareLinkSerializer, 409: ApiErrorSerializer})
    def post(self, request: Request, session_id: int) -> Response:
        """Share a branch up to a turn; an existing link to it is returned again."""
        session = access.get_session(request.user, session_id)
        last_turn_id = validated(ShareLinkCreateSerializer(data=request.data))["last_turn_id"]
        try:
            link = links.create_link(session, last_turn_id)
        except links.NothingToShare:
            if last_turn_id is None:
                raise Conflict(_("There is nothing to share yet. Ask something first.")) from None
            raise NotFound(_("The turn to share up to is not in this chat.")) from None
        body = ShareLinkSerializer(link, context={"request": request}).data
        return Response(body, status=status.HTTP_201_CREATED)


class LinkDetail(APIView):
    """A link of the caller."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, uuid: uuid.UUID) -> Response:
        """Revoke the link permanently."""
        links.revoke(access.get_share_link(request.user, uuid))
        return Response(status=status.HTTP_204_NO_CONTENT)


class QuotingLinks(generics.ListAPIView[Any]):
    """The active links of all users that quote a knowledge base of the caller."""

    serializer_class = QuotingLinkSerializer
    queryset = KnowledgeBase.objects.none()
    pagination_class = None
    orderings = {"created_at": ("link.created_at",), "quotations": ("quotations", "link.created_at")}
    since = "link.created_at"

    def get_queryset(self) -> Any:
        """Return the links, newest first; 404 for someone else's base."""
        return links.links_quoting(knowledge_access.get_owned_knowledge_base(self.request.user, self.kwargs["pk"]))

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the links, by default newest first."""
        return super().get(request, *args, **kwargs)


class QuotingLinkDetail(APIView):
    """A link that quotes a knowledge base of the caller."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int, uuid: uuid.UUID) -> Response:
        """Revoke the link permanently."""
        base = knowledge_access.get_owned_knowledge_base(request.user, pk)
        links.revoke(links.get_link_quoting(base, uuid))
        return Response(status=status.HTTP_204_NO_CONTENT)


def exported(session: ChatSession) -> dict[str, Any]:
    """Return a session as serialized by the API, with the messages of all branches."""
    messages, left_out = export.messages(session)
    return {
        "exported_at": timezone.now(),
        "session": SessionSerializer(session).data,
        "files": SessionFileSerializer(chat_files.files_of(session), many=True).data,
        "messages": MessageSerializer(messages, many=True).data,
        "note": left_out,
    }


class ExportJson(APIView):
    """A session as data."""

    @extend_schema(responses={200: SessionExportSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return the session with the messages of all branches."""
        session = access.get_session(request.user, pk)
        record(AuditEntry.Action.EXPORTED, session, name=f"#{session.pk}", format="json")
        return Response(exported(session))


class ExportMarkdown(APIView):
    """A session as readable text."""

    content_negotiation_class = FirstRenderer

    @extend_schema(
        parameters=[OpenApiParameter("turn", ID, description="a turn of the branch; by default, of the newest branch")],
        responses=_MARKDOWN,
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        """Return one branch as Markdown: quoted questions, answers and their sources."""
        session = access.get_session(request.user, pk)
        turn = counted(request, "turn")
        text = export.markdown(session, turn, absolute(request, "/").rstrip("/"))
        return export.as_file(HttpResponse(text, content_type="text/markdown; charset=utf-8"), session, "md")
