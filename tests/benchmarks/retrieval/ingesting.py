"""`bench ingest`: complete ingestion compared with the bare embedder on the same texts, by stage, and its memory."""

import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from django.contrib.auth import get_user_model
from django.core.files import File
from django.utils.translation import gettext as _

from knowledge import services
from knowledge.ingestion import worker
from knowledge.models import Chunk, Document, KnowledgeBase
from knowledge.parsing.registry import ParseContext, extensions, format_of
from retrieval.engine import index, indexing, spaces
from tests.benchmarks.retrieval import scratch
from tests.benchmarks.retrieval.measuring import table
from tests.benchmarks.retrieval.passages import NoTexts

SMALLEST = 2_000  # bytes: with smaller files, round trips would dominate
_SAMPLE_SECONDS = 0.25
_PATIENCE = 24 * 3600.0  # seconds
# The number of texts passed to the bare embedder at once.
_BATCH = 512
_SHOWN = 10  # number of memory samples shown

Say = Callable[[str], None]


@dataclass
class Memory:
    """The resident memory of this process and its children over time, in megabytes."""

    samples: list[float] = field(default_factory=list)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Context manager: take samples while the block runs."""
        done = threading.Event()
        thread = threading.Thread(target=self._sample, args=(done,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _sample(self, done: threading.Event) -> None:
        process = psutil.Process()
        while not done.wait(_SAMPLE_SECONDS):
            self.samples.append(process.memory_info().rss / 1e6)

    def shown(self) -> str:
        """Return some evenly spaced samples, including the last one."""
        step = max(1, (len(self.samples) - 1) // (_SHOWN - 1))
        return " · ".join(f"{sample:.0f}" for sample in self.samples[::-1][::step][::-1])


def run(texts: Sequence[Path], files: int, say: Say, pdf: Path | None = None) -> None:
    """Ingest a number of the folders' files and print the figures. Raises `NoTexts`."""
    chosen = _files(texts, files)
    memory = Memory()
    with scratch.database("ragsite_bench_ingest", keep=False), _own_media():
        scratch.empty()
        base = _queued(chosen)
        spaces.embedder_of(spaces.active_space()).embed_documents(["warm up"])
        with memory.watched():
            whole = _seconds(lambda: worker.work(_PATIENCE))
        stages = _stages(base)
    failed = len(chosen) - stages.documents
    say(f"\n## Ingesting {len(chosen):,} files, {stages.chunks:,} chunks, {os.cpu_count()} cores; {failed} failed")
    say(_speeds(stages, whole))
    say(f"\nMemory of the worker in MB, from start to end: {memory.shown()}")
    if pdf is not None:
        say(_parsed(pdf))


@dataclass(frozen=True)
class Stages:
    """Seconds that each stage takes by itself, over all chunks."""

    documents: int
    chunks: int
    parse: float
    words: float
    embed: float


def _stages(base: KnowledgeBase) -> Stages:
    """Run each stage again by itself, for the ingested files."""
    documents = list(Document.objects.filter(knowledge_base=base, status=Document.Status.READY))
    chunks = Chunk.objects.filter(document__in=documents)
    parse = _seconds(lambda: [_parse(Path(document.file.path), document.original_filename) for document in documents])
    texts = [chunk.searchable_text for chunk in chunks.iterator()]
    embed = _seconds(lambda: _embed(texts))
    index.delete([document.pk for document in documents])
    words = _seconds(lambda: _index_words(documents))
    return Stages(len(documents), len(texts), parse, words, embed)


def _index_words(documents: Sequence[Document]) -> None:
    for document in documents:
        indexing.index_words(document.pk)


def _embed(texts: Sequence[str]) -> None:
    """Compute all vectors with the model, without any other work."""
    embedder = spaces.embedder_of(spaces.active_space())
    for start in range(0, len(texts), _BATCH):
        embedder.embed_documents(texts[start : start + _BATCH])


def _speeds(stages: Stages, whole: float) -> str:
    def line(name: str, seconds: float) -> list[str]:
        return [name, f"{stages.chunks / seconds:.0f}", f"{seconds:.1f}", f"{seconds / whole:.0%}"]

    bare = stages.embed / whole
    rows = [
        line("whole ingestion", whole),
        line("the bare embedder, alone", stages.embed),
        line("parsing, alone", stages.parse),
        line("indexing by words, alone", stages.words),
    ]
    heading = table(["", "chunks/s", "seconds", "share of the whole"], rows)
    return f"{heading}\n\nIngestion runs at {bare:.0%} of the speed of the bare embedder."


def _parse(path: Path, name: str) -> int:
    """Parse a file in this process and return its number of elements."""
    with tempfile.TemporaryDirectory(prefix="ragsite-bench-") as folder:
        return sum(1 for _element in format_of(name).load()(path, ParseContext(Path(folder), name)))


def _parsed(pdf: Path) -> str:
    seconds = _seconds(lambda: _parse(pdf, pdf.name))
    return f"\nParsing {pdf.name}: {seconds:.1f} s"


def _files(folders: Sequence[Path], count: int) -> list[Path]:
    found = [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower().lstrip(".") in extensions() and path.is_file() and path.stat().st_size >= SMALLEST
    ]
    if not found:
        raise NoTexts(_("No file that can be read was found in %(paths)s.") % {"paths": ", ".join(map(str, folders))})
    random.Random(4).shuffle(found)
    return found[:count]


def _queued(paths: Sequence[Path]) -> KnowledgeBase:
    owner = get_user_model().objects.create(username="bench")
    base = KnowledgeBase.objects.create(owner=owner, name="bench")
    for path in paths:
        with path.open("rb") as file:
            services.add_document(base, owner, path.name, File(file, name=path.name))
    return base


@contextmanager
def _own_media() -> Iterator[None]:
    """Store uploads in a temporary folder."""
    from django.test.utils import override_settings

    with tempfile.TemporaryDirectory(prefix="ragsite-bench-") as folder, override_settings(MEDIA_ROOT=folder):
        yield


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
