"""REST endpoints for sessions, messages and related objects."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access, queries, services, turn_store
from conversations.api.serializers import (
    AssistantDetailSerializer,
    AssistantSerializer,
    CitationSerializer,
    DoneSerializer,
    FeedbackSerializer,
    LabelSerializer,
    ListedSerializer,
    MessageSerializer,
    OfferedModelSerializer,
    RegenerateSerializer,
    SessionCreatedSerializer,
    SessionCreateSerializer,
    SessionDetailSerializer,
    SessionSerializer,
    SessionUpdateSerializer,
    StartedSerializer,
    TraceSerializer,
)
from conversations.assistants import choice, in_force
from conversations.instructions import texts
from conversations.models import ChatLabel, ChatSession, Citation
from conversations.prompts import active
from conversations.turns import lifecycle, redaction
from conversations.turns.lifecycle import Started
from knowledge.access import readable_document_ids, readable_ids
from ragsite.api.async_views import AsyncAPIView
from ragsite.api.base import ApiErrorSerializer, Conflict, validated
from ragsite.db import context_of_its_own

_beginning: set[asyncio.Task[Started]] = set()


async def begun(start: Coroutine[Any, Any, Started]) -> Started:
    """Wait for a turn to begin; raises `TurnRefused`.

    If the client disconnects in this moment, the turn begins nevertheless.
    """
    task = asyncio.create_task(start, context=context_of_its_own())
    _beginning.add(task)
    task.add_done_callback(_beginning.discard)
    return await asyncio.shield(task)


def language() -> str:
    """Return the language of the request, which is used for the names of steps."""
    return get_language() or "en"


def done(message: str, success: bool = True) -> Response:
    """Answer `{"success", "message"}`."""
    return Response({"success": success, "message": message})


class SessionList(generics.ListAPIView[ChatSession]):
    """The caller's sessions, by default pinned first, then by newest activity."""

    serializer_class = SessionSerializer
    orderings = {"chat_time": ("last_activity_at", "id"), "created_at": ("created_at", "id")}
    since = "last_activity_at"

    def get_queryset(self) -> QuerySet[ChatSession]:
        """Return the sessions with their listed fields; with `?q=`, those that contain every word."""
        wanted = validated(ListedSerializer(data=self.request.query_params))
        words, archived = wanted.get("q", ""), wanted.get("archived")
        found = queries.search_sessions(
            self.request.user,
            words,
            archived=archived if archived is not None or words.strip() else False,
            label_id=wanted.get("label"),
        )
        return found.select_related("model").prefetch_related("knowledge_bases", "documents", "labels")

    @extend_schema(
        parameters=[ListedSerializer], responses={200: SessionSerializer(many=True), 400: ApiErrorSerializer}
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the sessions."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=SessionCreateSerializer, responses={201: SessionCreatedSerializer, 404: ApiErrorSerializer})
    def post(self, request: Request) -> Response:
        """Create a session."""
        given = validated(SessionCreateSerializer(data=request.data))
        bases, documents = _asked(request.user, given)
        narrowed, folder = (given.get("tags", []), given.get("metadata", {})), given.get("folder", "")
        with transaction.atomic():
            session = services.create_session(request.user, given["chat_title"], bases, documents, narrowed, folder)
            _choose(request.user, session, given)
        body = {"success": True, "session_id": session.pk, "chat_title": session.name}
        return Response(body, status=status.HTTP_201_CREATED)


class SessionDetail(APIView):
    """One session of the caller."""

    @extend_schema(responses={200: SessionDetailSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return the session."""
        return Response(SessionDetailSerializer(access.get_session(request.user, pk)).data)

    @extend_schema(request=SessionUpdateSerializer, responses={200: DoneSerializer})
    def put(self, request: Request, pk: int) -> Response:
        """Change the title, sources, instructions, pin, labels or archived state; omitted fields stay unchanged."""
        return self._update(request, pk)

    @extend_schema(request=SessionUpdateSerializer, responses={200: DoneSerializer})
    def patch(self, request: Request, pk: int) -> Response:
        """Change the title, sources, instructions, pin, labels or archived state; omitted fields stay unchanged."""
        return self._update(request, pk)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the session; if it was the last one, a new one is created."""
        services.delete_session(access.get_session(request.user, pk))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _update(self, request: Request, pk: int) -> Response:
        session = access.get_session(request.user, pk)
        changes = validated(SessionUpdateSerializer(data=request.data))
        bases, documents = _asked(request.user, changes)
        labels = [access.get_label(request.user, pk).pk for pk in changes["labels"]] if "labels" in changes else None
        if "chat_title" in changes:
            services.rename_session(session, changes["chat_title"])
        if not changes.keys().isdisjoint(("knowledge_bases", "documents", "tags", "metadata", "folder")):
            if "knowledge_bases" not in changes and not documents:
                bases = list(session.knowledge_bases.values_list("pk", flat=True))
            if "knowledge_bases" not in changes and "documents" not in changes:
                documents = list(session.documents.values_list("pk", flat=True))
            narrowed = changes.get("tags", session.tags), changes.get("metadata", session.metadata)
            folder = changes.get("folder", session.folder)
            services.set_scope(request.user, session, bases, documents, narrowed, folder)
        _choose(request.user, session, changes)
        if "pinned" in changes:
            services.set_pinned(session, changes["pinned"])
        if "archived" in changes:
            services.set_archived(session, changes["archived"])
        if labels is not None:
            services.set_labels(request.user, session, labels)
        return done(_("The chat is updated."))


def _asked(user: Any, given: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """Return the sources in a request, knowledge bases or documents; raises `Http404` if one can't be read."""
    bases = readable_ids(user, given.get("knowledge_bases", []))
    return bases, readable_document_ids(user, given.get("documents", []))


def _choose(user: Any, session: ChatSession, given: Mapping[str, Any]) -> None:
    """Save the assistant, model and instructions of a session, if given; raises `Http404`, `TurnRefused`."""
    if "assistant" in given:
        choice.set_assistant(user, session, given["assistant"])
    if "model_id" in given:
        choice.set_model(session, given["model_id"] or "")
    if "instructions" in given:
        texts.set_chat_instructions(session, given["instructions"])


class OfferedModel(NamedTuple):
    """A model that users can choose."""

    id: str
    is_default: bool


class LabelList(generics.ListAPIView[ChatLabel]):
    """The caller's labels of chats."""

    serializer_class = LabelSerializer
    pagination_class = None
    orderings = {"name": (Lower("name"), "id")}

    def get_queryset(self) -> QuerySet[ChatLabel]:
        """Return the labels by name."""
        return access.labels(self.request.user)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the labels, by default by name."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request=LabelSerializer, responses={201: LabelSerializer, 400: ApiErrorSerializer, 409: ApiErrorSerializer}
    )
    def post(self, request: Request) -> Response:
        """Create a label; 409 if the name exists."""
        return Response(_saved_label(request), status=status.HTTP_201_CREATED)


class LabelDetail(APIView):
    """One of the caller's labels."""

    @extend_schema(
        request=LabelSerializer, responses={200: LabelSerializer, 400: ApiErrorSerializer, 409: ApiErrorSerializer}
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Rename the label."""
        return Response(_saved_label(request, access.get_label(request.user, pk)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the label; its chats are kept."""
        access.get_label(request.user, pk).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _saved_label(request: Request, label: ChatLabel | None = None) -> Any:
    given = validated(LabelSerializer(data=request.data, partial=label is not None))
    name = given.get("name", label.name if label else "")
    try:
        return LabelSerializer(services.save_label(request.user, name, label)).data
    except ValueError as refused:
        raise Conflict(str(refused), "label_exists") from None


class AssistantList(generics.ListAPIView[Any]):
    """The assistants that the caller can choose, by default with the site's default one first."""

    serializer_class = AssistantSerializer
    pagination_class = None
    orderings = {"name": ("name",)}

    def get_queryset(self) -> Any:
        """Return the assistants, the default first."""
        return choice.listed(self.request.user)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List them."""
        return super().get(request, *args, **kwargs)


class AssistantDetail(APIView):
    """An assistant that the caller can choose."""

    @extend_schema(responses={200: AssistantDetailSerializer, 404: ApiErrorSerializer, 409: ApiErrorSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return the assistant; people who may view or change assistants also get its values in force.

        409 (`assistant_unusable`) if its configuration is invalid.
        """
        body = in_force.described(request.user, choice.get_usable(request.user, pk))
        return Response(AssistantDetailSerializer(body).data)


class ModelList(generics.ListAPIView[Any]):
    """The models that the caller can choose for answers, by default with the site's own one first."""

    serializer_class = OfferedModelSerializer
    pagination_class = None
    orderings = {"id": ("id",)}

    def get_queryset(self) -> Any:
        """Return the models, the default first; empty if answers are quoted and there is no choice."""
        setup = active.site_setup()
        own = choice.own_model(setup)
        return [OfferedModel(name, name == own) for name in choice.offered_models(setup)]

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the models; empty if answers are quoted and there is no choice."""
        return super().get(request, *args, **kwargs)


class MessageDetail(APIView):
    """One message of the caller."""

    @extend_schema(responses={200: MessageSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return the message in its current state, even while it is being written."""
        turn_store.interrupt_stale(message_id=access.get_message(request.user, pk).pk)
        return Response(MessageSerializer(queries.message_list(access.messages(request.user)).get(pk=pk)).data)


class MessageCitations(generics.ListAPIView[Citation]):
    """The numbered sources of an answer."""

    serializer_class = CitationSerializer
    queryset = Citation.objects.none()

    def get_queryset(self) -> QuerySet[Citation]:
        """Return the citations grouped by document; 404 for someone else's message."""
        message = access.get_message(self.request.user, self.kwargs["pk"])
        return queries.by_document(message.citations.all())


class MessageTrace(APIView):
    """The trace of an answer, for its owner and for users who can view others' turns."""

    @extend_schema(responses={200: TraceSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return the nodes that ran for the message's turn, with their times, outcomes and details."""
        turn = access.get_message(request.user, pk, traced=True).turn
        redaction.withhold(turn, request.user)
        return Response(TraceSerializer(turn).data)


class MessageFeedback(APIView):
    """The caller's feedback on an answer."""

    @extend_schema(request=FeedbackSerializer, responses={200: FeedbackSerializer, 409: ApiErrorSerializer})
    def put(self, request: Request, pk: int) -> Response:
        """Give feedback, replacing any earlier one; 409 for a question or an empty answer."""
        message = access.get_message(request.user, pk)
        given = validated(FeedbackSerializer(data=request.data))
        try:
            feedback = services.give_feedback(request.user, message, **given)
        except ValueError as error:
            raise Conflict(str(error)) from None
        return Response(FeedbackSerializer(feedback).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Remove the feedback."""
        services.remove_feedback(request.user, access.get_message(request.user, pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class MessageStop(AsyncAPIView):
    """Ends an answer that is being written."""

    @extend_schema(request=None, responses={200: DoneSerializer})
    async def post(self, request: Request, pk: int) -> Response:
        """Stop the answer and keep its text so far; `success` is false if it had already ended."""
        stopped = await lifecycle.stop_turn(request.user, pk)
        return done(_("The answer is stopped.") if stopped else _("The answer had already ended."), stopped)


class MessageRegenerate(AsyncAPIView):
    """Answers the same question once more."""

    @extend_schema(request=RegenerateSerializer, responses={202: StartedSerializer})
    async def post(self, request: Request, pk: int) -> Response:
        """Start a sibling turn with the same question; its answer streams at `stream`.

        If the answer asked which document is meant, `document_id` is one of its `choices`, to answer from.
        """
        chosen = validated(RegenerateSerializer(data=request.data)).get("document_id")
        started = await begun(lifecycle.regenerate(request.user, pk, language=language(), document_id=chosen))
        return Response(started_body(started), status=status.HTTP_202_ACCEPTED)


class MessageContinue(AsyncAPIView):
    """Continues an answer that was cut off."""

    @extend_schema(request=None, responses={202: StartedSerializer, 409: ApiErrorSerializer})
    async def post(self, request: Request, pk: int) -> Response:
        """Start a turn that continues the answer; it streams at `stream`. 409 if the answer wasn't cut off.

        An answer is cut off by a stop, a failure, an interruption or its maximum length: see `can_continue`.
        """
        started = await begun(lifecycle.continue_answer(request.user, pk, language=language()))
        return Response(started_body(started), status=status.HTTP_202_ACCEPTED)


def started_body(started: Started) -> dict[str, Any]:
    """Return the ids of a turn that has begun, and the URL of its stream."""
    stream = reverse("api-content-stream", args=[started.session_id, started.assistant_message_id])
    return {
        "success": True,
        "session_id": started.session_id,
        "turn_id": started.turn_id,
        "request_id": started.request_id,
        "user_message_id": started.user_message_id,
        "assistant_message_id": started.assistant_message_id,
        "parent_turn_id": started.parent_turn_id,
        "stream": stream,
    }
