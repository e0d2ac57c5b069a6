"""Read access to knowledge bases and documents for pages, the API and commands."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from knowledge import access
from knowledge.access import Actor
from knowledge.highlights import Marks
from knowledge.ingestion.ingestion import STORED
from knowledge.labels import LabelFilter
from knowledge.models import Chunk, Document, Invitation, KnowledgeBase, Membership
from ragsite.language.simplified import pattern as in_either_script
from ragsite.language.simplified import simplified

NEIGHBOURS = 1
_PACE_KEY, _BACKLOG_KEY, _LANGUAGES_KEY = "knowledge:pace", "knowledge:backlog", "knowledge:languages:"
_PACE_DOCUMENTS = 20
WINDOW = 100  # chunks on one page of the document view
FOUND = 100  # passages listed when searching within a document
SECTIONS = 200  # listed in a document's outline
_DESCRIBED = 1000  # documents whose fields are read for suggestions
# Folders that are searched for suggestions.
_MOST_FOLDERS = 2_000
_PATH = Chunk._meta.get_field("heading_path")
_MOST_WORDS = 20  # of a search within a document
_BEFORE, _AROUND = 60, 200  # characters shown before the first match, and in total
SILENT_AFTER = timedelta(seconds=10)
# The states of documents whose passages are being indexed.
_INDEXED = (Document.Status.CHUNKED, Document.Status.INDEXING)

OVERLAP_TOO_LONG = _("The overlap must be shorter than the passage length.")

STAGES: dict[str, Promise] = {
    "parsing": _("Reading"),
    "scans": _("Reading scanned pages"),
    "storing": _("Storing passages"),
    "words": _("Indexing words"),
    "vectors": _("Indexing meaning"),
}


# --- Knowledge bases ------------------------------------------------------------------------------


def knowledge_bases(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the readable bases by name, each with `document_count`, `unfinished_count`, `failed_count` and `role`.

    `role` is the user's highest role: "owner", "curator", "editor" or "viewer". `is_at_hand` is false for bases that a
    curator may manage although they aren't shared with them. `is_shared` is true for bases with members.
    """
    edited = access.memberships(user).filter(role=Membership.Role.EDITOR).values("knowledge_base_id")
    return access.readable(user).annotate(
        role=Case(
            When(owner_id=user.pk, then=Value("owner")),
            When(Exists(access.curators().filter(pk=access.key(user))), then=Value("curator")),
            When(pk__in=edited, then=Value("editor")),
            default=Value("viewer"),
            output_field=CharField(),
        ),
        is_at_hand=Exists(access.at_hand(user).filter(pk=OuterRef("pk")).order_by()),
        is_shared=Exists(Membership.objects.filter(knowledge_base=OuterRef("pk"))),
    ).select_related("owner").annotate(
        document_count=count_of(Document.objects.all(), "knowledge_base"),
        unfinished_count=count_of(Document.objects.filter(status__in=Document.UNFINISHED), "knowledge_base"),
        failed_count=count_of(Document.objects.filter(status=Document.Status.FAILED), "knowledge_base"),
    )  # fmt: skip


def role_of(user: Actor, knowledge_base: KnowledgeBase) -> str:
    """Return the highest role in a base of a user who may read it: "owner", "curator", "editor" or "viewer"."""
    if knowledge_base.owner_id == user.pk:
        return "owner"
    if access.curates(user):
        return "curator"
    editor = access.memberships(user).filter(knowledge_base=knowledge_base, role=Membership.Role.EDITOR)
    return "editor" if editor.exists() else "viewer"


def members(knowledge_base: KnowledgeBase) -> QuerySet[Membership]:
    """Return the groups and then the people that a base is shared with, by name; groups have their active `people`."""
    within = User.groups.through.objects.filter(group=OuterRef("group_id"), user__is_active=True)
    people = within.order_by().values("group").annotate(n=Count("*")).values("n")  # type: ignore[misc]
    return (
        knowledge_base.memberships.select_related("user", "group")
        .annotate(people=Coalesce(Subquery(people, output_field=IntegerField()), 0))
        .order_by("group__name", "user__username")
    )


def get_invitation(knowledge_base: KnowledgeBase, pk: int) -> Invitation:
    """Return an invitation to a knowledge base; raises `Http404`."""
    found = knowledge_base.invitations.filter(pk=pk).first()
    if found is None:
        raise Http404(_("There is no such invitation."))
    return found


