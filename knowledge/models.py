"""Knowledge bases, their documents, and the documents' chunks and pictures."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.explanations import explain
from knowledge.invitations.models import Invitation
from knowledge.labels import LONGEST_TAG
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import check_name

__all__ = [
    "Attachment",
    "BulkJob",
    "Chunk",
    "Document",
    "Invitation",
    "KnowledgeBase",
    "Membership",
    "Picture",
    "ScannedPage",
]


class KnowledgeBase(models.Model):
    """A set of documents with one owner, searched as one."""

    class Visibility(models.TextChoices):
        """Who may read the base besides its members."""

        PRIVATE = "private", _("Private")
        SITE = "site", _("Everyone on this site")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="knowledge_bases", verbose_name=_("owner")
    )
    name = models.CharField(_("name"), max_length=120)
    description = models.TextField(_("description"), blank=True)
    visibility = models.CharField(
        _("visibility"), max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE
    )
    chunk_size = models.PositiveIntegerField(
        _("passage length"),
        default=200,
        validators=[MinValueValidator(40), MaxValueValidator(2000)],
        help_text=_("Target length of a passage, in tokens. The embedding model reads at most 256."),
    )
    chunk_overlap = models.PositiveIntegerField(
        _("overlap"),
        default=30,
        validators=[MaxValueValidator(500)],
        help_text=_("Number of tokens, in whole sentences, that a passage repeats from the previous one."),
    )
    answer_from_general_knowledge = models.BooleanField(
        _("answer from general knowledge"),
        default=True,
        help_text=_("If nothing is found, the language model answers on its own; such answers are marked."),
    )
    # Whether it contains the files of one chat: only its owner may read them, and only that chat lists or searches it.
    # Its name is unique and never shown.
    of_chat = models.BooleanField(_("files of a chat"), default=False, editable=False)
    # Whether that chat is deleted but may be restored; until then nobody can access the files.
    put_away = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        """Names, unique per owner, and constraints."""

        verbose_name = _("knowledge base")
        verbose_name_plural = _("knowledge bases")
        ordering = ["name", "id"]
        permissions = [("curate_knowledgebase", "Can manage every knowledge base")]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="knowledge_base_name_unique_per_owner"),
            models.CheckConstraint(
                condition=Q(of_chat=False) | Q(visibility="private"), name="files_of_a_chat_are_private"
            ),
            models.CheckConstraint(condition=Q(chunk_overlap__lt=F("chunk_size")), name="overlap_less_than_chunk"),
            models.CheckConstraint(condition=Q(visibility__in=["private", "site"]), name="knowledge_base_visibility"),
        ]
        indexes = [models.Index(fields=["visibility"])]

    def __str__(self) -> str:
        return gettext("Files of a chat") if self.of_chat else self.name


class Membership(models.Model):
    """A person or group that a knowledge base is shared with; someone with several memberships has the highest role."""

    class Role(models.TextChoices):
        """Viewers ask and read; editors also add and remove documents."""

        VIEWER = "viewer", _("Viewer")
        EDITOR = "editor", _("Editor")

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="memberships",
        verbose_name=_("person"),
    )
    group = models.ForeignKey(
        "auth.Group",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="memberships",
        verbose_name=_("group"),
    )
    role = models.CharField(_("role"), max_length=10, choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One role per base and person or group."""

        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [
            models.UniqueConstraint(fields=["knowledge_base", "user"], name="one_membership_per_user"),
            models.UniqueConstraint(fields=["knowledge_base", "group"], name="one_membership_per_group"),
            models.CheckConstraint(
                condition=Q(user__isnull=True) ^ Q(group__isnull=True),
                name="membership_of_user_or_group",
                violation_error_message=_("Name either a person or a group."),
            ),
            models.CheckConstraint(condition=Q(role__in=["viewer", "editor"]), name="membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group} · {self.knowledge_base} · {self.get_role_display()}"


def document_path(document: "Document", filename: str) -> str:
    """Return the path of a document's file, which never contains the name chosen by the uploader."""
    return f"documents/{document.knowledge_base_id}/{document.sha256}"


def picture_path(picture: "Picture", filename: str) -> str:
    """Return the path of a picture's file."""
    return f"pictures/{picture.document_id}/{filename}"


# Codes of errors that reading the same file again can't change.
_IN_THE_FILE = frozenset({"encrypted", "empty", "broken", "missing"})


class Document(models.Model):
    """A file of a knowledge base and the state of its ingestion."""

    class Status(models.TextChoices):
        """`queued → parsing → chunked → indexing → ready`, or failed or cancelled."""

        QUEUED = "queued", _("Waiting")
        PARSING = "parsing", _("Reading")
        CHUNKED = "chunked", _("Searchable by words")
        INDEXING = "indexing", _("Indexing meaning")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    WORKING = (Status.PARSING, Status.CHUNKED, Status.INDEXING)
    UNFINISHED = (Status.QUEUED, *WORKING)

    knowledge_base = models.ForeignKey(
        KnowledgeBase, on_delete=models.CASCADE, related_name="documents", verbose_name=_("knowledge base")
    )
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("added by")
    )
    # Empty for a passage of a corpus, which is identified by its `external_id` there and can't be read again.
    file = models.FileField(_("file"), upload_to=document_path, max_length=255, blank=True)
    external_id = models.CharField(_("ID in the corpus"), max_length=255, blank=True)
    original_filename = models.CharField(_("file name"), max_length=255)
    # The path of its folder within the folder that was added, with slashes: "guide/admin".
    folder = models.CharField(_("folder"), max_length=500, blank=True)
    # The title given in the document; empty until it is read, or if it has none.
    title = models.CharField(_("title"), max_length=300, blank=True)
    media_type = models.CharField(_("media type"), max_length=127)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField(_("size"), help_text=_("bytes"))
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.QUEUED)
    stage = models.CharField(_("stage"), max_length=40, blank=True)
    progress = models.PositiveSmallIntegerField(_("progress"), default=0, help_text=_("percent"))
    error_code = models.CharField(_("error code"), max_length=40, blank=True)
    # Arguments of `explanations.explain`, for the error and for each notice of what was left out.
    error = models.JSONField(_("error"), default=dict, blank=True)
    notices = models.JSONField(_("notice"), default=list, blank=True)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    # It was added only as an attachment, and is deleted with the last mail that it is attached to.
    is_attachment = models.BooleanField(_("attachment"), default=False)
    # A small file that took long to read, which is no longer treated as small.
    is_slow = models.BooleanField(default=False)
    pages = models.PositiveIntegerField(_("pages"), null=True, blank=True)
    # The number of pages whose text is in pictures, and whether the next or last reading includes them. The first one
    # doesn't, so that the rest of the text is searchable soon.
    scanned_pages = models.PositiveIntegerField(_("scanned pages"), default=0)
    reads_scans = models.BooleanField(default=False)
    language = models.CharField(_("language"), max_length=10, blank=True)
    source_url = models.URLField(_("source"), max_length=2000, blank=True)
    # Tags and fields given by people, see `labels`; fields are {"name": string, number or boolean}.
    tags = ArrayField(models.CharField(max_length=LONGEST_TAG), verbose_name=_("tags"), default=list, blank=True)
    metadata = models.JSONField(_("fields"), default=dict, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("added"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        """Constraints: among others, a base contains the same bytes at most once."""

        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["knowledge_base", "sha256"], name="document_bytes_unique_per_base"),
            models.UniqueConstraint(
                fields=["knowledge_base", "external_id"],
                condition=~Q(external_id=""),
                name="document_external_id_unique_per_base",
            ),
            models.CheckConstraint(condition=Q(progress__lte=100), name="document_progress_is_percent"),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "parsing", "chunked", "indexing", "ready", "failed", "cancelled"]),
                name="document_status",
            ),
        ]
        indexes = [
            models.Index(fields=["knowledge_base", "-created_at", "-id"]),
            models.Index(fields=["status", "heartbeat_at"]),
            GinIndex(fields=["tags"], name="document_tags", fastupdate=False),
            GinIndex(fields=["metadata"], name="document_metadata", opclasses=["jsonb_path_ops"], fastupdate=False),
        ]

    def __str__(self) -> str:
        return self.original_filename

    @property
    @admin.display(description=_("error"))
    def error_message(self) -> str:
        """The error in the reader's language, or an empty string."""
        return explain(**self.error)

    @property
    @admin.display(description=_("notice"))
    def notice(self) -> str:
        """Notices of what was left out, in the reader's language, one per line."""
        return "\n".join(explain(**notice) for notice in self.notices)

    @property
    def may_retry(self) -> bool:
        """Whether reading it again may succeed, which is false if the file itself is the reason."""
        if self.error_code in ("unsupported", "missing_tool"):
            try:
                check_name(self.original_filename)
            except ParseError:
                return False
            return True  # the program that was missing is now installed
        return bool(self.file) and self.error_code not in _IN_THE_FILE

    @property
    def path(self) -> str:
        """The folder, which distinguishes files of the same name, and the file name."""
        return f"{self.folder}/{self.original_filename}" if self.folder else self.original_filename

    @property
    def name(self) -> str:
        """The name shown to people: the title, or else the path."""
        return self.title or self.path


