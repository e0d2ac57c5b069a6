"""What belongs to turns, in the admin: context, citations, trace, feedback, and links that can be revoked."""

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
    """Return a turn that is called by its question, or None."""
    return Turn.objects.named().defer("embedding").filter(pk=turn_id).first() if turn_id is not None else None


class RoleFilter(ValuesFilter):
    """By whose words they are."""

    def label(self, value: str) -> str:
        """Return the role in words."""
        return str(ROLES.get(value, value))


@admin.register(ContextEntry)
class ContextEntryAdmin(WordSearch, RecordAdmin):
    """What models were given."""

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
        """Conversation is found by its turn's messages, whose text it is; the rest, one of a session, by its own."""
        said = Q(type=ContextEntry.Type.CHAT, turn__in=messages_found(word, "turn_id"))
        told = ContextEntry.objects.exclude(type=ContextEntry.Type.CHAT).filter(content__icontains=word)
        return said | Q(pk__in=looked_up(told)) | Q(session__in=sessions_named(word).values("pk"))

    @admin.action(description=gettext_lazy("Clear selected summaries"), permissions=["clear"])
    def clear_summaries(self, request: HttpRequest, entries: QuerySet[ContextEntry]) -> None:
        """Empty summaries, so that models are no longer told them; other entries stay."""
        from conversations.memory import summaries  # all of search comes with it: not when apps load

        cleared = [entry for entry in entries.filter(type=ContextEntry.Type.SUMMARY) if entry.content]
        for entry in cleared:
            summaries.edit(entry, "")
        text = ngettext("%(count)d summary cleared.", "%(count)d summaries cleared.", len(cleared))
        messages.success(request, text % {"count": len(cleared)})

    def has_clear_permission(self, request: HttpRequest) -> bool:
        """Allow those who hold Django's permission to change entries."""
        return request.user.has_perm("conversations.change_contextentry")


@admin.register(Citation)
class CitationAdmin(WordSearch, RecordAdmin):
    """Sources of answers, as they were when cited."""

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
        """By what was cited, or the request of its turn."""
        said = Q(pk__in=looked_up(having_word(Citation.objects.all(), word, *CITATION_TEXTS)))
        return said | Q(message__turn__in=turns_requested(word).values("pk")) if is_part_of_uuid(word) else said


class NodeFilter(ValuesFilter):
    """By the node that ran."""

    def label(self, value: str) -> str:
        """Return what the node is called."""
        return node_name(value)


class StatusFilter(ValuesFilter):
    """By how nodes ended."""

    def label(self, value: str) -> str:
        """Return the status in words."""
        return str(STATUSES.get(value, value))


class InWords:
    """Columns of trace steps that say in words which node ran and how it ended."""

    node = column(gettext_lazy("node"), lambda step: node_name(step.key), ordering="key")
    ended = column(gettext_lazy("status"), lambda step: str(STATUSES.get(step.status, step.status)), ordering="status")
    took = column(gettext_lazy("duration"), lambda step: duration(step.ms), ordering="ms")
    what = column(gettext_lazy("detail"), lambda step: pretty_json(step.detail, digits=4))


@admin.register(TraceStep)
class TraceStepAdmin(InWords, WordSearch, RecordAdmin):
    """Nodes that ran, the slow and the failed ones easily found."""

    ordering = ("-turn_id", "order")
    list_display = ["started_at", "node", "ended", "took", "asked"]
    list_filter = [("key", NodeFilter), ("status", StatusFilter), "started_at"]
    search_fields = ["key", "turn__request_id"]
    fields = readonly_fields = ("turn_page", "order", "node", "ended", "started_at", "took", "what")

    asked = column(gettext_lazy("question"), lambda step: str(step.turn))
    turn_page = column(gettext_lazy("turn"), lambda step: link_to(step.turn))

    def page_name(self, obj: TraceStep) -> str:
        """Name the node."""
        return node_name(obj.key)

    @staticmethod
    def found_by(word: str) -> Q:
        """By the node, or the request of its turn."""
        named = Q(key__icontains=word)
        return named | Q(turn__in=turns_requested(word).values("pk")) if is_part_of_uuid(word) else named

    def get_queryset(self, request: HttpRequest) -> QuerySet[TraceStep]:
        """Fetch the question along, once for each turn; what the nodes saw is long, and no list shows it."""
        steps: QuerySet[TraceStep] = super().get_queryset(request)
        match = request.resolver_match
        if match is not None and (match.url_name or "").endswith("_changelist"):
            steps = steps.defer("detail")
        return steps.prefetch_related(Prefetch("turn", Turn.objects.named().defer("embedding")))


@admin.register(Feedback)
class FeedbackAdmin(WordSearch, RecordAdmin):
    """Thumbs, with the answers they are about."""

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
        """By what was said, who said it, or the text of the answer."""
        own = Q(comment__icontains=word) | Q(reason__icontains=word) | Q(user__username__icontains=word)
        return own | Q(message__in=messages_found(word))


@admin.register(ShareLink)
class ShareLinkAdmin(WordSearch, RecordAdmin):
    """Read-only links to sessions; they can be revoked here."""

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
        """By the session, or the link's own id."""
        named = Q(session__in=sessions_named(word).values("pk"))
        return named | Q(uuid__icontains=word) if is_part_of_uuid(word) else named

    def page_name(self, obj: ShareLink) -> str:
        """Name the session; of the link itself there are only its digits."""
        return str(obj.session)

    @admin.action(description=gettext_lazy("Revoke selected links"), permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ShareLink]) -> None:
        """End the links that are still valid."""
        if not request.user.has_perm("conversations.change_sharelink"):
            self.message_user(request, _("You may not revoke links."), messages.ERROR)
            return
        count = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, ngettext("%d link is revoked.", "%d links are revoked.", count) % count)
