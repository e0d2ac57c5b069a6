"""Sessions, turns and messages in the admin, mainly for reading."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from conversations import queries
from conversations.admin import transcript
from conversations.admin.records import InWords, named
from conversations.admin.word_search import WordSearch, messages_found, sessions_named, turns_requested
from conversations.citations import labels
from conversations.models import ChatSession, Citation, Feedback, Message, TraceStep, Turn
from conversations.pipeline.understanding.plans import ACTIONS
from conversations.rendering.progress import duration
from ragsite.admin_base import (
    ReadOnly,
    RecordAdmin,
    RecordInline,
    ValuesFilter,
    column,
    link_to,
    pretty_json,
    rounded,
    shortened,
    token_counts,
)
from retrieval.types import AnswerState


class _AnswerFilter(admin.SimpleListFilter):
    """Filter turns by a field of their answer, with a set of ids: a join would need DISTINCT."""

    field: str
    choices_of: Sequence[tuple[str, Any]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, Any]]:
        """Return the field's choices."""
        return self.choices_of

    def queryset(self, request: HttpRequest, queryset: QuerySet[Turn]) -> QuerySet[Turn]:
        """Return the turns whose answer matches."""
        if self.value() is None:
            return queryset
        return queryset.filter(pk__in=self.answers(self.value()).values("turn"))

    def answers(self, value: str | None) -> QuerySet[Message]:
        """Return the answers with the value."""
        return Message.objects.filter(role=Message.Role.ASSISTANT, **{self.field: value})


class StatusFilter(_AnswerFilter):
    """Filter turns by the status of their answer."""

    title = gettext_lazy("answer")
    parameter_name, field, choices_of = "answer", "status", Message.Status.choices


class OutcomeFilter(_AnswerFilter):
    """Filter turns by the outcome of their answer."""

    title = gettext_lazy("outcome")
    parameter_name, field, choices_of = "outcome", "answer_state", AnswerState.choices

    def answers(self, value: str | None) -> QuerySet[Message]:
        """Return the completed answers with the value, using their index."""
        return super().answers(value).exclude(status=Message.Status.STREAMING)


class ThumbsFilter(admin.SimpleListFilter):
    """Filter answers by feedback."""

    title = gettext_lazy("feedback")
    parameter_name = "thumb"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[Any, Any]]:
        """Return the two kinds of feedback."""
        return Feedback.Value.choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> QuerySet[Message]:
        """Return the answers with this feedback."""
        chosen = next((value for value in Feedback.Value if str(value.value) == self.value()), None)
        if chosen is None:
            return queryset
        return queryset.filter(pk__in=Feedback.objects.filter(value=chosen).order_by().values("message"))


def took(message: Message) -> str:
    """Return the duration of an answer as text; empty for a question or an unfinished answer."""
    return "" if message.duration_ms is None else duration(message.duration_ms)


class MessageInline(RecordInline):
    """The question and the answer of a turn."""

    model = Message
    fields = readonly_fields = (
        "role", "status", "answer_state", "content", "thinking", "error_message", "tokens", "took",
    )  # fmt: skip

    took = column(gettext_lazy("duration"), lambda message: took(message))
    tokens = column(gettext_lazy("tokens"), lambda message: token_counts(message.usage))


class TraceInline(InWords, RecordInline):
    """The nodes that ran for a turn."""

    model = TraceStep
    fields = readonly_fields = ("order", "node", "ended", "took", "what")


class CitationInline(RecordInline):
    """The numbered sources of an answer."""

    model = Citation
    fields = readonly_fields = ("index", "filename", "heading", "page", "snippet", rounded(Citation, "score"), "cited")


class FeedbackInline(RecordInline):
    """The thumbs on an answer."""

    model = Feedback
    fields = readonly_fields = ("user", "value", "reason", "comment", "created_at")


_FACTS = (
    "name", "owner", "status", "pinned", "knowledge_bases", "documents", "assistant", "model", "last_activity_at",
    "created_at", "deleted_at", "all_turns",
)  # fmt: skip


