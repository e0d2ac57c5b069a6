"""The chat in the admin: records to read, prompts to version, models to set up and try."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations import check_words, profiles, prompt_versions
from conversations.admin_forms import ModelProfileForm, PromptTemplateForm
from conversations.models import (
    ChatSession,
    Citation,
    ContextEntry,
    Feedback,
    Message,
    ModelProfile,
    PromptTemplate,
    ShareLink,
    TraceStep,
    Turn,
)
from ragsite.admin_base import ModelAdmin, RecordAdmin, RecordInline, link_to, pretty_json, shortened


class TurnInline(RecordInline):
    """The turns of a session."""

    model = Turn
    fields = readonly_fields = ("request_id", "parent_turn", "action", "model", "token_count", "created_at")


class MessageInline(RecordInline):
    """The question and the answer of a turn."""

    model = Message
    fields = readonly_fields = ("role", "status", "content", "thinking", "error_message", "usage", "duration_ms")


class TraceInline(RecordInline):
    """The nodes that ran for a turn."""

    model = TraceStep
    fields = readonly_fields = ("order", "key", "status", "ms", "what")

    @admin.display(description=gettext_lazy("detail"))
    def what(self, step: TraceStep) -> SafeString:
        """Show what the node saw."""
        return pretty_json(step.detail)


class CitationInline(RecordInline):
    """The numbered sources of an answer."""

    model = Citation
    fields = readonly_fields = ("index", "filename", "heading", "page", "snippet", "score", "cited")


class FeedbackInline(RecordInline):
    """The thumbs on an answer."""

    model = Feedback
    fields = readonly_fields = ("user", "value", "reason", "comment", "created_at")


@admin.register(ChatSession)
class ChatSessionAdmin(RecordAdmin):
    """Sessions can be deleted, with all that is in them."""

    list_display = ["title", "owner", "status", "pinned", "turns", "last_activity_at", "created_at"]
    list_filter = ["status", "pinned", "last_activity_at", "created_at"]
    list_select_related = ["owner"]
    search_fields = ["title", "owner__username", "turns__messages__content"]
    search_help_text = gettext_lazy("Title, owner, or words of any message")
    date_hierarchy = "last_activity_at"
    inlines = [TurnInline]
    fields = readonly_fields = (
        "title", "owner", "status", "pinned", "knowledge_bases", "settings", "last_activity_at", "created_at",
        "deleted_at",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChatSession]:
        """Count the turns along."""
        sessions: QuerySet[ChatSession] = (
            super().get_queryset(request).annotate(turn_count=Count("turns", distinct=True))
        )
        return sessions

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow those who hold Django's permission."""
        return ModelAdmin.has_delete_permission(self, request, obj)

    @admin.display(description=gettext_lazy("turns"), ordering="turn_count")
    def turns(self, session: Any) -> int:
        """Show how many questions were asked."""
        return int(session.turn_count)


