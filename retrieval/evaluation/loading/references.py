"""References to right passages that still resolve after their documents were parsed again."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from django.db.models import BigIntegerField

from knowledge.ingestion import corpora
from knowledge.models import Chunk, Document
from ragsite.language.analysis import terms

# Two passages are the same if they share at least this part of the shorter one's pairs of adjacent terms.
SAME = 0.5
SNIPPET = 300  # characters


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a right passage or document, with its `grade` from 1.

    It has one of: `passage`, an id in a corpus; `document`, the name of a file all of whose passages are right;
    `document` and `text`, the text of one of its passages, with the original `chunk_id` and `document_id`; or `name`, a
    corpus id, file name or chunk id as users write it, which `resolve_names` replaces with one of the others.
    """

    grade: int = 1
    passage: str = ""
    document: str = ""
    text: str = ""
    document_id: int | None = None
    chunk_id: int | None = None
    name: str = ""

    @classmethod
    def to(cls, chunk: Chunk, grade: int = 1) -> "Reference":
        """Return a reference to a chunk, whose document is loaded."""
        document = chunk.document
        if document.external_id:
            return cls(grade, passage=document.external_id)
        text = chunk.content or chunk.searchable_text
        return cls(grade, document=document.original_filename, text=text, document_id=document.pk, chunk_id=chunk.pk)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Reference":
        """Return the reference from the result of `to_dict`."""
        return cls(**stored)

    def to_dict(self) -> dict[str, Any]:
        """Return the non-empty fields, for JSON."""
        return {field: value for field, value in asdict(self).items() if value not in ("", None)}

    @property
    def shown(self) -> str:
        """The name shown to users."""
        return self.name or self.passage or self.document or str(self.chunk_id)


@dataclass(frozen=True, slots=True)
class Target:
    """A reference resolved in the knowledge base: found if any of its chunks, or any chunk of its documents, is."""

    reference: Reference
    filename: str
    snippet: str
    chunk_ids: frozenset[int] = frozenset()
    document_ids: frozenset[int] = frozenset()


def resolve_names(knowledge_base_id: int, references: Iterable[Reference]) -> dict[Reference, Reference | None]:
    """Return each reference as it will be stored, or None if the base doesn't contain it.

    A name is looked up as a corpus id, then as a file name, then, if it is a number, as a chunk id.
    """
    wanted = list(dict.fromkeys(references))
    names = {each.name for each in wanted if each.name}
    ids = names | {each.passage for each in wanted if each.passage}
    passages = set(corpora.documents(knowledge_base_id, ids).values_list("external_id", flat=True))
    of_base = Document.objects.filter(knowledge_base_id=knowledge_base_id)
    named = of_base.filter(original_filename__in=names | {each.document for each in wanted if each.document})
    files = set(named.values_list("original_filename", flat=True))
    numbers = {number for each in wanted if (number := _chunk_number(each)) is not None}
    chunks = _chunks(knowledge_base_id, numbers)

    def settled(each: Reference) -> Reference | None:
        if each.passage or each.name in passages:
            known = each.passage or each.name
            return replace(each, name="", passage=known) if known in passages else None
        if each.document or each.name in files:
            known = each.document or each.name
            return replace(each, name="", document=known) if known in files else None
        chunk = chunks.get(_chunk_number(each) or 0)
        return Reference.to(chunk, each.grade) if chunk is not None else None

    return {each: settled(each) for each in wanted}


def resolve(knowledge_base_id: int, references: Iterable[Reference]) -> dict[Reference, Target | None]:
    """Return the current target of each stored reference, or None if the base no longer contains it."""
    wanted = list(dict.fromkeys(references))
    finder = _Finder(knowledge_base_id, wanted)
    return {each: finder.find(each) for each in wanted}


class _Finder:
    """Looks up references, in a few queries for all of them."""

    def __init__(self, knowledge_base_id: int, references: Sequence[Reference]) -> None:
        documents = Document.objects.filter(knowledge_base_id=knowledge_base_id)
        chunk_ids = {each.chunk_id for each in references if each.chunk_id}
        document_ids = {each.document_id for each in references if each.document_id}
        names = {each.document for each in references if each.document}
        self._passages = {
            document.external_id: document
            for document in corpora.documents(knowledge_base_id, {each.passage for each in references if each.passage})
        }
        self._chunks = _chunks(knowledge_base_id, chunk_ids)
        self._by_id = documents.in_bulk(document_ids)
        self._by_name: dict[str, list[Document]] = {}
        for document in documents.filter(original_filename__in=names):
            self._by_name.setdefault(document.original_filename, []).append(document)
        self._contents: dict[int, list[Chunk]] = {}

    def find(self, reference: Reference) -> Target | None:
        if reference.passage:
            document = self._passages.get(reference.passage)
            return _whole(reference, [document] if document is not None else [])
        if not reference.text:
            return _whole(reference, self._documents(reference))
        # The original chunk if its text is unchanged; otherwise the chunks of its document with that text.
        chunk = self._chunks.get(reference.chunk_id or 0)
        if chunk is not None and (chunk.content or chunk.searchable_text) == reference.text:
            return _target(reference, [chunk])
        everywhere: list[Chunk] = []
        for document in self._documents(reference):
            if document.pk not in self._contents:
                self._contents[document.pk] = list(document.chunks.select_related("document"))
            everywhere += self._contents[document.pk]
        same = [other for other in everywhere if other.content == reference.text]
        return _target(reference, same or similar_chunks(reference.text, everywhere))

    def _documents(self, reference: Reference) -> list[Document]:
        """Return the original document, or those of the same name if it was uploaded again."""
        document = self._by_id.get(reference.document_id or 0)
        return [document] if document else self._by_name.get(reference.document, [])


def similar_chunks(text: str, chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return the chunks that overlap with a passage: much of the shorter text, in the same order, is in the other."""
    wanted = _pairs(text)
    found = []
    for chunk in chunks:
        pairs = _pairs(chunk.content)
        if wanted and pairs and len(wanted & pairs) >= SAME * min(len(wanted), len(pairs)):
            found.append(chunk)
    return found


def _pairs(text: str) -> set[tuple[str, str]]:
    found = terms(text)
    return set(pairwise(found)) or {(term, "") for term in found}


def _target(reference: Reference, chunks: Sequence[Chunk]) -> Target | None:
    if not chunks:
        return None
    filename = chunks[0].document.original_filename
    return Target(reference, filename, reference.text[:SNIPPET], chunk_ids=frozenset(chunk.pk for chunk in chunks))


def _whole(reference: Reference, documents: Sequence[Document]) -> Target | None:
    if not documents:
        return None
    return Target(reference, documents[0].original_filename, "", document_ids=frozenset(each.pk for each in documents))


def _chunks(knowledge_base_id: int, chunk_ids: Iterable[int]) -> dict[int, Chunk]:
    chunks = Chunk.objects.filter(document__knowledge_base_id=knowledge_base_id).select_related("document")
    return chunks.in_bulk(list(chunk_ids))


def _chunk_number(reference: Reference) -> int | None:
    """Return the chunk id in a reference from a file, or its name if that may be one."""
    number = reference.chunk_id
    if reference.name:
        number = int(reference.name) if reference.name.isdecimal() and len(reference.name) < 20 else None
    return number if number is not None and 0 < number <= BigIntegerField.MAX_BIGINT else None
