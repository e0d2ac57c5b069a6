"""A folder of documents, ingested once into a database that later runs reuse."""

import sys
import tempfile
from hashlib import blake2b
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files import File
from django.test.utils import override_settings
from tqdm import tqdm

from knowledge import services
from knowledge.ingestion import worker
from knowledge.models import Chunk, Document, KnowledgeBase
from knowledge.parsing.registry import extensions
from retrieval.engine import spaces
from tests.benchmarks.retrieval import scratch
from tests.benchmarks.retrieval.passages import NoTexts

_OWNER = "bench"
_PATIENCE = 24 * 3600.0  # seconds


def filled(folder: Path) -> KnowledgeBase:
    """Return a base with all files of a folder, in this scratch database; ingests them unless they are there already.

    Raises `NoTexts` for a folder without readable files.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower().lstrip(".") in extensions())
    if not files:
        raise NoTexts(f"No file that can be read was found in {folder}.")
    digest = blake2b(digest_size=16)
    for file in files:
        digest.update(f"{file.relative_to(folder)}\n".encode() + file.read_bytes())
    stamp = f"{digest.hexdigest()} {spaces.active_space()}"
    if scratch.stamp() != stamp:
        scratch.empty()
        _ingest(folder, files)
        scratch.set_stamp(stamp)
    return KnowledgeBase.objects.get(owner__username=_OWNER)


def path_of(document: Document) -> str:
    """Return a document's path within the folder."""
    return "/".join(part for part in (document.folder, document.original_filename) if part)


def size(base: KnowledgeBase) -> str:
    """Return a base's size in words."""
    documents = Document.objects.filter(knowledge_base=base, status=Document.Status.READY)
    return f"{documents.count():,} documents, {Chunk.objects.filter(document__in=documents).count():,} passages"


def _ingest(folder: Path, files: list[Path]) -> None:
    owner = User.objects.create(username=_OWNER)
    base = KnowledgeBase.objects.create(owner=owner, name=_OWNER)
    with tempfile.TemporaryDirectory(prefix="ragsite-bench-") as media, override_settings(MEDIA_ROOT=media):
        for path in tqdm(files, desc="Uploading", unit="file", file=sys.stderr):
            within = path.relative_to(folder).parent.as_posix()
            with path.open("rb") as file:
                services.add_document(base, owner, path.name, File(file, name=path.name), folder=within)
        worker.work(_PATIENCE)
