"""Functions that create objects for tests, with useful defaults for every argument."""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from knowledge.models import Chunk, Document, KnowledgeBase, Membership
from retrieval.engine import indexing, spaces, vectors

_numbers = count(1)


def make_user(username: str = "", **fields: Any) -> User:
    """Create a user with the password `password`."""
    return User.objects.create_user(username or f"user{next(_numbers)}", password="password", **fields)


def make_knowledge_base(owner: User, name: str = "", **fields: Any) -> KnowledgeBase:
    return KnowledgeBase.objects.create(owner=owner, name=name or f"Base {next(_numbers)}", **fields)


def share(knowledge_base: KnowledgeBase, user: User, role: str = Membership.Role.VIEWER) -> Membership:
    return Membership.objects.create(knowledge_base=knowledge_base, user=user, role=role)


def make_document(
    knowledge_base: KnowledgeBase, filename: str = "notes.txt", content: bytes = b"", **fields: Any
) -> Document:
    """Create a document that is ready, with its file stored."""
    content = content or f"document {next(_numbers)}".encode()
    document = Document(
        knowledge_base=knowledge_base,
        uploaded_by=knowledge_base.owner,
        original_filename=filename,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        **({"media_type": "text/plain", "status": Document.Status.READY, "progress": 100} | fields),
    )
    document.file.save(filename, ContentFile(content), save=True)
    return document


def make_chunk(document: Document, content: str = "A passage.", **fields: Any) -> Chunk:
    """Create the document's next chunk, without indexing it."""
    ordinal = document.chunks.count()
    return Chunk.objects.create(**({"document": document, "ordinal": ordinal, "content": content} | fields))


def make_chunks(document: Document, contents: Iterable[str], **fields: Any) -> list[Chunk]:
    """Create the document's next chunks in bulk, without indexing them."""
    numbered = enumerate(contents, document.chunks.count())
    return Chunk.objects.bulk_create(
        Chunk(document=document, ordinal=ordinal, content=content, **fields) for ordinal, content in numbered
    )


def index_document(document_id: int) -> None:
    """Index a document's words and vectors, as the worker does."""
    indexing.index_words(document_id)
    while True:
        space = spaces.active_space()
        with suppress(vectors.SpaceChanged):
            for window, computed in indexing.embedded(space, vectors.missing(space, document_id)):
                vectors.insert_into_active(space, window, computed)
            return