class Attachment(models.Model):
    """A file attached to a mail, and the document created from it; the same bytes have only one document."""

    mail = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="attachments", verbose_name=_("mail"))
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, null=True, related_name="carried_by", verbose_name=_("document")
    )
    name = models.CharField(_("file name"), max_length=255)
    size = models.PositiveBigIntegerField(_("size"), help_text=_("bytes"))
    # Why it has no document, as arguments of `explanations.explain`.
    error = models.JSONField(_("error"), default=dict, blank=True)

    class Meta:
        """Ordered as in the mail."""

        verbose_name = _("attachment")
        verbose_name_plural = _("attachments")
        ordering = ["mail_id", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def error_message(self) -> str:
        """Why it can't be read, in the reader's language; "" if it can, or if that isn't known yet."""
        return explain(**self.error) if self.document is None else self.document.error_message


class Picture(models.Model):
    """A picture extracted from a document."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="pictures")
    file = models.ImageField(upload_to=picture_path, width_field="width", height_field="height", max_length=255)
    page = models.PositiveIntegerField(null=True, blank=True)
    alt = models.TextField(blank=True)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)

    class Meta:
        """Ordered as in the document."""

        verbose_name = _("picture")
        verbose_name_plural = _("pictures")
        ordering = ["document_id", "id"]

    def __str__(self) -> str:
        return self.alt or f"{self.document_id}/{self.pk}"


class ScannedPage(models.Model):
    """The recognised lines of a scanned page, with their positions."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="recognised")
    number = models.PositiveIntegerField()
    # As `PageBreak.recognised`.
    lines = models.JSONField()

    class Meta:
        """One row per page."""

        verbose_name = _("scanned page")
        verbose_name_plural = _("scanned pages")
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="scanned_page_unique")]

    def __str__(self) -> str:
        return f"{self.document_id}/{self.number}"


