"""Records of turns in the admin: context, citations, traces, feedback and links, which can be revoked."""

from django.contrib import admin, messages
from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.admin.word_search import (
    WordSearch,
    is_part_of_uuid,
    looked_up,
    messages_found,
    sessions_named,
    turns_requested,
)
from conversations.message_search import having_word
from conversations.models import CITATION_TEXTS, ROLES, Citation, ContextEntry, Feedback, ShareLink, TraceStep, Turn
from conversations.rendering.progress import duration
from conversations.rendering.trace import STATUSES, node_name
from ragsite.admin_base import RecordAdmin, ValuesFilter, column, link_to, pretty_json, rounded, shortened


def named(turn_id: int | None) -> Turn | None:
    """Return a turn, named by its question, or None."""
    return Turn.objects.named().defer("embedding").filter(pk=turn_id).first() if turn_id is not None else None


class RoleFilter(ValuesFilter):
    """Filter by role."""

    def label(self, value: str) -> str:
        """Return the label of a role."""
        return str(ROLES.get(value, value))


@admin.register(ContextEntry)
class ContextEntryAdmin(WordSearch, RecordAdmin):
    """Admin for the context that models were given."""

    ordering = ("-id",)
    list_display = ["said", "session", "type", "spoken_by", "tokens", "created_at"]
    list_filter = ["type", ("role", RoleFilter), "created_at"]
    list_select_related = ["session"]
    search_fields = ["content", "session__title", "session__owner__username"]
    actions = ["clear_summaries"]
    fields = readonly_fields = (
        "session", "turn_page", "covers_from_page", "type", "spoken_by", "content", "tokens", "edited_at", "created_at",
    )  # fmt: skip

    turn_page = column(gettext_lazy("turn"), lambda entry: link_to(named(entry.turn_id)))
    covers_from_page = column(gettext_lazy("covers from"), lambda entry: link_to(named(entry.covers_from_id)))
    spoken_by = column(gettext_lazy("role"), lambda entry: str(ROLES.get(entry.role, entry.role)), ordering="role")
    said = column(gettext_lazy("content"), lambda entry: shortened(entry.content))

    @staticmethod
    def found_by(word: str) -> Q:
        """Search conversation entries by the messages of their turn, and others by their own text."""
        said = Q(type=ContextEntry.Type.CHAT, turn__in=messages_found(word, "turn_id"))
        others = ContextEntry.objects.exclude(type=ContextEntry.Type.CHAT).filter(content__icontains=word)
        return said | Q(pk__in=looked_up(others)) | Q(session__in=sessions_named(word).values("pk"))

    @admin.action(description=gettext_lazy("Clear selected summaries"), permissions=["clear"])
    def clear_summaries(self, request: HttpRequest, entries: QuerySet[ContextEntry]) -> None:
        """Clear summaries, so that models no longer get them; other entries are unchanged."""
        from conversations.memory import summaries  # imports all of search, which loading the apps shouldn't do

        cleared = [entry for entry in entries.filter(type=ContextEntry.Type.SUMMARY) if entry.content]
        for entry in cleared:
            summaries.edit(entry, "")
        text = ngettext("%(count)d summary cleared.", "%(count)d summaries cleared.", len(cleared))
        messages.success(request, text % {"count": len(cleared)})

    def has_clear_permission(self, request: HttpRequest) -> bool:
        """Require Django's permission to change entries."""
        return request.user.has_perm("conversations.change_contextentry")


@admin.register(Citation)
class CitationAdmin(WordSearch, RecordAdmin):
    """Admin for the sources of answers, as they were when cited."""

    ordering = ("-id",)
    list_display = ["title", "filename", "heading", "page", "index", rounded(Citation, "score"), "cited"]
    list_filter = ["cited", ("document", admin.EmptyFieldListFilter)]
    search_fields = ["title", "filename", "heading", "snippet", "request_id"]
    fields = readonly_fields = (
        "message_page", "index", "cited", "title", "filename", "heading", "page", "snippet", "reason",
        rounded(Citation, "score"), "retrievers", "request_id",
    )  # fmt: skip

    message_page = column(gettext_lazy("message"), lambda citation: link_to(citation.message))
    retrievers = column(gettext_lazy("sources"), lambda citation: pretty_json(citation.sources, digits=4))

    @staticmethod
    def found_by(word: str) -> Q:
        """Search by cited text or the request id of the turn."""
        said = Q(pk__in=looked_up(having_word(Citation.objects.all(), word, *CITATION_TEXTS)))
        return said | Q(message__turn__in=turns_requested(word).values("pk")) if is_part_of_uuid(word) else said


class NodeFilter(ValuesFilter):
    """Filter by node."""

    def label(self, value: str) -> str:
        """Return the title of a node."""
        return node_name(value)