@admin.register(ChatSession)
class ChatSessionAdmin(ReadOnly, WordSearch):
    """Admin for sessions, which can be deleted with all their content."""

    list_display = ["name", "owner", "status", "pinned", "turns", "thumbs", "last_activity_at", "created_at"]
    list_filter = ["status", "pinned", "last_activity_at", "created_at"]
    list_select_related = ["owner"]
    search_fields = ["title", "owner__username", "turns__messages__content"]
    search_help_text = gettext_lazy("Title, owner, or words of any message")
    date_hierarchy = "last_activity_at"
    change_form_template = "admin/conversations/chatsession/change_form.html"
    fieldsets = [(gettext_lazy("About this session"), {"fields": _FACTS, "classes": ["collapse"]})]
    readonly_fields = _FACTS

    turns = column(gettext_lazy("turns"), lambda session: session.turn_count, ordering="turn_count")

    @staticmethod
    def found_by(word: str) -> Q:
        """Search by title or messages."""
        return Q(pk__in=sessions_named(word).values("pk")) | Q(pk__in=messages_found(word, "turn__session_id"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChatSession]:
        """Annotate the number of turns, only for the sessions on the page."""
        counted = Turn.objects.filter(session=OuterRef("pk")).order_by().values("session").values(number=Count("pk"))
        given = Feedback.objects.filter(message__turn__session=OuterRef("pk")).order_by()
        up, down = (
            given.filter(value=value).values("message__turn__session").values(number=Count("pk"))
            for value in (Feedback.Value.UP, Feedback.Value.DOWN)
        )
        sessions: QuerySet[ChatSession] = (
            super()
            .get_queryset(request)
            .annotate(
                turn_count=Coalesce(Subquery(counted), 0),
                thumbs_up=Coalesce(Subquery(up), 0),
                thumbs_down=Coalesce(Subquery(down), 0),
            )
        )
        return sessions

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the transcript, with sources, steps and the results of the citation check."""
        session = self.get_object(request, unquote(object_id))
        if session is not None and request.user.has_perms(["conversations.view_message", "conversations.view_turn"]):
            extra_context = transcript.context(request, session) | (extra_context or {})
        return super().change_view(request, object_id, form_url, extra_context)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count related objects instead of listing them: one session can have pages of steps and ids."""
        going, *rest = super().get_deleted_objects(objs, request)
        return [each for each in going if not isinstance(each, list)], *rest

    @admin.display(description=gettext_lazy("turns"))
    def all_turns(self, session: Any) -> SafeString:
        """Link to the list of all its turns."""
        url = reverse("admin:conversations_turn_changelist", query={"session__id__exact": session.pk})
        return format_html('<a href="{}">{}</a>', url, session.turn_count)

    @admin.display(description=gettext_lazy("feedback"), ordering="thumbs_down")
    def thumbs(self, session: Any) -> str:
        """Show how many answers were rated helpful and not helpful."""
        return f"+{session.thumbs_up} / −{session.thumbs_down}" if session.thumbs_up or session.thumbs_down else ""


class ActionFilter(ValuesFilter):
    """Filter by action."""

    def label(self, value: str) -> str:
        """Return the label of an action."""
        return str(ACTIONS.get(value, value))


@admin.register(Turn)
class TurnAdmin(WordSearch, RecordAdmin):
    """Admin for turns, with all their records."""

    ordering = ("-id",)
    list_display = ["asked", "session", "done", "model", "status", "answer_state", "token_count", "created_at"]
    list_filter = [("action", ActionFilter), StatusFilter, OutcomeFilter, "model", "created_at"]
    list_select_related = ["session"]
    search_fields = ["request_id", "messages__content", "session__title", "retrieval_query"]
    search_help_text = gettext_lazy("Request id, words of question or answer, title, or retrieval query")
    date_hierarchy = "created_at"
    inlines = [MessageInline, TraceInline]
    fields = readonly_fields = (
        "session_page", "parent_page", "request_id", "retrieval_query", "done", "model", "token_count", "created_at",
        "citations",
    )  # fmt: skip

    asked = column(gettext_lazy("question"), lambda turn: shortened(turn.question or ""))
    done = column(gettext_lazy("action"), lambda turn: str(ACTIONS.get(turn.action, turn.action)), ordering="action")
    parent_page = column(gettext_lazy("parent turn"), lambda turn: link_to(named(turn.parent_turn_id)))
    session_page = column(gettext_lazy("session"), lambda turn: link_to(turn.session))

    @staticmethod
    def found_by(word: str) -> Q:
        """Search by title, messages, retrieval query or request id."""
        said = Q(pk__in=messages_found(word, "turn_id"))
        named = Q(session__in=ChatSession.objects.filter(queries.titled(word)).values("pk"))
        return said | named | Q(retrieval_query__icontains=word) | Q(pk__in=turns_requested(word).values("pk"))

    def view_on_site(self, turn: Turn) -> str:
        """Return the URL of the answer's trace."""
        return reverse("trace", args=[turn.pk])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        """Annotate the question and the state of the answer."""
        answer = Message.objects.filter(turn=OuterRef("pk"), role=Message.Role.ASSISTANT)
        turns: QuerySet[Turn] = (
            Turn.objects.named()
            .order_by(*self.ordering)
            .annotate(
                answer_status=Subquery(answer.values("status")),
                message_state=Subquery(answer.values("answer_state")),
            )
        )
        return turns

    @admin.display(description=gettext_lazy("answer"), ordering="answer_status")
    def status(self, turn: Any) -> str:
        """Show the status of the answer."""
        return str(dict(Message.Status.choices).get(turn.answer_status, turn.answer_status or "–"))

    @admin.display(description=gettext_lazy("outcome"), ordering="message_state")
    def answer_state(self, turn: Any) -> str:
        """Show the outcome of the answer."""
        return str(dict(AnswerState.choices).get(turn.message_state, "–"))

    @admin.display(description=gettext_lazy("citations"))
    def citations(self, turn: Turn) -> SafeString | str:
        """List the answer's sources with their scores."""
        rows = Citation.objects.filter(message__turn=turn).order_by("index")
        listed = (
            (row.index, row.filename, row.page or "–", f"{row.score:.4f}", shortened(row.snippet, 160)) for row in rows
        )
        return format_html_join("\n", "<div>[{}] {}, {} · {} · {}</div>", listed) or "–"


@admin.register(Message)
class MessageAdmin(WordSearch, RecordAdmin):
    """Admin for questions and answers."""

    ordering = ("-id",)
    list_display = ["said", "role", "status", "answer_state", "error_code", "took", "created_at"]
    list_filter = ["role", "status", "answer_state", ThumbsFilter, ("error_code", ValuesFilter), "created_at"]
    search_fields = ["content", "turn__request_id", "turn__session__title", "turn__session__owner__username"]
    date_hierarchy = "created_at"
    inlines = [CitationInline, FeedbackInline]
    fields = readonly_fields = (
        "turn_page", "role", "status", "answer_state", "content", "checked", "blocks_json", "thinking", "error_code",
        "error_message", "tokens", "took", "last_seq", "heartbeat_at", "created_at",
    )  # fmt: skip

    said = column(gettext_lazy("content"), lambda message: shortened(message.content))
    turn_page = column(gettext_lazy("turn"), lambda message: link_to(named(message.turn_id)))
    took = column(gettext_lazy("duration"), lambda message: took(message), ordering="duration_ms")
    tokens = column(gettext_lazy("tokens"), lambda message: token_counts(message.usage))
    blocks_json = column(gettext_lazy("blocks"), lambda message: pretty_json(message.blocks))

    @staticmethod
    def found_by(word: str) -> Q:
        """Search by text, session title or request id."""
        named = Turn.objects.filter(session__in=sessions_named(word).values("pk"))
        turns = Q(turn__in=named.values("pk")) | Q(turn__in=turns_requested(word).values("pk"))
        return turns | Q(pk__in=messages_found(word))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Defer the event log, which can be long."""
        return super().get_queryset(request).defer("stream_log")

    @admin.display(description=gettext_lazy("checked citations"))
    def checked(self, message: Message) -> SafeString | str:
        """Show the verdict on each cited sentence and its reasons."""
        rows = labels.rows(message.checks)
        return format_html_join("\n", "<div><strong>{}</strong> · {} {} <em>{}</em></div>", rows) or "–"
