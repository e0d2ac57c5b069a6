"""Models of chats: sessions, turns, messages, citations, traces, feedback and share links."""

import uuid
from typing import Self

from django.conf import settings
from django.contrib import admin
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from conversations.assistants.models import Assistant, AssistantVersion, Rehearsal
from conversations.inbox.models import Draft, UnseenAnswer
from conversations.instructions.models import OwnInstructions
from conversations.memory.models import MemoryFact, MemorySwitch
from conversations.message_search import word_vector
from conversations.prompts.models import ModelProfile, PromptTemplate, TokenCalibration
from knowledge.labels import LONGEST_TAG
from retrieval.types import AnswerState

__all__ = [
    "CITATION_TEXTS",
    "Assistant",
    "AssistantVersion",
    "ChatLabel",
    "ChatSession",
    "Citation",
    "ContextEntry",
    "Draft",
    "Feedback",
    "MemoryFact",
    "MemorySwitch",
    "Message",
    "ModelProfile",
    "OwnInstructions",
    "PromptTemplate",
    "Rehearsal",
    "SavedPrompt",
    "ShareLink",
    "TokenCalibration",
    "TraceStep",
    "Turn",
    "UnseenAnswer",
]


# The value of `Turn.model` for answers that no model wrote, but that quote documents.
QUOTING = "extractive"
# The fields of a citation that full-text search covers.
CITATION_TEXTS = ("title", "filename", "heading", "snippet")


class ChatLabel(models.Model):
    """A label that a user gives to some of their sessions, to filter the list by."""

    NAME_LENGTH = 60

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="chat_labels", verbose_name=_("owner")
    )
    name = models.CharField(_("name"), max_length=NAME_LENGTH)

    class Meta:
        """Ordered by name; names are unique per user, case-insensitively."""

        verbose_name = _("label")
        verbose_name_plural = _("labels")
        ordering = [Lower("name"), "id"]
        constraints = [models.UniqueConstraint("owner", Lower("name"), name="one_label_per_name")]

    def __str__(self) -> str:
        return self.name


class ChatSession(models.Model):
    """A conversation of one user."""

    class Status(models.TextChoices):
        """Deleting hides a session; the retention task removes it."""

        ACTIVE = "active", _("Active")
        DELETED = "deleted", _("Deleted")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="chat_sessions", verbose_name=_("owner")
    )
    title = models.CharField(_("title"), max_length=200)
    title_is_automatic = models.BooleanField(_("automatic title"), default=True)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.ACTIVE)
    pinned = models.BooleanField(_("pinned"), default=False)
    # Hidden from the list, but found by search; the next question moves it back.
    archived = models.BooleanField(_("archived"), default=False)
    labels = models.ManyToManyField(ChatLabel, blank=True, related_name="sessions", verbose_name=_("labels"))
    # Empty means all that the owner may read.
    knowledge_bases = models.ManyToManyField(
        "knowledge.KnowledgeBase", blank=True, related_name="+", verbose_name=_("knowledge bases")
    )
    # If there are any, only these are searched, and `knowledge_bases` is empty.
    documents = models.ManyToManyField("knowledge.Document", blank=True, related_name="+", verbose_name=_("documents"))
    # Search only documents with one of these tags and with these metadata fields, as `LabelFilter.read` takes them.
    tags = ArrayField(models.CharField(max_length=LONGEST_TAG), verbose_name=_("tags"), default=list, blank=True)
    metadata = models.JSONField(_("fields"), default=dict, blank=True)
    # Search only documents in this folder or its subfolders.
    folder = models.CharField(_("folder"), max_length=500, blank=True)
    # Contains the files attached to the chat, which are always searched; None if there never were any.
    files = models.OneToOneField(
        "knowledge.KnowledgeBase",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("files"),
    )
    # None means the default assistant, and the model of the assistant or the site.
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("assistant")
    )
    model = models.ForeignKey(
        ModelProfile, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("model")
    )
    # How answers in this chat should be written.
    instructions = models.TextField(_("instructions"), blank=True, default="", db_default="")
    last_activity_at = models.DateTimeField(_("last activity"))
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """Pinned sessions first, then by newest activity."""

        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ["-pinned", "-last_activity_at", "-id"]
        indexes = [
            models.Index(
                fields=["owner", "-pinned", "-last_activity_at", "-id"],
                condition=Q(status="active", archived=False),
                name="session_list",
            ),
            models.Index(
                fields=["owner", "-pinned", "-last_activity_at", "-id"],
                condition=Q(status="active", archived=True),
                name="session_archive",
            ),
            models.Index(fields=["deleted_at"], condition=Q(status="deleted"), name="session_purge"),
        ]
        constraints = [models.CheckConstraint(condition=Q(status__in=["active", "deleted"]), name="session_status")]

    def __str__(self) -> str:
        return self.name

    @property
    @admin.display(description=_("title"), ordering="title")
    def name(self) -> str:
        """The displayed title; while it is automatic, "New chat 1" in the reader's language."""
        if not self.title_is_automatic:
            return self.title
        base = gettext("New chat")
        number = self.title[len(self.title.rstrip("0123456789")) :]
        return f"{base} {number}".rstrip() if base[-1] < "\u2e80" else base + number  # 新会话, 新会话1, …


