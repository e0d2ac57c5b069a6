"""The table of a base's documents: its totals, filters and order, as given in the URL."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Lower, NullIf

from knowledge import queries
from knowledge.indexer import indexer
from knowledge.labels import LabelFilter
from knowledge.models import Document, KnowledgeBase
from knowledge.parsing.registry import FORMATS

Status = Document.Status
# The states shown to people, with the statuses that they include.
STATES: dict[str, tuple[str, ...]] = {
    "failed": (Status.FAILED,),
    "working": Document.UNFINISHED,
    "cancelled": (Status.CANCELLED,),
    "ready": (Status.READY,),
}
_ORDER = Case(
    *(When(status__in=statuses, then=Value(place)) for place, statuses in enumerate(STATES.values())),
    default=Value(len(STATES)),
    output_field=IntegerField(),
)
# The orders of a table. `FIRST` is the default.
ORDERS: dict[str, Any] = {
    "added": F("created_at"),
    "name": Lower(Coalesce(NullIf("title", Value("")), "original_filename")),
    "size": F("size"),
    "pages": F("pages"),
    "state": _ORDER,
}
FIRST = "-added"
# Formats by their slug in the URL, each with its name and the media types of its files.
KINDS: dict[str, tuple[str, list[str]]] = {
    slug: (name, [each.media_type for each in FORMATS if each.name == name])
    for name in dict.fromkeys(each.name for each in FORMATS)
    for slug in [name.lower().replace(" ", "-")]
}
# Formats whose pages are counted; others have sheets, slides or chapters.
_PAGED = {each.media_type for each in FORMATS if each.unit == "page"}
_MOST_LISTED = 100  # folders and tags to choose from
_TOTALS = """
SELECT GROUPING(status, media_type, folder), status, media_type, folder, count(*), sum(pages), sum(size)
FROM knowledge_document WHERE knowledge_base_id = %(base)s GROUP BY GROUPING SETS ((status), (media_type), (folder))
UNION ALL (
    SELECT 0, tag, NULL, NULL, count(*), 0, 0 FROM knowledge_document, unnest(tags) AS tag
    WHERE knowledge_base_id = %(base)s AND tags <> '{}' GROUP BY tag ORDER BY count(*) DESC LIMIT %(most)s
)
"""


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a base: documents, their pages, passages and bytes; and documents by state, kind, folder and tag."""

    documents: int
    pages: int
    passages: int
    size: int
    states: Mapping[str, int]
    kinds: Mapping[str, int]
    folders: Mapping[str, int]
    tags: Mapping[str, int]

    @classmethod
    def of(cls, knowledge_base: KnowledgeBase) -> "Totals":
        """Count a base's documents in one pass, and look up the stored number of passages."""
        states, kinds, folders = dict.fromkeys(STATES, 0), dict.fromkeys(KINDS, 0), dict[str, int]()
        tags: dict[str, int] = {}
        documents = pages = size = 0
        by_status = {status: state for state, statuses in STATES.items() for status in statuses}
        by_type = {media_type: kind for kind, (_name, types) in KINDS.items() for media_type in types}
        with connection.cursor() as cursor:
            cursor.execute(_TOTALS, {"base": knowledge_base.pk, "most": _MOST_LISTED})
            for grouping, status, media_type, folder, count, their_pages, their_size in cursor.fetchall():
                if grouping == 0b011:
                    states[by_status[status]] += count
                    documents, size = documents + count, size + int(their_size)
                elif grouping == 0b101:
                    if media_type in by_type:
                        kinds[by_type[media_type]] += count
                        pages += int(their_pages or 0) if media_type in _PAGED else 0
                elif grouping == 0b110:
                    folders[folder] = count
                else:
                    tags[status] = count
        kinds = {kind: count for kind, count in kinds.items() if count}
        return cls(documents, pages, indexer().passages(knowledge_base.pk), size, states, kinds, folders, tags)

    def within(self, folder: str) -> list[tuple[str, int]]:
        """Return the subfolders of a folder ("" for the top) by name, with the number of documents in each subtree."""
        found: dict[str, int] = {}
        start = f"{folder}/" if folder else ""
        for path, count in self.folders.items():
            if path.startswith(start) and len(path) > len(start):
                child = start + path[len(start) :].split("/", 1)[0]
                found[child] = found.get(child, 0) + count
        return sorted(found.items())[:_MOST_LISTED]


@dataclass(frozen=True, slots=True)
class View:
    """The filters and the order of a table, with names as in the URL; "" for none."""

    words: str = ""
    state: str = ""
    kind: str = ""
    tag: str = ""
    folder: str = ""
    sort: str = FIRST

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "View":
        """Return the view for a URL's parameters, ignoring unknown values."""
        state, kind, sort = given.get("state", ""), given.get("type", ""), given.get("sort", "")
        return cls(
            given.get("q", "").replace("\x00", "").strip(),
            state if state in STATES else "",
            kind if kind in KINDS else "",
            given.get("tag", "").replace("\x00", "").strip(),
            given.get("folder", "").replace("\x00", "").strip("/"),
            sort if sort.removeprefix("-") in ORDERS else FIRST,
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether some documents may be left out."""
        return bool(self.words or self.state or self.kind or self.tag or self.folder)

    @property
    def fields(self) -> dict[str, str]:
        """The URL's parameters."""
        named = {"q": self.words, "state": self.state, "type": self.kind, "tag": self.tag, "folder": self.folder}
        named["sort"] = "" if self.sort == FIRST else self.sort
        return {name: value for name, value in named.items() if value}

    def narrow(self, documents: QuerySet[Document]) -> QuerySet[Document]:
        """Return the documents that match, in any order."""
        found = queries.search_documents(documents, self.words) if self.words else documents
        if self.state:
            found = found.filter(status__in=STATES[self.state])
        if self.kind:
            found = found.filter(media_type__in=KINDS[self.kind][1])
        if self.tag:
            found = found.filter(LabelFilter((self.tag,)).condition)
        if self.folder:
            found = found.filter(Q(folder=self.folder) | Q(folder__startswith=f"{self.folder}/"))
        return found

    def order(self, documents: QuerySet[Document]) -> QuerySet[Document]:
        """Return the documents in order; those without a value come last, and equal ones newest first."""
        name = self.sort.removeprefix("-")
        if name == "added":
            return documents.order_by(*(["created_at", "pk"] if self.sort == "added" else ["-created_at", "-pk"]))
        by = ORDERS[name]
        by = by.desc(nulls_last=True) if self.sort.startswith("-") else by.asc(nulls_last=True)
        return documents.order_by(by, "-pk")
