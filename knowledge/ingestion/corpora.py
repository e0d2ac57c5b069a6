"""Passages from a corpus instead of a file: each is a document of one chunk, identified by its id in the corpus."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from knowledge.access import Actor, key
from knowledge.ingestion.passages import clean
from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.language.detection import language_of
from ragsite.llm.passage_tokens import count_tokens

_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a corpus: its id, of up to 255 characters; its title, which may be empty; its text."""

    id: str
    title: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of id, title and text in hexadecimal, used like that of a file."""
        content = json.dumps([self.id, self.title, self.text], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def searchable_text(self) -> str:
        """The text that is indexed and embedded, as in `Chunk.searchable_text`."""
        return self._chunk().searchable_text

    def document(self, knowledge_base: KnowledgeBase, user: Actor) -> Document:
        """Return its document, ready and unsaved; its name is the title, or the id if there is none."""
        return Document(
            knowledge_base=knowledge_base,
            uploaded_by_id=key(user),
            external_id=self.id,
            original_filename=" ".join((self.title or self.id).split())[:_LONGEST_NAME],
            media_type="text/plain",
            sha256=self.digest,
            size=len(self.text.encode()),
            status=Document.Status.READY,
            progress=100,
            language=language_of(self.text),
            finished_at=timezone.now(),
        )

    def chunk(self, document: Document) -> Chunk:
        """Return its chunk, unsaved."""
        chunk = self._chunk()
        chunk.document = document
        chunk.token_count = count_tokens(self.text)
        return chunk

    def _chunk(self) -> Chunk:
        heading = [self.title] if self.title else []
        return Chunk(ordinal=0, content=self.text, heading_path=heading, char_end=len(self.text))


def passage(external_id: str, title: str, text: str) -> Passage:
    """Return a passage without characters that the database can't store."""
    return Passage(clean(external_id), clean(title).strip(), clean(text).strip())


def documents(knowledge_base_id: int, ids: Iterable[str]) -> QuerySet[Document]:
    """Return the documents of passages by their ids in the corpus."""
    found = Document.objects.filter(knowledge_base_id=knowledge_base_id, external_id__in=list(ids))
    # The index is partial, and is only used for queries with the same condition.
    return found.exclude(external_id="")


def missing(knowledge_base: KnowledgeBase, passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that the base does not contain, or contains with another title or text."""
    there = documents(knowledge_base.pk, (each.id for each in passages))
    here = dict(there.values_list("external_id", "sha256"))
    return [each for each in passages if here.get(each.id) != each.digest]


def add(knowledge_base: KnowledgeBase, user: Actor, passages: Sequence[Passage]) -> list[Chunk]:
    """Store missing passages, replacing those with the same ids, and return their chunks in order.

    Call it inside the transaction that makes them searchable, so that every stored document can be found. Raises
    `IntegrityError` if another process adds the same ones at the same time.
    """
    with transaction.atomic():
        documents(knowledge_base.pk, (each.id for each in passages)).delete()
        made = Document.objects.bulk_create([each.document(knowledge_base, user) for each in passages])
        pairs = zip(passages, made, strict=True)
        return Chunk.objects.bulk_create([each.chunk(document) for each, document in pairs])
