"""What stands around the passages of an answer: the whole tables, what follows them, and how documents begin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q

from conversations.pipeline.writing.quoting.editions import Beginning
from conversations.pipeline.writing.quoting.introductions import introduces_what_follows
from knowledge.models import Chunk, Document
from retrieval.search import Hit

# The most passages that a table is followed to on either side of a hit.
LONGEST_TABLE = 60
# The most fields of a document that are looked through for dates.
_FIELDS = 12
_COLUMNS = (
    "pk",
    "document_id",
    "ordinal",
    "kind",
    "content",
    "heading_path",
    "page_from",
    "table_columns",
    "table_rows",
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Around some hits: the rows of whole tables and the passages that follow, by chunk id; beginnings, by document.

    A passage is there only if the one before it announces it. Tables longer than `LONGEST_TABLE` passages are left out.
    """

    tables: Mapping[int, list[list[str]]] = field(default_factory=dict)
    following: Mapping[int, Hit] = field(default_factory=dict)
    beginnings: Mapping[int, Beginning] = field(default_factory=dict)


def around(hits: Sequence[Hit]) -> Surroundings:
    """Look up what stands around hits. Makes two database queries."""
    if not hits:
        return Surroundings()
    documents = {hit.document_id for hit in hits}
    wanted = Q(ordinal=0)
    for hit in hits:
        if hit.kind == "table" and hit.rows:
            span = (hit.ordinal - LONGEST_TABLE, hit.ordinal + LONGEST_TABLE)
            wanted |= Q(document_id=hit.document_id, kind=Chunk.Kind.TABLE, ordinal__range=span)
        elif introduces_what_follows(hit.content):
            wanted |= Q(document_id=hit.document_id, ordinal=last_ordinal(hit) + 1)
    rows = Chunk.objects.filter(wanted, document_id__in=documents).order_by("document_id", "ordinal")
    chunks = {(row["document_id"], row["ordinal"]): row for row in rows.values(*_COLUMNS)}
    named = Document.objects.filter(pk__in=documents).only("title", "original_filename", "metadata")
    return Surroundings(
        {hit.chunk_id: table for hit in hits if hit.kind == "table" and hit.rows and (table := _whole(hit, chunks))},
        {
            hit.chunk_id: _as_hit(hit, found)
            for hit in hits
            if hit.kind == "text" and (found := chunks.get((hit.document_id, last_ordinal(hit) + 1)))
        },
        {
            document.pk: Beginning(
                document.title or document.original_filename,
                document.original_filename,
                chunks.get((document.pk, 0), {}).get("content", ""),
                tuple(str(value) for value in [*document.metadata.values()][:_FIELDS]),
            )
            for document in named
        },
    )


def last_ordinal(hit: Hit) -> int:
    """Return the position in its document of the last passage merged into a hit."""
    if hit.chunk_id not in hit.merged:
        return hit.ordinal
    return hit.ordinal + len(hit.merged) - 1 - hit.merged.index(hit.chunk_id)


def _whole(hit: Hit, chunks: Mapping[tuple[int, int], dict[str, Any]]) -> list[list[str]]:
    """Return the rows of the whole table that a hit is a part of; empty if it is too long."""

    def belongs(ordinal: int) -> bool:
        chunk = chunks.get((hit.document_id, ordinal))
        return bool(
            chunk and " › ".join(chunk["heading_path"]) == hit.heading and chunk["table_columns"] == hit.columns
        )

    first = last = hit.ordinal
    while belongs(first - 1):
        first -= 1
    while belongs(last + 1):
        last += 1
    if max(hit.ordinal - first, last - hit.ordinal) >= LONGEST_TABLE:
        return []
    parts = [
        chunks[hit.document_id, ordinal]["table_rows"] or [] for ordinal in range(first, last + 1) if belongs(ordinal)
    ]
    return [list(map(str, row)) for part in parts for row in part]


def _as_hit(before: Hit, chunk: dict[str, Any]) -> Hit:
    """Return the passage after a hit, with the hit's score."""
    return replace(
        before,
        chunk_id=chunk["pk"],
        content=chunk["content"],
        kind=chunk["kind"],
        heading=" › ".join(chunk["heading_path"]),
        page=chunk["page_from"],
        columns=chunk["table_columns"],
        rows=chunk["table_rows"],
        ordinal=chunk["ordinal"],
        picture=None,
        merged=(),
        reading=None,
    )