class StatusFilter(ValuesFilter):
    """Filter by status."""

    def label(self, value: str) -> str:
        """Return the label of a status."""
        return str(STATUSES.get(value, value))


class InWords:
    """Readable columns of trace steps: the node, its status and its duration."""

    node = column(gettext_lazy("node"), lambda step: node_name(step.key), ordering="key")
    ended = column(gettext_lazy("status"), lambda step: str(STATUSES.get(step.status, step.status)), ordering="status")
    took = column(gettext_lazy("duration"), lambda step: duration(step.ms), ordering="ms")
    what = column(gettext_lazy("detail"), lambda step: pretty_json(step.detail, digits=4))


@admin.register(TraceStep)
class TraceStepAdmin(InWords, WordSearch, RecordAdmin):
    """Admin for trace steps, for finding slow and failed nodes."""

    ordering = ("-turn_id", "order")
    list_display = ["started_at", "node", "ended", "took", "asked"]
    list_filter = [("key", NodeFilter), ("status", StatusFilter), "started_at"]
    search_fields = ["key", "turn__request_id"]
    fields = readonly_fields = ("turn_page", "order", "node", "ended", "started_at", "took", "what")

    asked = column(gettext_lazy("question"), lambda step: str(step.turn))
    turn_page = column(gettext_lazy("turn"), lambda step: link_to(step.turn))

    def page_name(self, obj: TraceStep) -> str:
        """Return the title of the node."""
        return node_name(obj.key)

    @staticmethod
    def found_by(word: str) -> Q:
        """Search by node or the request id of the turn."""
        named = Q(key__icontains=word)
        return named | Q(turn__in=turns_requested(word).values("pk")) if is_part_of_uuid(word) else named

    def get_queryset(self, request: HttpRequest) -> QuerySet[TraceStep]:
        """Prefetch the question once per turn, and defer the nodes' details, which are long and not listed."""
        steps: QuerySet[TraceStep] = super().get_queryset(request)
        match = request.resolver_match
        if match is not None and (match.url_name or "").endswith("_changelist"):
            steps = steps.defer("detail")
        return steps.prefetch_related(Prefetch("turn", Turn.objects.named().defer("embedding")))


@admin.register(Feedback)
class FeedbackAdmin(WordSearch, RecordAdmin):
    """Admin for feedback and the answers it is about."""

    list_display = ["created_at", "value", "reason", "remark", "said", "user"]
    list_filter = ["value", "reason", "created_at"]
    list_select_related = ["user", "message"]
    search_fields = ["comment", "reason", "user__username", "message__content"]
    date_hierarchy = "created_at"
    fields = readonly_fields = ("message_page", "turn_page", "user", "value", "reason", "comment", "created_at")

    remark = column(gettext_lazy("comment"), lambda feedback: shortened(feedback.comment), ordering="comment")
    said = column(gettext_lazy("answer"), lambda feedback: shortened(feedback.message.content))
    message_page = column(gettext_lazy("message"), lambda feedback: link_to(feedback.message))
    turn_page = column(gettext_lazy("turn"), lambda feedback: link_to(named(feedback.message.turn_id)))

    @staticmethod
    def found_by(word: str) -> Q:
        """Search by comment, user or the text of the answer."""
        own = Q(comment__icontains=word) | Q(reason__icontains=word) | Q(user__username__icontains=word)
        return own | Q(message__in=messages_found(word))


@admin.register(ShareLink)
class ShareLinkAdmin(WordSearch, RecordAdmin):
    """Admin for read-only links to sessions, which can be revoked."""

    list_display = ["session", "owner", "created_at", "revoked_at"]
    list_filter = ["created_at", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["session__owner"]
    search_fields = ["uuid", "session__title", "session__owner__username"]
    newest_first = "-created_at"
    fields = readonly_fields = ("session", "turn_page", "uuid", "created_at", "revoked_at")
    actions = ["revoke"]

    owner = column(gettext_lazy("owner"), lambda link: str(link.session.owner), ordering="session__owner__username")
    turn_page = column(gettext_lazy("last turn"), lambda link: link_to(named(link.last_turn_id)))

    @staticmethod
    def found_by(word: str) -> Q:
        """Search by session or by the link's id."""
        named = Q(session__in=sessions_named(word).values("pk"))
        return named | Q(uuid__icontains=word) if is_part_of_uuid(word) else named

    def page_name(self, obj: ShareLink) -> str:
        """Return the name of the session, since the link itself only has an id."""
        return str(obj.session)

    @admin.action(description=gettext_lazy("Revoke selected links"), permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ShareLink]) -> None:
        """Revoke the links that are still valid."""
        if not request.user.has_perm("conversations.change_sharelink"):
            self.message_user(request, _("You may not revoke links."), messages.ERROR)
            return
        count = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, ngettext("%d link is revoked.", "%d links are revoked.", count) % count)
