"""Keeping and forgetting what a document was parsed into: its chunks, its pictures and their files."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.core.files import File
from django.core.files.storage import Storage, default_storage
from django.db import transaction

from knowledge.chunking.chunking import ChunkDraft
from knowledge.indexer import indexer
from knowledge.models import Chunk, Document, Picture

_BATCH = 500


def spool(drafts: Iterable[ChunkDraft], file: IO[str]) -> int:
    """Write drafts as JSON lines, so that memory stays flat however long the document is; return their number."""
    count = 0
    for draft in drafts:
        json.dump(_to_row(draft), file, ensure_ascii=False)
        file.write("\n")
        count += 1
    file.seek(0)
    return count


def _to_row(draft: ChunkDraft) -> dict[str, Any]:
    picture = draft.picture
    return {
        "kind": draft.kind,
        "content": clean(draft.content),
        "lead": clean(draft.lead),
        "heading_path": [clean(heading) for heading in draft.heading_path],
        "page_from": draft.page_from,
        "page_to": draft.page_to,
        "char_start": draft.char_start,
        "char_end": draft.char_end,
        "table_columns": None if draft.columns is None else [clean(cell) for cell in draft.columns],
        "table_rows": None if draft.rows is None else [[clean(cell) for cell in row] for row in draft.rows],
        "token_count": draft.token_count,
        "picture": {"path": picture.path, "alt": clean(picture.alt), "page": picture.page} if picture else None,
    }


def clean(text: str) -> str:
    """Drop what PostgreSQL can't store: null characters and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode("utf-8")


@dataclass(slots=True)
class Store:
    """Stores one parse of a document. Picture files are named by the attempt, apart from those of other parses."""

    document: Document
    folder: Path  # where the parse left its pictures
    written: list[str]

    def replace(self, rows: Iterator[str]) -> None:
        """Put the spooled chunks in the place of older ones; call it inside a transaction that holds the document."""
        delete_passages(self.document)
        batch: list[Chunk] = []
        for ordinal, line in enumerate(rows):
            batch.append(self._chunk(ordinal, json.loads(line)))
            if len(batch) >= _BATCH:
                Chunk.objects.bulk_create(batch)
                batch = []
        Chunk.objects.bulk_create(batch)

    def discard(self) -> None:
        """Remove the picture files of a parse that could not be stored."""
        for name in self.written:
            default_storage.delete(name)

    def _chunk(self, ordinal: int, row: dict[str, Any]) -> Chunk:
        picture = row.pop("picture")
        return Chunk(
            document=self.document, ordinal=ordinal, picture=self._picture(picture) if picture else None, **row
        )

    def _picture(self, row: dict[str, Any]) -> Picture | None:
        path = (self.folder / row["path"]).resolve()
        if not path.is_relative_to(self.folder.resolve()) or not path.is_file():
            return None
        picture = Picture(document=self.document, page=row["page"], alt=row["alt"])
        name = f"{self.document.attempt}-{len(self.written) + 1}{path.suffix.lower()}"
        with path.open("rb") as file:
            if not _is_picture(file):
                return None
            picture.file.save(name, File(file, name=name), save=True)
        self.written.append(str(picture.file.name))
        return picture


def _is_picture(file: IO[bytes]) -> bool:
    """Whether a file's size in pixels can be read, and is one that a browser should be asked to show."""
    from PIL import Image, UnidentifiedImageError  # most starts of a process never need it

    try:
        with Image.open(file) as image:
            width, height = image.size
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError):
        return False
    finally:
        file.seek(0)
    return width > 0 and height > 0


def delete_passages(document: Document) -> None:
    """Delete the document's chunks and pictures inside a transaction that holds it, files after its end."""
    if document.chunks.exists():
        indexer().remove([document.pk])
        document.chunks.all().delete()
    names = list(document.pictures.values_list("file", flat=True))
    if names:
        document.pictures.all().delete()
        transaction.on_commit(lambda: _delete_files(names))


def delete_files(document_id: int, file_name: str) -> None:
    """Remove a deleted document's bytes, pictures and rendered pages; a passage of a corpus has none of them."""
    if not file_name:
        return
    default_storage.delete(file_name)
    for folder in (f"pictures/{document_id}", f"pages/{document_id}"):
        _delete_folder(default_storage, folder)


def _delete_files(names: list[str]) -> None:
    for name in names:
        default_storage.delete(name)


def _delete_folder(storage: Storage, folder: str) -> None:
    """Remove a flat folder and the files in it, whatever left them there."""
    try:
        _, files = storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in files:
        storage.delete(f"{folder}/{name}")
    storage.delete(folder)