class Chunk(models.Model):
    """A passage of a document: the unit that is found, quoted and cited.

    The contents of a document's chunks are disjoint and in order, so that together they read as the document. `lead`
    contains sentences repeated from the previous chunk, which are indexed but never shown.
    """

    class Kind(models.TextChoices):
        """The kind of content."""

        TEXT = "text", _("Text")
        TABLE = "table", _("Table")
        IMAGE = "image", _("Picture")

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    ordinal = models.PositiveIntegerField()
    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.TEXT)
    content = models.TextField()
    lead = models.TextField(blank=True)
    heading_path = ArrayField(models.TextField(), default=list, blank=True)
    page_from = models.PositiveIntegerField(null=True, blank=True)
    page_to = models.PositiveIntegerField(null=True, blank=True)
    char_start = models.PositiveBigIntegerField(default=0)
    char_end = models.PositiveBigIntegerField(default=0)
    # ["column", …] and [["cell", …], …] of a table; None otherwise.
    table_columns = models.JSONField(null=True, blank=True)
    table_rows = models.JSONField(null=True, blank=True)
    picture = models.ForeignKey(Picture, on_delete=models.SET_NULL, null=True, blank=True, related_name="chunks")
    token_count = models.PositiveIntegerField(default=0)

    class Meta:
        """Numbered from 0 within the document."""

        verbose_name = _("chunk")
        verbose_name_plural = _("chunks")
        ordering = ["document_id", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["document", "ordinal"], name="chunk_ordinal_unique_per_document"),
            models.CheckConstraint(condition=Q(kind__in=["text", "table", "image"]), name="chunk_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id}#{self.ordinal}"

    @property
    def heading(self) -> str:
        """The heading path as one line, outermost first."""
        return " › ".join(self.heading_path)

    @property
    def page(self) -> int | None:
        """The page on which the passage starts, from 1."""
        return self.page_from

    @property
    def searchable_text(self) -> str:
        """The text that is indexed and embedded: headings, the lead and the content."""
        parts: list[Any] = [self.heading, self.lead, self.content]
        return "\n".join(part for part in parts if part)


class BulkJob(models.Model):
    """A bulk action on documents of a base, done batch by batch: see `many.bulk`."""

    class Action(models.TextChoices):
        """The action on each document."""

        RETRY = "retry", _("Retry")
        REINGEST = "reingest", _("Read again")
        DELETE = "delete", _("Delete")
        MOVE = "move", _("Move")
        TAG = "tag", _("Tag")
        UNTAG = "untag", _("Untag")
        DESCRIBE = "describe", _("Set fields")

    class Status(models.TextChoices):
        """`queued → running → done`, or failed if it could not continue."""

        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="bulk_jobs")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    action = models.CharField(_("action"), max_length=10, choices=Action.choices)
    target = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, null=True, related_name="+")
    tags = ArrayField(models.CharField(max_length=LONGEST_TAG), default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    # The ids of the documents as they were chosen; the first `done` of them are processed.
    document_ids = ArrayField(models.BigIntegerField(), default=list)
    total = models.PositiveIntegerField()
    done = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    # {code: {"count": number, "names": the first of them}} for documents left unchanged, or that need a message.
    told = models.JSONField(default=dict, blank=True)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.QUEUED)
    error = models.TextField(_("error"), blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Ordered newest first."""

        verbose_name = _("bulk job")
        verbose_name_plural = _("bulk jobs")
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["status", "heartbeat_at"])]
        constraints = [models.CheckConstraint(condition=Q(done__lte=F("total")), name="bulk_job_done_within_total")]

    def __str__(self) -> str:
        return f"{self.knowledge_base_id}: {self.action} {self.total}"

    @property
    def percent(self) -> int:
        """The progress in percent."""
        return 100 * self.done // self.total if self.total else 100