class SavedPrompt(models.Model):
    """A text to insert into the composer: a user's own, or, without an owner, the whole site's.

    `{{name}}` is a placeholder; the user fills it in before the text is inserted.
    """

    TITLE_LENGTH = 80
    TEXT_LENGTH = 8000

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="saved_prompts",
        verbose_name=_("owner"),
    )
    title = models.CharField(_("title"), max_length=TITLE_LENGTH)
    text = models.TextField(_("text"), max_length=TEXT_LENGTH)
    changed_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        """Ordered by title."""

        verbose_name = _("saved prompt")
        verbose_name_plural = _("saved prompts")
        ordering = [Lower("title"), "id"]

    def __str__(self) -> str:
        return self.title


class TurnQuerySet(models.QuerySet["Turn"]):
    """Turns, optionally with their questions."""

    def named(self) -> Self:
        """Annotate turns with `question`, which `str` uses as their name."""
        questions = Message.objects.filter(turn=models.OuterRef("pk"), role=Message.Role.USER).values("content")
        return self.annotate(question=models.Subquery(questions))


class Turn(models.Model):
    """A question and its answer, with one `request_id`; turns form a tree through `parent_turn`."""

    session = models.ForeignKey(ChatSession, on_delete=models.CASCADE, related_name="turns", verbose_name=_("session"))
    request_id = models.UUIDField(_("request id"), unique=True, default=uuid.uuid4, editable=False)
    parent_turn = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="children", verbose_name=_("parent turn")
    )
    # Whether the turn repeats its parent's question and continues its parent's answer, which was cut.
    continues = models.BooleanField(_("continues"), default=False)
    # The scope of the question, as `services.scope_of` returns it, and the `chosen_document` of several that the
    # question may mean; regenerated answers reuse it. None is unknown.
    scope = models.JSONField(_("scope"), null=True, blank=True, editable=False)
    retrieval_query = models.TextField(_("retrieval query"), blank=True)
    embedding = HalfVectorField(null=True, blank=True)
    embedding_space = models.ForeignKey(
        "retrieval.EmbeddingSpace", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    token_count = models.PositiveIntegerField(_("tokens"), default=0)
    action = models.CharField(_("action"), max_length=20, blank=True)
    assistant_version = models.ForeignKey(
        AssistantVersion,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("assistant version"),
    )
    model = models.CharField(_("model"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        """Ordered oldest first."""

        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        ordering = ["created_at", "id"]
        indexes = [models.Index(fields=["session", "created_at", "id"])]
        constraints = [
            models.CheckConstraint(condition=~Q(parent_turn=models.F("id")), name="turn_is_not_its_own_parent")
        ]

    def __str__(self) -> str:
        return Truncator(getattr(self, "question", None) or str(self.request_id)).chars(80)

    @property
    def answer_state(self) -> str:
        """The `Message.answer_state` of the turn's answer."""
        states = self.messages.filter(role=Message.Role.ASSISTANT).values_list("answer_state", flat=True)
        return states.first() or ""


class Message(models.Model):
    """A question, or an answer in its current state: the fold of its events."""

    class Role(models.TextChoices):
        """The author of a message."""

        USER = "user", _("User")
        ASSISTANT = "assistant", _("Assistant")

    class Status(models.TextChoices):
        """An answer is stored as streaming when its turn starts, and ends in one of the last four."""

        STREAMING = "streaming", _("Answering")
        COMPLETED = "completed", _("Completed")
        STOPPED = "stopped", _("Stopped")
        FAILED = "failed", _("Failed")
        INTERRUPTED = "interrupted", _("Interrupted")

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="messages", verbose_name=_("turn"))
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    content = models.TextField(_("content"), blank=True, help_text=_("Plain text, extracted from the blocks."))
    # [{"id", "kind", "text" | "columns" + "rows" | "alt" + "url" + "width" + "height", "language"?}]
    blocks = models.JSONField(_("blocks"), default=list, blank=True)
    thinking = models.TextField(_("thinking"), blank=True)
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.COMPLETED)
    # Only for answers; empty for small talk, clarifying questions and answers that ended earlier.
    answer_state = models.CharField(_("outcome"), max_length=10, choices=AnswerState.choices, blank=True)
    # Why the model stopped before the answer was complete: `length` or `content_filter`; else empty.
    finish_reason = models.CharField(_("finish reason"), max_length=40, blank=True, default="")
    error_code = models.CharField(_("error code"), max_length=40, blank=True)
    error_message = models.TextField(_("error"), blank=True)
    last_seq = models.PositiveIntegerField(default=0)
    # The events up to last_seq, for clients that reconnect; emptied some time after the end.
    stream_log = models.JSONField(default=list, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    usage = models.JSONField(_("usage"), default=dict, blank=True)
    duration_ms = models.PositiveIntegerField(_("duration"), null=True, blank=True)
    # For each checked sentence: {"text", "sources", "status", "coverage", "problems": [{"kind", "what"}]}
    checks = models.JSONField(_("checked citations"), default=list, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """One question and one answer per turn."""

        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["turn_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "role"], name="one_message_per_role_and_turn"),
            models.CheckConstraint(condition=Q(role__in=["user", "assistant"]), name="message_role"),
            models.CheckConstraint(
                condition=Q(status__in=["streaming", "completed", "stopped", "failed", "interrupted"]),
                name="message_status",
            ),
            models.CheckConstraint(
                condition=Q(answer_state__in=["", *AnswerState.values]), name="message_answer_state"
            ),
        ]
        indexes = [
            models.Index(fields=["heartbeat_at"], condition=Q(status="streaming"), name="message_streaming"),
            models.Index(
                fields=["heartbeat_at"],
                condition=Q(heartbeat_at__isnull=False) & ~Q(status="streaming"),
                name="message_log_kept",
            ),
            # For answers in a range of days. Neither column changes, so checkpoints don't have to update the index.
            models.Index(fields=["created_at"], condition=Q(role="assistant"), name="message_answered"),
            # For turns with an outcome. Streaming answers are left out, because they are saved again and again.
            models.Index(fields=["answer_state", "turn"], condition=~Q(status="streaming"), name="message_outcome"),
            # Streaming answers are left out, because every checkpoint would be parsed into words again.
            GinIndex(word_vector("content"), condition=~Q(status="streaming"), name="message_words"),
        ]

    def __str__(self) -> str:
        return gettext("%(name)s: %(value)s") % {"name": self.get_role_display(), "value": self.content[:60]}

    @property
    def can_continue(self) -> bool:
        """Whether this is an answer that was cut by a stop, an interruption, a failure or its length limit.

        Quotes that stand in for the answer of a model that failed are no beginning of it.
        """
        cut = self.status in (self.Status.STOPPED, self.Status.INTERRUPTED) or (
            self.status == self.Status.FAILED and self.turn.model != QUOTING
        )
        return self.role == self.Role.ASSISTANT and bool(self.content) and (cut or self.finish_reason == "length")


# The roles of the messages sent to models; "system" is the site.
ROLES = {"system": _("System"), **dict(Message.Role.choices)}


class ContextEntry(models.Model):
    """A text of a session that is sent to models, kept separately from the messages that users see."""

    class Type(models.TextChoices):
        """The session's system prompt, past turns as plain text, and summaries of turns that no longer fit."""

        ROUTES = "routes", _("System prompt")
        CHAT = "chat", _("Conversation")
        SUMMARY = "summary", _("Summary")

    session = models.ForeignKey(
        ChatSession, on_delete=models.CASCADE, related_name="context_entries", verbose_name=_("session")
    )
    turn = models.ForeignKey(
        Turn, on_delete=models.CASCADE, null=True, blank=True, related_name="context_entries", verbose_name=_("turn")
    )
    type = models.CharField(_("type"), max_length=10, choices=Type.choices)
    role = models.CharField(_("role"), max_length=10)
    content = models.TextField(_("content"))
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    # The oldest turn of a summary, which covers the branch up to `turn`; the summary is deleted with either.
    covers_from = models.ForeignKey(
        Turn, on_delete=models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("covers from")
    )
    edited_at = models.DateTimeField(_("edited"), null=True, blank=True, help_text=_("By the user."))
    # The texts of a summary before the user's edits, oldest first: `{"content", "at", "edited"}`.
    earlier = models.JSONField(_("earlier versions"), default=list, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """Oldest first; one system prompt per session, one summary per turn."""

        verbose_name = _("context entry")
        verbose_name_plural = _("context entries")
        ordering = ["session_id", "id"]
        indexes = [models.Index(fields=["session", "type", "id"])]
        constraints = [
            models.UniqueConstraint(fields=["session"], condition=Q(type="routes"), name="one_routes_entry"),
            models.UniqueConstraint(fields=["turn", "role"], condition=Q(type="chat"), name="one_chat_entry_per_role"),
            models.UniqueConstraint(fields=["turn"], condition=Q(type="summary"), name="one_summary_per_turn"),
            models.CheckConstraint(condition=Q(type__in=["routes", "chat", "summary"]), name="context_entry_type"),
            models.CheckConstraint(condition=Q(role__in=["system", "user", "assistant"]), name="context_entry_role"),
        ]

    def __str__(self) -> str:
        return f"{self.get_type_display()} · {ROLES.get(self.role, self.role)}"


class Citation(models.Model):
    """A numbered source of an answer: a reference to the passage, and a snapshot that outlives it."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="citations", verbose_name=_("message"))
    index = models.PositiveSmallIntegerField(_("number"))
    chunk = models.ForeignKey("knowledge.Chunk", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    # The ids of neighbouring passages that were joined, in the document's order; `chunk` is the best of them.
    merged = ArrayField(models.BigIntegerField(), default=list, blank=True, editable=False)
    document = models.ForeignKey(
        "knowledge.Document", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    request_id = models.UUIDField(_("request id"), editable=False)
    cited = models.BooleanField(_("cited"), default=False)
    filename = models.CharField(_("file name"), max_length=255)
    # The document's title at the time, or its path.
    title = models.TextField(_("title"), blank=True)
    heading = models.TextField(_("heading"), blank=True)
    page = models.PositiveIntegerField(_("page"), null=True, blank=True)
    snippet = models.TextField(_("snippet"))
    # Why the relevance filter kept it, in the model's words; empty if no model judged it.
    reason = models.TextField(_("reason"), blank=True)
    score = models.FloatField(_("score"), default=0.0)
    # [{"type", "rank", "score", "rrf_score"}]
    sources = models.JSONField(_("sources"), default=list)

    class Meta:
        """Numbered from 1 within the answer."""

        verbose_name = _("citation")
        verbose_name_plural = _("citations")
        ordering = ["message_id", "index"]
        constraints = [models.UniqueConstraint(fields=["message", "index"], name="citation_index_unique")]
        indexes = [GinIndex(word_vector(*CITATION_TEXTS), name="citation_words")]

    def __str__(self) -> str:
        return f"[{self.index}] {self.filename}"

    @property
    def joined(self) -> list[int]:
        """The ids of the joined passages; empty once they are deleted, which always happens together."""
        return self.merged if self.chunk_id is not None else []


class TraceStep(models.Model):
    """A node's run in a turn: its start, duration, status and details."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="trace", verbose_name=_("turn"))
    order = models.PositiveSmallIntegerField(_("order"))
    key = models.CharField(_("node"), max_length=60)
    status = models.CharField(_("status"), max_length=12)
    started_at = models.DateTimeField(_("started"))
    ms = models.FloatField(_("milliseconds"), default=0)
    detail = models.JSONField(_("detail"), default=dict, blank=True)

    class Meta:
        """In the order of their runs."""

        verbose_name = _("trace step")
        verbose_name_plural = _("trace steps")
        ordering = ["turn_id", "order"]
        # For removing expired traces. A BRIN index suffices, because rows are inserted in order of time.
        indexes = [BrinIndex(fields=["started_at"], name="trace_started")]
        constraints = [models.UniqueConstraint(fields=["turn", "order"], name="trace_order_unique")]

    def __str__(self) -> str:
        return self.key


class Feedback(models.Model):
    """A user's rating of an answer: a thumb, a reason and a comment."""

    COMMENT_CHARACTERS = 4000

    class Value(models.IntegerChoices):
        """Up or down."""

        UP = 1, _("Helpful")
        DOWN = -1, _("Not helpful")

    class Reason(models.TextChoices):
        """The reasons that the page offers for a thumb down; API clients may send reasons of their own."""

        WRONG = "wrong", _("Incorrect")
        UNSUPPORTED = "unsupported", _("Not in the sources")
        INCOMPLETE = "incomplete", _("Incomplete")
        OFF_TOPIC = "off-topic", _("Off topic")

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="feedback", verbose_name=_("message"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", verbose_name=_("user")
    )
    value = models.SmallIntegerField(_("value"), choices=Value.choices)
    reason = models.CharField(_("reason"), max_length=40, blank=True, choices=Reason.choices)
    comment = models.TextField(_("comment"), blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        """One per user and answer, newest first."""

        verbose_name = _("feedback")
        verbose_name_plural = _("feedback")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["message", "user"], name="one_feedback_per_user"),
            models.CheckConstraint(condition=Q(value__in=[1, -1]), name="feedback_value"),
        ]
        indexes = [models.Index(fields=["-created_at", "-id"], name="feedback_newest")]

    def __str__(self) -> str:
        return self.get_value_display()


class ShareLink(models.Model):
    """A read-only link to a branch of a session up to a turn, valid until it is revoked."""

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(
        ChatSession, on_delete=models.CASCADE, related_name="share_links", verbose_name=_("session")
    )
    # Later turns are not shared.
    last_turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="+", verbose_name=_("last turn"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        """Newest first."""

        verbose_name = _("share link")
        verbose_name_plural = _("share links")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return str(self.uuid)
