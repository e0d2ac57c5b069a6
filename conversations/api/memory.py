"""REST endpoints for the caller's remembered facts and the summaries of their chats."""

from typing import Any

from django.conf import settings
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access, turn_store
from conversations.api.memory_serializers import (
    FactSerializer,
    InstructionsSerializer,
    MemorySerializer,
    MemorySwitchSerializer,
    RestoreSerializer,
    SummarySerializer,
    SummaryVersionSerializer,
)
from conversations.history import branch_of
from conversations.instructions import texts
from conversations.memory import facts, summaries
from conversations.models import ChatSession, ContextEntry
from knowledge.access import key
from ragsite.api.base import ID, ApiErrorSerializer, counted, validated

_BRANCH = OpenApiParameter("turn_id", ID, description="The end of the branch; by default, the newest turn.")


class Memory(APIView):
    """The caller's memory."""

    @extend_schema(responses=MemorySerializer)
    def get(self, request: Request) -> Response:
        """Return whether memory is on, and all facts, oldest first."""
        return Response(_memory(request.user))

    @extend_schema(request=MemorySwitchSerializer, responses={200: MemorySerializer})
    def put(self, request: Request) -> Response:
        """Switch memory on or off; facts are kept."""
        given = validated(MemorySwitchSerializer(data=request.data))
        facts.switch(key(request.user), given["enabled"])
        return Response(_memory(request.user))


class OwnInstructions(APIView):
    """How the caller wants all their answers written."""

    @extend_schema(responses=InstructionsSerializer)
    def get(self, request: Request) -> Response:
        """Return the instructions; empty for no wish."""
        return Response({"instructions": texts.own_instructions(key(request.user))})

    @extend_schema(request=InstructionsSerializer, responses=InstructionsSerializer)
    def put(self, request: Request) -> Response:
        """Replace the instructions."""
        given = validated(InstructionsSerializer(data=request.data))["instructions"]
        return Response({"instructions": texts.set_own_instructions(key(request.user), given)})


class MemoryFacts(APIView):
    """All facts of the caller."""

    @extend_schema(request=FactSerializer, responses={201: FactSerializer, 409: ApiErrorSerializer})
    def post(self, request: Request) -> Response:
        """Add a fact."""
        fact = facts.remember(key(request.user), validated(FactSerializer(data=request.data))["content"])
        return Response(FactSerializer(fact).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="memory_facts_destroy_all", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Delete all facts."""
        facts.delete_all_facts(request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MemoryFact(APIView):
    """One fact of the caller."""

    @extend_schema(request=FactSerializer, responses={200: FactSerializer, 409: ApiErrorSerializer})
    def put(self, request: Request, pk: int) -> Response:
        """Change the fact's text."""
        fact = facts.get_fact(request.user, pk)
        facts.change(fact, validated(FactSerializer(data=request.data))["content"])
        return Response(FactSerializer(fact).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the fact."""
        facts.delete_fact(request.user, pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(parameters=[_BRANCH])
class SessionSummary(APIView):
    """The summary that a model gets instead of the beginning of a long branch."""

    @extend_schema(responses={200: SummarySerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return the summary."""
        _branch, entry = _summary(request, pk)
        return Response(SummarySerializer(entry).data)

    @extend_schema(request=SummarySerializer, responses={200: SummarySerializer})
    def put(self, request: Request, pk: int) -> Response:
        """Change the summary's text; the next summary continues from it."""
        _branch, entry = _summary(request, pk)
        summaries.edit(entry, validated(SummarySerializer(data=request.data))["content"])
        return Response(SummarySerializer(entry).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Clear the summary; its content isn't summarised again."""
        branch, entry = _summary(request, pk)
        summaries.clear(entry.session_id, branch)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SummaryVersions(generics.ListAPIView[Any]):
    """The versions of a branch's summary: earlier summaries, and the texts before edits."""

    serializer_class = SummaryVersionSerializer
    queryset = ChatSession.objects.none()
    pagination_class = None
    orderings = {"version": ("number",)}
    since = "written_at"

    def get_queryset(self) -> Any:
        """Return the versions, newest first; 404 for someone else's session."""
        session, branch = _branch(self.request, self.kwargs["pk"])
        return summaries.versions(session.pk, branch)[::-1]

    @extend_schema(parameters=[_BRANCH])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the versions, by default newest first; empty without a summary, or if it was cleared."""
        return super().get(request, *args, **kwargs)


@extend_schema(parameters=[_BRANCH])
class SummaryRestore(APIView):
    """Restoring a version."""

    @extend_schema(request=RestoreSerializer, responses={200: SummarySerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Make a version the current summary; the text before is kept as a version."""
        session, branch = _branch(request, pk)
        number = validated(RestoreSerializer(data=request.data))["version"]
        entry = summaries.restore(session.pk, branch, number)
        if entry is None:
            raise Http404(_("This summary has no such version."))
        return Response(SummarySerializer(entry).data)


def _memory(user: Any) -> dict[str, Any]:
    listed = FactSerializer(facts.facts_of(user), many=True).data
    return {"enabled": facts.is_memory_on(user.pk), "limit": settings.MEMORY_MAX_FACTS, "facts": listed}


def _branch(request: Request, pk: int) -> tuple[ChatSession, list[int]]:
    session = access.get_session(request.user, pk)
    return session, branch_of(session.pk, counted(request, "turn_id") or turn_store.default_parent(session.pk))


def _summary(request: Request, pk: int) -> tuple[list[int], ContextEntry]:
    session, branch = _branch(request, pk)
    entry = summaries.entry_of(session.pk, branch)
    if entry is None:
        raise Http404(_("This chat has no summary."))
    return branch, entry