@admin.register(Turn)
class TurnAdmin(RecordAdmin):
    """A turn with everything that came of it."""

    list_display = ["created_at", "asked", "session", "action", "model", "status", "token_count"]
    list_filter = ["action", "messages__status", "model", "created_at"]
    list_select_related = ["session"]
    search_fields = ["request_id", "messages__content", "session__title", "retrieval_query"]
    search_help_text = gettext_lazy("Request id, words of question or answer, title, or retrieval query")
    date_hierarchy = "created_at"
    inlines = [MessageInline, TraceInline]
    fields = readonly_fields = (
        "request_id", "session_page", "parent_turn", "retrieval_query", "action", "model", "token_count", "created_at",
        "citations",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        """Fetch the question and the answer's status along."""
        messages_of = Message.objects.filter(turn=OuterRef("pk"))
        question = messages_of.filter(role=Message.Role.USER).values("content")
        status = messages_of.filter(role=Message.Role.ASSISTANT).values("status")
        turns: QuerySet[Turn] = (
            super().get_queryset(request).annotate(question=Subquery(question), answer_status=Subquery(status))
        )
        return turns

    @admin.display(description=gettext_lazy("question"))
    def asked(self, turn: Any) -> str:
        """Show the question."""
        return shortened(turn.question or "")

    @admin.display(description=gettext_lazy("answer"), ordering="answer_status")
    def status(self, turn: Any) -> str:
        """Show how the answer stands."""
        return str(dict(Message.Status.choices).get(turn.answer_status, turn.answer_status or "–"))

    @admin.display(description=gettext_lazy("session"))
    def session_page(self, turn: Turn) -> str:
        """Link to the session."""
        return link_to(turn.session)

    @admin.display(description=gettext_lazy("citations"))
    def citations(self, turn: Turn) -> SafeString | str:
        """List the answer's sources with their scores."""
        rows = Citation.objects.filter(message__turn=turn).order_by("index")
        listed = (
            (row.index, row.filename, row.page or "–", f"{row.score:.4f}", shortened(row.snippet, 160)) for row in rows
        )
        return format_html_join("\n", "<div>[{}] {}, {} · {} · {}</div>", listed) or "–"


@admin.register(Message)
class MessageAdmin(RecordAdmin):
    """Questions and answers as they stand."""

    list_display = ["id", "role", "status", "said", "error_code", "duration_ms", "created_at"]
    list_filter = ["role", "status", "feedback__value", "error_code", "created_at"]
    search_fields = ["content", "turn__request_id", "turn__session__title", "turn__session__owner__username"]
    date_hierarchy = "created_at"
    inlines = [CitationInline, FeedbackInline]
    fields = readonly_fields = (
        "turn_page", "role", "status", "content", "checked", "blocks_json", "thinking", "error_code", "error_message",
        "usage", "duration_ms", "last_seq", "heartbeat_at", "created_at",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Leave the event log out, which can be long."""
        return super().get_queryset(request).defer("stream_log")

    @admin.display(description=gettext_lazy("content"))
    def said(self, message: Message) -> str:
        """Show how the message begins."""
        return shortened(message.content)

    @admin.display(description=gettext_lazy("turn"))
    def turn_page(self, message: Message) -> str:
        """Link to the turn."""
        return link_to(message.turn)

    @admin.display(description=gettext_lazy("checked citations"))
    def checked(self, message: Message) -> SafeString | str:
        """Show the verdict on each cited sentence, and why."""
        rows = check_words.rows(message.checks)
        return format_html_join("\n", "<div><strong>{}</strong> · {} {} <em>{}</em></div>", rows) or "–"

    @admin.display(description=gettext_lazy("blocks"))
    def blocks_json(self, message: Message) -> SafeString:
        """Show the blocks as stored."""
        return pretty_json(message.blocks)


@admin.register(ContextEntry)
class ContextEntryAdmin(RecordAdmin):
    """What models were given."""

    list_display = ["id", "session", "type", "role", "said", "tokens", "created_at"]
    list_filter = ["type", "role", "created_at"]
    list_select_related = ["session"]
    search_fields = ["content", "session__title", "session__owner__username"]
    fields = readonly_fields = ("session", "turn", "type", "role", "content", "tokens", "created_at")

    @admin.display(description=gettext_lazy("content"))
    def said(self, entry: ContextEntry) -> str:
        """Show how the entry begins."""
        return shortened(entry.content)


@admin.register(Citation)
class CitationAdmin(RecordAdmin):
    """Sources of answers, as they were when cited."""

    list_display = ["message_id", "index", "filename", "heading", "page", "score", "cited"]
    list_filter = ["cited", ("document", admin.EmptyFieldListFilter)]
    search_fields = ["filename", "heading", "snippet", "request_id"]
    fields = readonly_fields = (
        "message_page", "index", "cited", "filename", "heading", "page", "snippet", "score", "retrievers", "request_id",
    )  # fmt: skip

    @admin.display(description=gettext_lazy("message"))
    def message_page(self, citation: Citation) -> str:
        """Link to the answer."""
        return link_to(citation.message)

    @admin.display(description=gettext_lazy("sources"))
    def retrievers(self, citation: Citation) -> SafeString:
        """Show each retriever's rank and score."""
        return pretty_json(citation.sources)


@admin.register(TraceStep)
class TraceStepAdmin(RecordAdmin):
    """Nodes that ran, the slow and the failed ones easily found."""

    list_display = ["started_at", "key", "status", "ms", "turn"]
    list_filter = ["key", "status", "started_at"]
    list_select_related = ["turn"]
    search_fields = ["key", "turn__request_id"]
    fields = readonly_fields = ("turn_page", "order", "key", "status", "started_at", "ms", "what")

    @admin.display(description=gettext_lazy("turn"))
    def turn_page(self, step: TraceStep) -> str:
        """Link to the turn."""
        return link_to(step.turn)

    @admin.display(description=gettext_lazy("detail"))
    def what(self, step: TraceStep) -> SafeString:
        """Show what the node saw."""
        return pretty_json(step.detail)


@admin.register(Feedback)
class FeedbackAdmin(RecordAdmin):
    """Thumbs, with the answers they are about."""

    list_display = ["created_at", "value", "reason", "said", "user"]
    list_filter = ["value", "reason", "created_at"]
    list_select_related = ["user", "message"]
    search_fields = ["comment", "reason", "user__username", "message__content"]
    date_hierarchy = "created_at"
    fields = readonly_fields = ("message_page", "turn_page", "user", "value", "reason", "comment", "created_at")

    @admin.display(description=gettext_lazy("answer"))
    def said(self, feedback: Feedback) -> str:
        """Show how the answer begins."""
        return shortened(feedback.message.content)

    @admin.display(description=gettext_lazy("message"))
    def message_page(self, feedback: Feedback) -> str:
        """Link to the answer."""
        return link_to(feedback.message)

    @admin.display(description=gettext_lazy("turn"))
    def turn_page(self, feedback: Feedback) -> str:
        """Link to the turn, which has citations and trace."""
        return link_to(feedback.message.turn)


@admin.register(ShareLink)
class ShareLinkAdmin(RecordAdmin):
    """Read-only links to sessions; they can be revoked here."""

    list_display = ["uuid", "session", "created_at", "revoked_at"]
    list_filter = ["created_at", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["session"]
    search_fields = ["uuid", "session__title", "session__owner__username"]
    fields = readonly_fields = ("uuid", "session", "created_at", "revoked_at")
    actions = ["revoke"]

    @admin.action(description=gettext_lazy("Revoke selected links"), permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ShareLink]) -> None:
        """End the links that are still valid."""
        if not request.user.has_perm("conversations.change_sharelink"):
            self.message_user(request, _("You may not revoke links."), messages.ERROR)
            return
        count = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, ngettext("%d link is revoked.", "%d links are revoked.", count) % count)


@admin.register(PromptTemplate)
class PromptTemplateAdmin(ModelAdmin):
    """Saving an edit adds a version and makes it the one in use; old versions stay and can be taken up again."""

    form = PromptTemplateForm
    list_display = ["purpose", "language", "version", "active", "begins", "created_at"]
    list_filter = ["active", "purpose", "language"]
    search_fields = ["system", "user"]
    actions = ["use"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """A version keeps its purpose and language."""
        return ["purpose", "language", "version", "active", "created_at"] if obj else []

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show what the version is before its texts."""
        shown = ["version", "active", "created_at"] if obj else []
        return ["purpose", "language", *shown, "system", "user"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: past answers were written with these."""
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the texts as a new version, which the page then shows."""
        if change and not {"system", "user"} & set(form.changed_data):
            return
        saved = prompt_versions.save_version(obj.purpose, obj.language, obj.system, obj.user)
        obj.pk, obj.version, obj.active = saved.pk, saved.version, saved.active
        obj.created_at = saved.created_at

    @admin.display(description=gettext_lazy("system prompt"))
    def begins(self, template: PromptTemplate) -> str:
        """Show how the prompt begins."""
        return shortened(template.system, 80)

    @admin.action(description=gettext_lazy("Use this version"), permissions=["change"])
    def use(self, request: HttpRequest, queryset: QuerySet[PromptTemplate]) -> None:
        """Make each chosen version the active one of its purpose and language."""
        families = list(queryset.values_list("purpose", "language"))
        if len(families) != len(set(families)):
            self.message_user(request, _("Choose one version per purpose and language."), messages.ERROR)
            return
        for template in queryset:
            self.message_user(request, _("In use: %(name)s") % {"name": prompt_versions.activate(template)})


@admin.register(ModelProfile)
class ModelProfileAdmin(ModelAdmin):
    """Which model serves which purpose; keys are written, never read back."""

    form = ModelProfileForm
    change_form_template = "admin/conversations/modelprofile/change_form.html"
    list_display = ["purpose", "model", "base_url", "has_key", "temperature", "max_tokens", "enabled"]
    list_filter = ["purpose", "enabled"]
    search_fields = ["model", "base_url"]
    actions = ["test"]
    fieldsets = [
        (None, {"fields": ["purpose", "enabled", "base_url", "model", "key", "remove_key"]}),
        (gettext_lazy("Generation"), {"fields": ["temperature", "max_tokens", "context_window"]}),
        (gettext_lazy("Time-outs in seconds"), {"fields": ["connect_timeout", "idle_timeout", "total_timeout"]}),
    ]

    @admin.display(description=gettext_lazy("key"), boolean=True)
    def has_key(self, profile: ModelProfile) -> bool:
        """Show whether a key is stored."""
        return bool(profile.encrypted_key)

    @admin.action(description=gettext_lazy("Test selected profiles"), permissions=["change"])
    def test(self, request: HttpRequest, queryset: QuerySet[ModelProfile]) -> None:
        """Try each profile and say what came of it."""
        for profile in queryset:
            self._try(request, profile)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """Test after saving when that was asked for."""
        return self._tested(request, obj) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Test after saving when that was asked for."""
        return self._tested(request, obj) or super().response_change(request, obj)

    def _tested(self, request: HttpRequest, profile: ModelProfile) -> HttpResponse | None:
        if "_test" not in request.POST:
            return None
        self._try(request, profile)
        return HttpResponseRedirect(reverse("admin:conversations_modelprofile_change", args=[profile.pk]))

    def _try(self, request: HttpRequest, profile: ModelProfile) -> None:
        outcome = async_to_sync(profiles.try_profile)(profile)
        self.message_user(request, outcome.message, messages.SUCCESS if outcome.works else messages.ERROR)
