"""Stores and deletes the results of parsing a document: its chunks, its pictures and their files."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from knowledge.chunking.chunking import ChunkDraft
from knowledge.indexer import indexer
from knowledge.models import Chunk, Document, Picture, ScannedPage
from knowledge.parsing.elements import RecognisedLine

_BATCH = 500


def spool(drafts: Iterable[ChunkDraft], file: IO[str], most: int) -> tuple[int, bool]:
    """Write at most `most` drafts as JSON lines, so that memory doesn't grow with the document's length.

    Return their number, and whether there were more.
    """
    count, is_cut = 0, False
    for draft in drafts:
        if count == most:
            is_cut = True
            break
        picture = draft.picture
        row = {
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
        json.dump(row, file, ensure_ascii=False)
        file.write("\n")
        count += 1
    file.seek(0)
    return count, is_cut


def clean(text: str) -> str:
    """Remove characters that PostgreSQL can't store: null characters and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode("utf-8")


@dataclass(slots=True)
class Store:
    """Stores the result of a parse. The names of picture files contain the attempt, so that parses don't collide."""

    document: Document
    folder: Path  # where the parse left its pictures
    written: list[str] = field(default_factory=list)  # the names of picture files

    def replace(self, rows: Iterator[str], recognised: Mapping[int, Sequence[RecognisedLine]]) -> None:
        """Replace the document's chunks by the spooled ones, and its scanned pages by their `recognised` lines.

        Call it inside a transaction that locks the document.
        """
        delete_passages(self.document)
        ScannedPage.objects.bulk_create(
            ScannedPage(document=self.document, number=number, lines=[[clean(text), *box] for text, *box in lines])
            for number, lines in recognised.items()
        )
        batch: list[Chunk] = []
        for ordinal, line in enumerate(rows):
            row = json.loads(line)
            picture = row.pop("picture")
            kept = self._picture(picture) if picture else None
            batch.append(Chunk(document=self.document, ordinal=ordinal, picture=kept, **row))
            if len(batch) >= _BATCH:
                Chunk.objects.bulk_create(batch)
                batch = []
        Chunk.objects.bulk_create(batch)

    def discard(self) -> None:
        """Delete the files written for a parse that could not be stored."""
        for name in self.written:
            default_storage.delete(name)

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
    """Return whether a file is a picture that a browser can show."""
    from PIL import Image, UnidentifiedImageError  # imported late: most processes never need it

    try:
        with Image.open(file) as image:
            width, height = image.size
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError):
        return False
    finally:
        file.seek(0)
    return width > 0 and height > 0


def delete_passages(document: Document) -> None:
    """Delete the document's chunks and pictures, inside a transaction that locks it, and their files after commit."""
    if document.chunks.exists():
        indexer().remove([document.pk])
        document.chunks.all().delete()
    document.recognised.all().delete()
    names = list(document.pictures.values_list("file", flat=True))
    if names:
        document.pictures.all().delete()
        for name in names:
            transaction.on_commit(partial(default_storage.delete, name))


def scans_folder(document_id: int) -> str:
    """Return the folder of the recognised pages of a document that is still being read, in the storage."""
    return f"scans/{document_id}"


def forget_scans(document_id: int) -> None:
    """Delete the recognised pages of a document that has been read."""
    _delete_folder(scans_folder(document_id))


def delete_files(document_id: int, file_name: str) -> None:
    """Delete a deleted document's file, pictures and pages; a passage of a corpus has none of them."""
    if not file_name:
        return
    default_storage.delete(file_name)
    for folder in (f"pictures/{document_id}", f"pages/{document_id}", scans_folder(document_id)):
        _delete_folder(folder)


def _delete_folder(folder: str) -> None:
    """Delete a folder, which has no subfolders, and its files; there may be none."""
    try:
        _, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in files:
        default_storage.delete(f"{folder}/{name}")
    default_storage.delete(folder)
