"""Answers as server-sent events: as step frames or prefix frames.

A stream only listens. Its turn runs independently, so that a client can disconnect without ending it, and reconnect
with `Last-Event-ID` for the rest.
"""

import re
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import access, queries, services, turn_store
from conversations.api.frame_schema import PREFIX_STREAM, STEP_STREAM
from conversations.api.frames import HEARTBEAT, PrefixFrames, step_frame
from conversations.api.serializers import AskSerializer, ConversationSerializer, MessageSerializer
from conversations.api.sessions import begun, language
from conversations.events import DoneEvent, ErrorEvent, Event
from conversations.inbox import unseen
from conversations.models import Message
from conversations.turns import broker, lifecycle
from conversations.turns.coalesce import join_deltas
from ragsite.accounts import stream_auth
from ragsite.api.async_views import AsyncAPIView
from ragsite.api.base import ApiErrorSerializer, validated
from ragsite.db import in_database

# Seconds of silence before a comment is sent, so that proxies keep the connection open.
HEARTBEAT_SECONDS = 15.0

Frames = Callable[[Event], Iterable[str]]
_STEPS: dict[Any, Any] = {(200, "text/event-stream"): STEP_STREAM}
_PREFIXES: dict[Any, Any] = {(200, "text/event-stream"): PREFIX_STREAM}
_TAKEN = {409: ApiErrorSerializer}
_EVENT_ID = "[0-9]{0,18}"  # empty if there is none


def stream(request: Request, message_id: int, after_seq: int, frames: Frames) -> StreamingHttpResponse:
    """Return the answer's events after `after_seq` as a response that ends with the answer.

    It ends early, as interrupted, if the request loses its authorization. The id of that end is the number of the last
    event sent, so that a client can reconnect with it for the rest.
    """
    grant = stream_auth.Grant.of(request)
    refusal = _("You are no longer signed in, or your access was withdrawn.")

    async def body() -> AsyncGenerator[str, None]:
        seq = after_seq
        async with stream_auth.watched(grant, broker.follow(message_id, after_seq, HEARTBEAT_SECONDS)) as batches:
            async for events in batches:
                text = "".join(text for event in join_deltas(events) for text in frames(event)) if events else HEARTBEAT
                seq = events[-1].seq if events else seq
                if events and isinstance(events[-1], DoneEvent):
                    await in_database(unseen.clear_for_answer, message_id)
                if text:
                    yield text
                if events and isinstance(events[-1], DoneEvent):
                    return
        if grant.lost:
            error = ErrorEvent(seq=seq, code="signed_out", message=refusal, retryable=False)
            for event in (error, DoneEvent(seq=seq, status="interrupted")):
                yield "".join(frames(event))

    response = StreamingHttpResponse(body(), content_type="text/event-stream; charset=utf-8")
    response["Cache-Control"] = "private, no-store, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def steps(event: Event) -> list[str]:
    """Return the step frame of an event."""
    return [step_frame(event)]


class LogEmptied(APIException):
    """The answer ended long ago and its individual events are no longer stored."""

    status_code = 410
    default_code = "log_emptied"
    default_detail = gettext_lazy("The stream of this answer is no longer kept; fetch the message instead.")


class SessionContent(AsyncAPIView, generics.GenericAPIView[Message]):
    """The messages of a session, and asking in it."""

    serializer_class = MessageSerializer
    queryset = Message.objects.none()
    orderings = {"created_at": ("turn__created_at", "turn_id", "id")}
    since = "created_at"

    @extend_schema(responses={200: MessageSerializer(many=True)})
    async def get(self, request: Request, pk: int) -> Response:
        """List the session's messages, all branches, by default oldest first."""
        return await sync_to_async(self._list)(request, pk)

    @extend_schema(request=AskSerializer, responses=_STEPS | _TAKEN)
    async def post(self, request: Request, pk: int) -> HttpResponseBase:
        """Ask a question, and stream the answer as one `{"step", "step_name", "status", "message"}` per event."""
        session = await sync_to_async(access.get_session)(request.user, pk)
        given = AskSerializer(data=request.data)
        data = validated(given)
        question = given.ask(
            session_id=session.pk,
            request_id=data.get("request_id") or uuid.uuid4(),
            language=language(),
            as_root="parent_turn_id" in data and data["parent_turn_id"] is None,
        )
        started = await begun(lifecycle.start_turn(request.user, question))
        return stream(request, started.assistant_message_id, 0, steps)

    def _list(self, request: Request, pk: int) -> Response:
        session = access.get_session(request.user, pk)
        turn_store.interrupt_stale(session_id=session.pk)
        found = queries.message_list(Message.objects.filter(turn__session=session))
        page = self.paginate_queryset(self.filter_queryset(found))
        return self.get_paginated_response(MessageSerializer(page, many=True).data)


class ContentStream(AsyncAPIView):
    """The stream of one answer, from its beginning or from where a client disconnected."""

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "Last-Event-ID",
                {"type": "string", "pattern": f"^{_EVENT_ID}$"},
                OpenApiParameter.HEADER,
                description="id of the last event received",
            )
        ],
        responses=_STEPS | {204: None, 410: ApiErrorSerializer},
    )
    async def get(self, request: Request, pk: int, message_id: int) -> HttpResponseBase:
        """Stream the events after `Last-Event-ID`; 204, which ends reconnecting, if there will be no more."""
        message = await sync_to_async(access.get_message)(request.user, message_id)
        if message.turn.session_id != pk or message.role != Message.Role.ASSISTANT:
            raise Http404(_("There is no such answer."))
        given = request.headers.get("Last-Event-ID", "").strip()
        if not re.fullmatch(_EVENT_ID, given):
            raise ValidationError({"detail": _("Last-Event-ID is the number of the last event seen.")})
        after_seq = int(given or 0)
        if message.status != Message.Status.STREAMING and after_seq:
            if turn_store.has_received_end(message, after_seq):
                return HttpResponse(status=204)
            if not message.stream_log:
                raise LogEmptied
        return stream(request, message.pk, after_seq, steps)


class Conversation(AsyncAPIView):
    """Asking in one request, in a session or without one."""

    @extend_schema(request=ConversationSerializer, responses=_PREFIXES | {404: ApiErrorSerializer} | _TAKEN)
    async def post(self, request: Request) -> HttpResponseBase:
        """Ask, and stream `SESSION:`, `MESSAGE:`, `STEP:`, `CONTENT:`, `THINK:`, `SOURCE:`, `ERROR:` and `DONE:`."""
        given = ConversationSerializer(data=request.data)
        data = validated(given)
        if data.get("session_id") is not None:
            session = await sync_to_async(access.get_session)(request.user, data["session_id"])
        elif data.get("parent_turn_id") is not None:
            raise Http404(_("The turn to continue from is not in this chat."))
        else:
            session = await sync_to_async(services.create_session)(request.user)
        question = given.ask(session_id=session.pk, language=language())
        started = await begun(lifecycle.start_turn(request.user, question))
        frames = PrefixFrames(thinking=data.get("thinking") is not False)
        return stream(request, started.assistant_message_id, 0, frames.feed)