def count_of(rows: QuerySet[Any], owner: str) -> Coalesce:
    """Return a subquery that counts the rows whose field `owner` refers to the annotated object."""
    counted = rows.filter(**{owner: OuterRef("pk")}).order_by().values(owner).annotate(n=Count("*")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


# --- Documents ------------------------------------------------------------------------------------


def documents_of(knowledge_base: KnowledgeBase) -> QuerySet[Document]:
    """Return a base's documents, newest first, each with `chunk_count`."""
    return with_chunk_count(knowledge_base.documents.all())


def with_chunk_count(documents: QuerySet[Document]) -> QuerySet[Document]:
    """Annotate documents with `chunk_count`."""
    return documents.annotate(chunk_count=count_of(Chunk.objects.all(), "document"))


def place_of(document: Document) -> str:
    """Return the URL of the base or chat that contains a document."""
    name = "chat-of-files" if document.knowledge_base.of_chat else "knowledge-base"
    return reverse(name, args=[document.knowledge_base_id])


def search_documents(documents: QuerySet[Document], words: str) -> QuerySet[Document]:
    """Return the documents whose title, file name or folder contains each of the words, in either script of Chinese."""
    condition = Q()
    for word in words.replace("\x00", " ").split():  # PostgreSQL rejects U+0000
        condition &= contains("title", word) | contains("original_filename", word) | contains("folder", word)
    return documents.filter(condition)


def contains(field: str, text: str) -> Q:
    """Return the condition for rows whose field contains a text, in any case and in either script of Chinese."""
    if text.isascii():
        return Q(**{f"{field}__icontains": text})
    return Q(**{f"{field}__iregex": in_either_script(text)})


def tags_of(documents: QuerySet[Document], words: str = "", most: int = 20) -> list[str]:
    """Return the tags of documents that contain a text, the most frequent first."""
    tag = Func(F("tags"), function="unnest", output_field=CharField())
    rows = Document.objects.filter(pk__in=documents.exclude(tags=[]).order_by().values("pk")).order_by()
    counted: Counter[str] = Counter(rows.annotate(tag=tag).values_list("tag", flat=True))
    matching = [
        name for name, _count in counted.most_common() if simplified(words.casefold()) in simplified(name.casefold())
    ]
    return matching[:most]


def folders_of(documents: QuerySet[Document], words: str = "", most: int = 20) -> list[str]:
    """Return the folders of documents, and their parents, that contain some words: upper ones first, then by name."""
    matching = documents.exclude(folder="")
    for word in words.split():
        matching = matching.filter(contains("folder", word))
    found: set[str] = set()
    for folder in matching.order_by("folder").values_list("folder", flat=True).distinct()[:_MOST_FOLDERS]:
        parts = folder.split("/")
        found |= {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
    wanted = simplified(words.casefold()).split()
    named = [folder for folder in found if all(word in simplified(folder.casefold()) for word in wanted)]
    return sorted(named, key=lambda folder: (folder.count("/"), folder))[:most]


def field_names_of(documents: QuerySet[Document]) -> list[str]:
    """Return the names of the fields of the newest documents, sorted, at most 50."""
    name = Func(F("metadata"), function="jsonb_object_keys", output_field=CharField())
    newest = documents.exclude(metadata={}).order_by("-pk").values("pk")[:_DESCRIBED]
    rows = Document.objects.filter(pk__in=newest).order_by().annotate(field=name)
    return sorted(set(rows.values_list("field", flat=True)))[:50]


def status(document: Document) -> dict[str, Any]:
    """Return a document's state for the API; the document may be annotated with `chunk_count`."""
    failed = document.status == Document.Status.FAILED
    chunks = getattr(document, "chunk_count", None)
    return {
        "id": document.pk,
        "filename": document.original_filename,
        "folder": document.folder,
        "title": document.name,
        "status": document.status,
        "stage": document.stage,
        "progress": document.progress,
        "error": {"code": document.error_code, "message": document.error_message} if failed else None,
        "notice": document.notice,
        "pages": document.pages,
        "chunks": document.chunks.count() if chunks is None else chunks,
        "attachments": [
            {"name": item.name, "size": item.size, "document": item.document_id, "error": item.error_message or None}
            for item in document.attachments.all()
        ],
        "attached_to": [item.mail_id for item in document.carried_by.all()],
        "knowledge_base": document.knowledge_base_id,
        "tags": document.tags,
        "metadata": document.metadata,
        "url": reverse("api-document", args=[document.pk]),
    }


def seconds_left(document: Document) -> int | None:
    """Estimate the seconds left of a running ingestion, or return None if that isn't possible yet.

    Once the number of passages is known, the estimate uses the pace of the documents indexed last; for a waiting
    document it includes those ahead of it. Without a pace it uses this document's progress and time so far.
    """
    chunks: int = getattr(document, "chunk_count", 0)
    pace = _pace() if document.status in _INDEXED and chunks else 0.0
    if pace:
        left = chunks * (100 - document.progress) / (100 - STORED)
        if document.status == Document.Status.CHUNKED:
            indexing = Chunk.objects.filter(document__status__in=_INDEXED)
            left += max(0, (cache.get_or_set(_BACKLOG_KEY, indexing.count, 5) or 0) - chunks)
        return max(1, round(pace * left))
    if document.status == Document.Status.CHUNKED or document.status not in Document.WORKING:
        return None
    begun = STORED if document.status == Document.Status.INDEXING else 0
    if document.started_at is None or document.progress < begun + 5:
        return None
    elapsed = (timezone.now() - document.started_at).total_seconds()
    if elapsed < 2:
        return None
    return max(1, round(elapsed * (100 - document.progress) / (document.progress - begun)))


def _pace() -> float:
    """Return the seconds per passage of the documents indexed last, 0 if there are none; cached for a minute.

    Since several are indexed at a time, documents whose times overlap count as one period.
    """
    pace: float | None = cache.get(_PACE_KEY)
    if pace is None:
        finished = with_chunk_count(Document.objects.filter(status=Document.Status.READY, started_at__isnull=False))
        chunks, begun, ended = 0, None, None
        for last in finished.order_by(F("finished_at").desc(nulls_last=True))[:_PACE_DOCUMENTS]:
            if not last.started_at or not last.finished_at or (begun and last.finished_at < begun):
                break
            chunks += getattr(last, "chunk_count", 0)
            begun = min(begun or last.started_at, last.started_at)
            ended = ended or last.finished_at
        pace = (ended - begun).total_seconds() / chunks if chunks and begun and ended else 0.0
        cache.set(_PACE_KEY, pace, 60)
    return pace


def seconds_silent(document: Document) -> int | None:
    """Return the seconds since the last heartbeat of a running ingestion, or None if it is recent."""
    if document.status not in Document.WORKING or document.heartbeat_at is None:
        return None
    silent = timezone.now() - document.heartbeat_at
    return round(silent.total_seconds()) if silent > SILENT_AFTER else None


def languages_of(
    knowledge_base_ids: Collection[int], document_ids: Collection[int] = (), labels: LabelFilter | None = None
) -> Mapping[str, int]:
    """Return the numbers of passages of knowledge bases by their documents' language, cached for a minute.

    Counts only searchable documents with a known language that are among `document_ids`, if given, and match `labels`.
    The caller checks access to them.
    """
    asked_of = sorted(knowledge_base_ids), sorted(document_ids), labels or LabelFilter()
    key = _LANGUAGES_KEY + sha256(repr(asked_of).encode()).hexdigest()
    found: dict[str, int] | None = cache.get(key)
    if found is None:
        searchable = Document.objects.filter(status__in=(*_INDEXED, Document.Status.READY)).exclude(language="")
        asked = searchable.filter(knowledge_base__in=knowledge_base_ids).order_by()
        if document_ids:
            asked = asked.filter(pk__in=document_ids)
        if labels:
            asked = asked.filter(labels.condition)
        found = dict(asked.values_list("language").annotate(Count("chunks")))
        cache.set(key, found, 60)
    return found


# --- Passages -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk in the document view, with the headings that begin at it."""

    chunk: Chunk
    headings: list[tuple[int, int, str]]  # (level from 1, rank on the page, text)
    page: int | None  # if a page begins at it


@dataclass(frozen=True, slots=True)
class DocumentWindow:
    """A range of a document's chunks, with its position in the document."""

    chunks: list[Chunk]
    first: int  # ordinal, from 0
    total: int

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of the first and last chunk shown, from 1."""
        return self.first + 1, self.first + len(self.chunks)

    @property
    def previous(self) -> int | None:
        """The start of the previous window."""
        return max(0, self.first - WINDOW) if self.first else None

    @property
    def next(self) -> int | None:
        """The start of the next window."""
        return self.first + WINDOW if self.first + WINDOW < self.total else None

    def entries(self) -> Iterator[Entry]:
        """Yield the chunks with the headings and pages that begin at them.

        A heading's rank is at most one below that of the previous heading; the page's heading has rank 1. The
        document's name at its beginning is left out, since it is the page's heading.
        """
        path: list[str] = []
        page: int | None = None
        rank = 1
        for chunk in self.chunks:
            same = _common(path, chunk.heading_path)
            headings = []
            for level in range(same, len(chunk.heading_path)):
                heading = chunk.heading_path[level]
                if chunk.ordinal or heading != chunk.document.name:
                    rank = min(level + 2, rank + 1, 6)
                    headings.append((level + 1, rank, heading))
            yield Entry(chunk, headings, chunk.page_from if chunk.page_from != page else None)
            path, page = chunk.heading_path, chunk.page_to or chunk.page_from


def _common(one: list[str], other: list[str]) -> int:
    """Return how many headings two paths have in common, starting with the outermost."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def document_window(document: Document, start: int = 0, chunk_id: int | None = None) -> DocumentWindow:
    """Return up to `WINDOW` chunks from ordinal `start`, or those around a chunk of the document."""
    total = document.chunks.count()
    if chunk_id is not None:
        ordinal = document.chunks.filter(pk=chunk_id).values_list("ordinal", flat=True).first()
        start = ordinal // WINDOW * WINDOW if ordinal is not None else start
    start = min(max(start, 0), max(total - 1, 0))
    chunks = document.chunks.select_related("picture").filter(ordinal__gte=start, ordinal__lt=start + WINDOW)
    return DocumentWindow(list(chunks), start, total)


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage with a match in its text or in a heading that begins at it.

    `pieces` are the text around the first match, each with whether it is a match.
    """

    chunk: Chunk
    pieces: list[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class FoundInDocument:
    """The passages of a document that match, in document order: at most `FOUND` of `total`."""

    total: int
    passages: list[FoundPassage]


def find_in_document(document: Document, text: str) -> FoundInDocument | None:
    """Search a document for a text, or for all its words if it isn't found; return None for an empty text."""
    words = text.split()[:_MOST_WORDS]
    if not words:
        return None
    before = Chunk.objects.filter(document=document, ordinal=OuterRef("ordinal") - 1).values("heading_path")
    chunks = document.chunks.annotate(path_before=Coalesce(Subquery(before), Value([]), output_field=_PATH))

    def containing(parts: Iterable[str]) -> QuerySet[Chunk]:
        found = chunks
        for part in parts:
            begins = contains("heading_path", part) & ~contains("path_before", part)
            found = found.filter(contains("content", part) | begins)
        return found

    wanted = [" ".join(words)]
    if len(words) > 1 and not containing(wanted).exists():
        wanted = words
    pattern = re.compile(f"({'|'.join(map(in_either_script, wanted))})", re.IGNORECASE)
    passages = []
    for chunk in containing(wanted)[:FOUND]:
        at = pattern.search(chunk.content)
        start = max(0, at.start() - _BEFORE) if at else 0
        pieces = pattern.split(chunk.content[start : start + _AROUND])
        passages.append(FoundPassage(chunk, [(piece, bool(n % 2)) for n, piece in enumerate(pieces) if piece]))
    return FoundInDocument(containing(wanted).count(), passages)


def outline(document: Document) -> list[dict[str, Any]]:
    """Return the document's first sections in order as `{"heading", "level", "ordinal", "page"}`."""
    sections: list[dict[str, Any]] = []
    before: list[str] = []
    rows = document.chunks.exclude(heading_path=[]).values_list("heading_path", "ordinal", "page_from")
    for path, ordinal, page in rows.iterator(chunk_size=2000):
        sections.extend(
            {"heading": path[level], "level": level + 1, "ordinal": ordinal, "page": page}
            for level in range(_common(path, before), len(path))
        )
        before = path
        if len(sections) >= SECTIONS:
            break
    return sections[:SECTIONS]


@dataclass(frozen=True, slots=True)
class PassagePanel:
    """A passage in the chat's drawer: the chunks that it was joined from, and those around them."""

    chunk: Chunk  # the chunk to scroll to
    cited: list[Chunk]
    before: list[Chunk]
    after: list[Chunk]
    marks: Marks

    @property
    def document(self) -> Document:
        """The passage's document."""
        return self.chunk.document

    @property
    def viewer(self) -> "PageViewer | None":
        """The passage's page with the passage highlighted, or None if there are no pages."""
        return page_viewer(self.document, self.chunk.page_from, self.cited, self.marks)

    @property
    def document_url(self) -> str:
        """The URL of the document view at the passage."""
        return reverse("document", args=[self.document.pk]) + self.marks.query(chunk=self.marks.chunk_id)


def passage_panel(user: Actor, marks: Marks) -> PassagePanel:
    """Return a passage with its neighbours; raises `Http404` if the user may not read it."""
    best = access.get_chunk(user, marks.chunk_id)
    chunks = best.document.chunks.select_related("picture")
    cited = list(chunks.filter(pk__in=marks.chunk_ids)) if marks.joined else [best]
    first, last = cited[0].ordinal, cited[-1].ordinal
    near = Q(ordinal__gte=first - NEIGHBOURS, ordinal__lt=first) | Q(ordinal__gt=last, ordinal__lte=last + NEIGHBOURS)
    around = list(chunks.filter(near))
    return PassagePanel(
        marks.lead(cited) or best,
        cited,
        [chunk for chunk in around if chunk.ordinal < first],
        [chunk for chunk in around if chunk.ordinal > last],
        marks,
    )


def has_page_pictures(document: Document) -> bool:
    """Return whether the document's pages can be shown as pictures."""
    return document.media_type == "application/pdf" and bool(document.pages)


def page_url(document: Document, page: int | None, cited: Iterable[Chunk] = ()) -> str:
    """Return the URL of a page's picture with the cited chunks on it highlighted, or "" if there is none."""
    if page is None or not has_page_pictures(document) or not 1 <= page <= (document.pages or 0):
        return ""
    url = reverse("document-page", args=[document.pk, page])
    on_page = [chunk.pk for chunk in cited if (chunk.page_from or 0) <= page <= (chunk.page_to or chunk.page_from or 0)]
    return f"{url}?highlight={','.join(map(str, on_page))}" if on_page else url


def picture_url(chunk: Chunk) -> str | None:
    """Return the URL of a chunk's picture, or None if it has none."""
    return reverse("picture", args=[chunk.picture_id]) if chunk.picture_id else None


@dataclass(frozen=True, slots=True)
class PageViewer:
    """The pages of a PDF next to its text: the file in the browser's viewer, or a picture of one page."""

    document: Document
    number: int
    cited: Sequence[Chunk]
    marks: Marks

    @property
    def total(self) -> int:
        """The number of pages."""
        return self.document.pages or 1

    @property
    def url(self) -> str:
        """The URL of the page's picture, with cited passages on it highlighted."""
        return page_url(self.document, self.number, self.cited)

    @property
    def file_url(self) -> str:
        """The URL of the file."""
        return reverse("document-file", args=[self.document.pk])

    @property
    def layer_url(self) -> str:
        """The URL of the layer over page 0, in which a script replaces the page's number."""
        return reverse("document-page-layer", args=[self.document.pk, 0])

    @property
    def query(self) -> str:
        """The URL's query of the highlights."""
        return urlencode({"chunk": self.marks.chunk_id} | self.marks.beside, safe=",") if self.cited else ""

    @property
    def fallback_url(self) -> str:
        """The URL of the page's picture with links to other pages, for browsers that can't show the file."""
        query = "&".join(filter(None, [f"page={self.number}", self.query]))
        return f"{reverse('document', args=[self.document.pk])}?{query}"

    @property
    def marked(self) -> str:
        """The numbers of the pages with highlights."""
        spans = [(chunk.page_from, chunk.page_to or chunk.page_from) for chunk in self.cited if chunk.page_from]
        return ",".join(map(str, sorted({page for first, last in spans for page in range(first, (last or first) + 1)})))

    @property
    def scanned(self) -> str:
        """The numbers of the pages whose text was recognised in pictures."""
        if not self.document.scanned_pages:
            return ""
        return ",".join(map(str, self.document.recognised.order_by("number").values_list("number", flat=True)))

    @property
    def previous(self) -> int | None:
        """The previous page."""
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        """The next page."""
        return self.number + 1 if self.number < self.total else None


def page_viewer(document: Document, number: int | None, cited: Sequence[Chunk], marks: Marks) -> PageViewer | None:
    """Return a viewer at page `number` (from 1) with the cited passage highlighted, or None if there are no pages."""
    if not has_page_pictures(document):
        return None
    return PageViewer(document, min(max(number or 1, 1), document.pages or 1), cited, marks)
